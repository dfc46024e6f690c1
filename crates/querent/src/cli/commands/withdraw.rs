//! `querent withdraw`: a question is taken back.

use querent_core::reply::StatusReply;
use querent_core::{Action, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};
use crate::cli::pages;

/// Take an open question back
///
/// It is kept with its thread; an item that waited for it goes on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent withdraw CLR-42-001 --by engineer --reason \"found it in docs/auth.md\"
  querent withdraw CLR-42-001 --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    #[command(flatten)]
    by: By,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let question: QuestionId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let wish = command(question.item.clone(), by, Action::Withdraw { question, reason: args.reason });
    context.execute(&hub, &wish, &args.operation, |page, reply: StatusReply| pages::settled(page, &reply))
}
