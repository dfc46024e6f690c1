//! `querent escalate`: a human is to decide.

use querent_core::reply::StatusReply;
use querent_core::{Action, Cause, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};
use crate::cli::pages;

/// Hand a question over to a human
///
/// The addressee becomes `human`. If the asker waits for the answer, the item waits too (`awaiting_input`) and later goes on
/// where it stood.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent escalate CLR-42-001 --by engineer \\
      --summary \"Security wants 5 minutes, product wants 24 hours\"
  querent escalate CLR-42-001 --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    #[command(flatten)]
    by: By,
    /// What the human should know
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let question: QuestionId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let action = Action::Escalate { question: question.clone(), summary: args.summary, cause: Cause::Requested };
    let wish = command(question.item, by, action);
    context.execute(&hub, &wish, &args.operation, |page, reply: StatusReply| pages::settled(page, &reply))
}
