//! `querent alerts ack`: a person has seen an alert.

use querent_core::reply::AlertReply;
use querent_core::{AlertId, SharedAction};

use crate::cli::context::{Context, shared_command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};

/// Say that an alert was seen
///
/// It leaves the list; the same is not raised again for 30 minutes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent alerts ack ALR-001
  querent alerts ack ALR-001 --by human:alice")]
pub(crate) struct Args {
    /// The alert's id
    id: String,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = args.by.party()?;
    let alert: AlertId = args.id.parse()?;
    let hub = context.hub(&by)?;
    let command = shared_command(by, SharedAction::Acknowledge { alert });
    let envelope = hub.execute_shared(&command, args.operation.id()?);
    context.answer(&envelope, |page, _: AlertReply| page.line(format!("{alert} is acknowledged.")))
}
