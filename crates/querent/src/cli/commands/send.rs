//! `querent send`: a word to the agents of an item.

use querent_core::Action;
use querent_core::reply::ItemReply;

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{self, Operation, caller};

/// Tell the agents of an item something
///
/// The message is in the context of whoever works on the item next; an agent that listens to people (`on = ["user.message"]` in
/// the config) is invoked for it by `querent run`. It never answers a question: that is `querent answer`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent send 42 \"The deadline moved to Friday; leave the export out\"
  querent send 42 --to engineer \"Use the test account\"")]
pub(crate) struct Args {
    /// The item's id
    item: String,
    /// What is said; `@FILE` or `-` read it
    message: String,
    /// The agent that it is for; without it, whoever works next
    #[arg(long, value_name = "AGENT")]
    to: Option<String>,
    /// Who says it: an agent, `human` or `human:NAME`
    #[arg(long, value_name = "NAME", default_value = "human")]
    by: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by = caller("--by", Some(&args.by))?;
    let to = args.to.as_deref().map(str::parse).transpose()?;
    let text = input::text("message", &args.message)?;
    let wish = command(args.item.parse()?, by, Action::Send { text, to });
    let hub = context.hub(&wish.by)?;
    context.execute(&hub, &wish, &args.operation, |page, ItemReply { item }| {
        page.line(format!("Said on item {}; whoever works on it next reads it.", item.id));
        if let Some(question) = item.open_question_id {
            page.next(format!("{question} still waits for its answer: querent answer {question} --answer …"));
        }
    })
}
