//! `querent item show`: one item.

use querent_core::ItemId;
use querent_core::reply::ItemReply;
use querent_core::view::ItemView;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::pages;

/// Show an item: where it stands, what it waits for and why
///
/// While it waits for a human it also says since when, for which question, and in which step it goes on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent item show 42
  querent item show 42 --json")]
pub(crate) struct Args {
    /// The item's id
    id: String,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let id: ItemId = args.id.parse()?;
    let hub = context.reader()?;
    let reply = ItemReply { item: ItemView::of(&hub.item(&id)?) };
    context.reply(&reply, |page| {
        pages::item(page, &reply.item, hub.now());
        if let Some(question) = &reply.item.open_question_id {
            page.next(format!("look at the question with `querent show {question}`"));
        }
    })
}
