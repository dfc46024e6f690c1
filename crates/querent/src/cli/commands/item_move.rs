//! `querent item move`: a person puts an item elsewhere.

use querent_core::reply::ItemReply;
use querent_core::{Action, Party};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::Operation;

/// Move an item to a step of its workflow, or to `blocked` or `ready_to_merge`
///
/// For people: agents move an item on by finishing their work (`querent hook finish`). An item that waits for a human's
/// answer is moved by that answer, and an ended one not at all (`item_not_runnable`).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item move 42 --to implement
  querent item move 42 --to ready_to_merge --json")]
pub(crate) struct Args {
    /// The item's id
    id: String,
    /// The stage it goes to
    #[arg(long, value_name = "STAGE")]
    to: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let wish = command(args.id.parse()?, Party::HUMAN, Action::Advance { to: args.to });
    let hub = context.hub(&wish.by)?;
    context.execute(&hub, &wish, &args.operation, |page, ItemReply { item }| {
        page.line(format!("Item {} is in {} now.", item.id, item.stage));
    })
}
