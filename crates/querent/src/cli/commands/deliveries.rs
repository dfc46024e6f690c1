//! `querent deliveries`: what people were notified of, and what they could not be.

use querent_core::{DeliveryStatus, ItemId};
use querent_hub::Deliveries;
use serde::Serialize;

use super::deliveries_retry;
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;
use crate::cli::output::Paint;
use crate::cli::table::{Cell, Table};
use crate::text::age;

/// List notifications: what was sent, what waits, and what failed
///
/// A running `querent serve` notifies people through the channels that `[[notify]]` in the config names. A notification is
/// `queued`, `delivered`, `seen` (its link was opened), `answered` (the answer came back through it) or `failed`: then every
/// attempt failed, and it is a dead letter until somebody has it tried again. Without `--all`, questions that are settled are
/// left out.
#[derive(clap::Args)]
#[command(
    after_help = "\
Examples:
  querent deliveries
  querent deliveries --status failed --all --json
  querent deliveries retry CLR-42-001",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Args {
    /// Only those of this item
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// Only those that are this far
    #[arg(long, value_parser = one_of(DeliveryStatus::ALL, DeliveryStatus::as_str))]
    status: Option<DeliveryStatus>,
    /// Also those of settled questions
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    Retry(deliveries_retry::Args),
}

#[derive(Serialize)]
struct Reply<'a> {
    deliveries: &'a [Deliveries],
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    if let Some(Command::Retry(retry)) = &args.command {
        return deliveries_retry::run(retry, context);
    }
    let item = args.item.as_ref().map(|item| item.parse::<ItemId>()).transpose()?;
    let hub = context.reader()?;
    let mut deliveries = hub.deliveries(item.as_ref(), args.all)?;
    deliveries.retain(|it| args.status.is_none_or(|status| it.status == status));
    context.reply(&Reply { deliveries: &deliveries }, |page| {
        if deliveries.is_empty() {
            return page.line("There are no notifications here.");
        }
        let now = hub.now();
        let mut table = Table::new(["QUESTION", "CHANNEL", "STATE", "STATUS", "ATTEMPTS", "SINCE", "ERROR"]);
        for it in &deliveries {
            table.row([
                Cell::painted(it.question_id.to_string(), Paint::Bold),
                it.channel.as_str().into(),
                it.state.as_str().into(),
                Cell::painted(it.status.as_str(), paint(it.status)),
                it.attempts.to_string().into(),
                age(now, it.at).into(),
                Cell::free(it.error.as_deref().unwrap_or("-")),
            ]);
        }
        table.write(page);
        if deliveries.iter().any(|it| it.status == DeliveryStatus::Failed) {
            page.next("have a failed one tried again with `querent deliveries retry QUESTION`");
        }
    })
}

fn paint(status: DeliveryStatus) -> Paint {
    match status {
        DeliveryStatus::Failed => Paint::Bad,
        DeliveryStatus::Queued => Paint::Warn,
        DeliveryStatus::Delivered | DeliveryStatus::Seen | DeliveryStatus::Answered => Paint::Good,
    }
}
