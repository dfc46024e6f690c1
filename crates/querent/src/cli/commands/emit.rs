//! `querent emit`: something happened that agents listen to.

use querent_core::reply::ItemReply;
use querent_core::{Action, EventName};
use serde_json::Value;

use crate::cli::context::{Context, command, item_of};
use crate::cli::error::Failure;
use crate::cli::input::{self, Operation, caller};

/// Tell that something happened, for the agents that listen to it
///
/// An agent listens to what `on` names in the config: `[agents.builder] on = ["spec.approved"]`; `alert.*` stands for all that
/// begin so. `querent run` invokes it. A step of a workflow with `waits_for` begins when its event has happened. The end of a
/// step is an event by itself: `build.completed`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent emit spec.approved --item 42
  querent emit build.resume --item 42 --data '{\"task\": \"T-7\"}'")]
pub(crate) struct Args {
    /// What happened
    event: String,
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// What is known about it: a JSON object, `@FILE` with one, or `-` for standard input
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// Who says so: an agent, `human` or `human:NAME`
    #[arg(long, value_name = "NAME", default_value = "human")]
    by: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--by", Some(&args.by))?;
    let event: EventName = args.event.parse()?;
    let data = args.data.as_deref().map(|given| input::object("--data", "data", given)).transpose()?;
    let hub = context.hub(&by)?;
    let item = item_of(args.item.as_deref(), &hub)?;
    let heard = hub.rules()?.listeners(&event);
    let wish = command(item, by, Action::Emit { event: event.clone(), data: data.map_or(Value::Null, Value::Object) });
    context.execute(&hub, &wish, &args.operation, |page, ItemReply { item }| {
        let names: Vec<String> = heard.iter().map(ToString::to_string).collect();
        let who =
            if names.is_empty() { "nobody listens to it".to_owned() } else { format!("for {}", names.join(", ")) };
        page.line(format!("{event} happened on item {}; {who}.", item.id));
        if !names.is_empty() {
            page.next("`querent run` invokes them");
        }
    })
}
