//! `querent item end`: an item is over.

use querent_core::reply::ItemReply;
use querent_core::{Action, Outcome, Party};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{Operation, one_of};

/// End an item as merged or failed
///
/// Its open questions are withdrawn and kept. An ended item stays as it is.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item end 42 --as merged
  querent item end 42 --as failed --json")]
pub(crate) struct Args {
    /// The item's id
    id: String,
    /// How it ends
    #[arg(long = "as", value_name = "OUTCOME", value_parser = one_of(Outcome::ALL, Outcome::as_str))]
    outcome: Outcome,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let wish = command(args.id.parse()?, Party::HUMAN, Action::EndItem { outcome: args.outcome });
    let hub = context.hub(&wish.by)?;
    context.execute(&hub, &wish, &args.operation, |page, ItemReply { item }| {
        page.line(format!("Item {} has ended: it is {}.", item.id, item.stage));
        page.next(format!("read what was asked on it with `querent questions --item {} --status all`", item.id));
    })
}
