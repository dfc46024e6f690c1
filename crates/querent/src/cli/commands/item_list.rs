//! `querent item list`: all items.

use crate::cli::context::{Context, Items};
use crate::cli::error::Failure;
use crate::cli::pages::stage_cell;
use crate::cli::table::{Cell, Table};

/// List all items, sorted by id
///
/// Also those that have ended. `querent status` says what each waits for, `querent ready` what can be worked on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item list
  querent item list --json")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let items = context.reader()?.item_views()?;
    context.reply(&Items { items: &items }, |page| {
        if items.is_empty() {
            page.line("There are no items yet.");
            return page.next("add one with `querent item add 42 --title …`");
        }
        let mut table = Table::new(["ID", "STAGE", "WORKFLOW", "TITLE"]);
        for item in &items {
            table.row([
                item.id.as_str().into(),
                stage_cell(&item.stage),
                (&item.workflow).into(),
                Cell::free(&item.title),
            ]);
        }
        table.write(page);
    })
}
