//! `querent resolve`: a question is settled.

use querent_core::reply::StatusReply;
use querent_core::{Action, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};
use crate::cli::pages;

/// Settle an answered question
///
/// The asker says that it has what it needs; a human may do so as well. A human's note on an escalated question that
/// nobody has answered is its answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent resolve CLR-42-001 --by engineer
  querent resolve CLR-42-001 --by engineer --json \\
      --note \"15 minutes, refresh tokens in Redis\"")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    #[command(flatten)]
    by: By,
    /// What came of it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let question: QuestionId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let wish = command(question.item.clone(), by, Action::Resolve { question, note: args.note });
    context.execute(&hub, &wish, &args.operation, |page, reply: StatusReply| pages::settled(page, &reply))
}
