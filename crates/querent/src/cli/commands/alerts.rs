//! `querent alerts`: what people should look at.

use querent_core::Alert;
use querent_hub::Handle;
use serde::Serialize;

use super::{alerts_ack, monitor};
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::{Page, Paint};
use crate::cli::table::{Cell, Table};
use crate::text::age;

/// List the alerts that nobody has seen yet, and acknowledge them
///
/// The monitor raises an alert for a deadlock, a session that does not get on, and a session or component that shows no
/// sign of life. The same is not said again within 30 minutes. The last 256 alerts are kept.
#[derive(clap::Args)]
#[command(
    after_help = "\
Examples:
  querent alerts
  querent alerts --all --json
  querent alerts ack ALR-001 --by human:alice",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Args {
    /// Also those that somebody has seen
    #[arg(long)]
    all: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    Ack(alerts_ack::Args),
}

#[derive(Serialize)]
struct Reply<'a> {
    alerts: &'a [Alert],
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    if let Some(Command::Ack(ack)) = args.command {
        return alerts_ack::run(&ack, context);
    }
    let hub = context.reader()?;
    let mut alerts = hub.alerts()?;
    alerts.retain(|alert| args.all || !alert.acknowledged);
    context.reply(&Reply { alerts: &alerts }, |page| {
        if alerts.is_empty() {
            return page.line("No alert waits to be seen.");
        }
        let now = hub.now();
        let mut table = Table::new(["ID", "TYPE", "SEVERITY", "AGE", "SEEN BY", "MESSAGE"]);
        for alert in &alerts {
            table.row([
                Cell::painted(alert.id.to_string(), Paint::Bold),
                alert.alarm.kind.as_str().into(),
                Cell::painted(alert.alarm.severity.as_str(), monitor::paint(alert.alarm.severity)),
                age(now, alert.created_at).into(),
                alert.acknowledged_by.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string).into(),
                Cell::free(&alert.alarm.message),
            ]);
        }
        table.write(page);
        if alerts.iter().any(|alert| !alert.acknowledged) {
            page.next("say that you have seen one with `querent alerts ack ID`");
        }
    })
}

/// Says on the page of another command that alerts wait to be seen.
pub(super) fn mention(page: &mut Page, hub: &Handle) {
    let waiting = hub.alerts().map_or(0, |alerts| alerts.iter().filter(|alert| !alert.acknowledged).count());
    match waiting {
        0 => {}
        1 => page.next("an alert waits to be seen: `querent alerts`"),
        many => page.next(format!("{many} alerts wait to be seen: `querent alerts`")),
    }
}
