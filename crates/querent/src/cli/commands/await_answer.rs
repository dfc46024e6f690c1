//! `querent await`: until there is an answer.

use querent_core::{QuestionId, Span};
use querent_hub::Awaited;
use serde_json::json;

use crate::cli::context::{Context, patience, wait};
use crate::cli::error::Failure;
use crate::cli::pages;

/// Wait until a question is answered or settled
///
/// Returns at once if it is already. Costs nothing while it waits: the answer of any other process wakes it. Deadlines of
/// the question, such as its fallback, come true while it waits. A wait that runs out is no failure: the reply says
/// `timed_out`, and the question stays open.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent await CLR-42-001
  querent await CLR-42-001 --timeout 10m --json")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    /// How long to wait, like 30s, 15m or 2h; without it, for ever
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Span>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let id: QuestionId = args.id.parse()?;
    let hub = context.reader()?;
    let timeout = args.timeout.map(patience);
    match wait(hub.await_answer(&id, timeout))? {
        Awaited::Settled(reply) => context.reply(&reply, |page| pages::answered(page, &reply)),
        Awaited::TimedOut { question_id, status } => {
            let reply = json!({ "question_id": question_id, "status": status, "timed_out": true });
            context.reply(&reply, |page| {
                page.line(format!("{question_id} is still {status}."));
                page.next(format!("wait on with `querent await {question_id}`"));
            })
        }
    }
}
