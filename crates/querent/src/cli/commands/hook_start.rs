//! `querent hook start`: a session begins.

use querent_core::Action;
use querent_core::reply::HookReply;

use super::hook::Worker;
use crate::cli::context::{Context, command, item_of};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, caller};

/// Report that an agent begins to work on an item
///
/// The session is `working` from now on; the item is not moved. Refused (`item_not_runnable`) while the item waits for a
/// human, is blocked or has ended; the refusal names the open question. The monitor looks at the project afterwards.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent hook start --agent engineer --item 42
  querent hook start --agent engineer --item 42 --pid $$
  QUERENT_AGENT=engineer QUERENT_ITEM=42 querent hook start --session s-1")]
pub(crate) struct Args {
    #[command(flatten)]
    worker: Worker,
    /// The process that the agent runs in: when it is gone, the session is given up
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--agent", args.worker.agent.as_deref())?;
    let session = args.worker.session.as_deref().map(str::parse).transpose()?;
    let hub = context.hub(&by)?;
    let item = item_of(args.worker.item.as_deref(), &hub)?;
    let process = args.pid.map(querent_hub::process).transpose()?;
    let wish = command(item, by, Action::StartSession { session, process });
    context.execute(&hub, &wish, &args.operation, |page, HookReply { session, item }| {
        if let Some(session) = session {
            page.line(format!("{} is {} on item {} ({}).", session.session, session.status, item.id, item.stage));
        }
        page.next("when something is unclear, ask with `querent ask`; at the end, `querent hook finish`");
    })
}
