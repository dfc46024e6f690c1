//! `querent ready`: what can be worked on.

use super::alerts;
use crate::cli::context::{Context, Items};
use crate::cli::error::Failure;
use crate::cli::output::Paint;
use crate::cli::pages::stage_cell;
use crate::cli::table::{Cell, Table};

/// Show the ready queue: what can be worked on, by whom, and what is blocked
///
/// Items that have ended or only wait to be merged are not in it. One that waits for an answer says so: `BLOCKED:
/// clarification pending`, with the question and whose turn it is.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent ready
  querent ready --json")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    let items = hub.ready()?;
    context.reply(&Items { items: &items }, |page| {
        if items.is_empty() {
            page.line("Nothing is ready: every item has ended or waits to be merged.");
            page.next("add one with `querent item add 42 --title …`");
            return alerts::mention(page, &hub);
        }
        let mut table = Table::new(["ID", "STAGE", "AGENT", "READY", "TITLE"]);
        for item in &items {
            let ready = match &item.reason {
                Some(reason) => Cell::painted(reason, Paint::Bad),
                None => Cell::painted("yes", Paint::Good),
            };
            let agent = item.agent.as_ref().map_or("", |agent| agent.as_str());
            table.row([item.id.as_str().into(), stage_cell(&item.stage), agent.into(), ready, Cell::free(&item.title)]);
        }
        table.write(page);
        alerts::mention(page, &hub);
    })
}
