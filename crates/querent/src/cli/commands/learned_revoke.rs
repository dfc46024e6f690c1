//! `querent learned revoke`: a person takes a learned answer back.

use querent_core::{LearnedId, SharedAction};

use crate::cli::context::{Context, shared_command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};

/// Take a learned answer back, so that its question is asked again
///
/// What was decided by it stays on record among the assumptions; overturn those that are wrong.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent learned revoke LRN-001
  querent learned revoke LRN-002 --by human:alice --note \"only for the old shop\"")]
pub(crate) struct Args {
    /// The learned answer's id
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let learned: LearnedId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let action = SharedAction::Revoke { learned, note: args.note };
    let envelope = hub.execute_shared(&shared_command(by, action), args.operation.id()?);
    context.answer(&envelope, |page, _: serde_json::Value| {
        page.line(format!("{learned} is revoked: its question is asked again."));
        page.next("see what was decided by it with `querent assumptions`");
    })
}
