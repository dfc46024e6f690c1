//! `querent hook finish`: a session ends, and with it perhaps a step.

use querent_core::Action;
use querent_core::reply::HookReply;

use super::hook::Worker;
use crate::cli::context::{Context, command, item_of};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, caller};

/// Report that an agent has finished its work on an item
///
/// The session is `done`. If the item stands in this agent's step and no blocking question is open, it goes to the next
/// step, or to `ready_to_merge` after the last one. Its files are free. The monitor looks at the project afterwards.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent hook finish --agent engineer --item 42
  querent hook finish --agent engineer --item 42 --keep --json")]
pub(crate) struct Args {
    #[command(flatten)]
    worker: Worker,
    /// Leave the item where it is
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--agent", args.worker.agent.as_deref())?;
    let session = args.worker.session.as_deref().map(str::parse).transpose()?;
    let hub = context.hub(&by)?;
    let item = item_of(args.worker.item.as_deref(), &hub)?;
    let wish = command(item, by, Action::FinishSession { session, keep: args.keep });
    context.execute(&hub, &wish, &args.operation, |page, HookReply { session, item }| {
        if let Some(session) = session {
            page.line(format!("{} is {}.", session.session, session.status));
        }
        page.line(format!("Item {} is in {}.", item.id, item.stage));
    })
}
