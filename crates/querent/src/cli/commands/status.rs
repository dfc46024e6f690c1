//! `querent status`: the items, and what they wait for.

use crate::cli::context::{Context, Items};
use crate::cli::error::Failure;
use crate::cli::pages::stage_cell;
use crate::cli::table::{Cell, Table};
use crate::text::age;

/// Show the items: where each stands, which question holds it and since when
///
/// The question is the oldest blocking one to a human; `+1` says that one more waits behind it. An item that waits goes on
/// in the step that it stood in before.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent status
  querent status --json")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    let items = hub.item_views()?;
    context.reply(&Items { items: &items }, |page| {
        if items.is_empty() {
            page.line("There are no items yet.");
            return page.next("add one with `querent item add 42 --title …`");
        }
        let mut table = Table::new(["ID", "STAGE", "QUESTION", "WAITS", "GOES ON IN", "TITLE"]);
        for item in &items {
            let more = item.open_question_count.saturating_sub(1);
            let question = item.open_question_id.as_ref().map_or(String::new(), ToString::to_string);
            let question = if more > 0 { format!("{question} +{more}") } else { question };
            table.row([
                item.id.as_str().into(),
                stage_cell(&item.stage),
                question.into(),
                Cell::from(item.awaiting_since.map_or(String::new(), |since| age(hub.now(), since))),
                item.resume_stage.as_ref().map_or("", |stage| stage.as_str()).into(),
                Cell::free(&item.title),
            ]);
        }
        table.write(page);
    })
}
