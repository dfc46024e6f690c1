//! `querent answer`: the first answer wins.

use querent_core::reply::AnswerReply;
use querent_core::{Action, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{self, By, Operation};
use crate::cli::pages;

/// Answer a question
///
/// The addressee answers, or a human in its place; nobody else. An option is given by its id, its label or its text,
/// several of them with commas; a yes or no as true, false, yes or no. The first answer wins on all surfaces: a second one is
/// refused (`question_already_answered`), and one that does not fit is refused with what would (`question_invalid_answer`).
///
/// An agent's answer leaves the question `answered` until the asker settles it; a human's answer resolves it, and an item
/// that waited for it goes on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent answer CLR-42-001 --answer jwt
  querent answer CLR-42-001 --by architect --answer \"15 minutes, then refresh\"
  querent answer CLR-42-002 --by human:alice --answer @decision.md
  echo '{\"retries\": 3}' | querent answer CLR-42-003 --answer - --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    /// The answer; `@FILE` reads it from a file, `-` from standard input
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    answer: String,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let question: QuestionId = args.id.parse()?;
    let answer = input::text("--answer", &args.answer)?.into();
    let hub = context.hub(&by)?;
    let wish = command(question.item.clone(), by, Action::Answer { question, answer, note: None });
    context.execute(&hub, &wish, &args.operation, |page, reply: AnswerReply| pages::answered(page, &reply))
}
