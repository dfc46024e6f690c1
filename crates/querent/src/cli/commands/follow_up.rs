//! `querent follow-up`: the next round.

use querent_core::reply::AskReply;
use querent_core::{Action, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, caller};
use crate::cli::pages;

/// Ask on: open the next round of an answered question
///
/// Only the asker or a human asks on. A follow-up after the last round does not open another: it escalates the question
/// to a human and is refused with `max_rounds_exceeded`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent follow-up CLR-42-001 --from engineer \\
      --question \"And after a password reset?\"
  querent follow-up CLR-42-001 --from engineer --question \"For guests?\" --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    /// Who asks; without it, the agent of `QUERENT_AGENT`
    #[arg(long, value_name = "WHO")]
    from: Option<String>,
    /// What is asked now, in 1 to 2000 characters
    #[arg(long, value_name = "TEXT")]
    question: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--from", args.from.as_deref())?;
    let question: QuestionId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let wish = command(question.item.clone(), by, Action::FollowUp { question, prompt: args.question });
    context.execute(&hub, &wish, &args.operation, |page, reply: AskReply| pages::asked(page, &reply))
}
