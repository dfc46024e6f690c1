//! `querent deliveries retry`: dead letters are tried again.

use querent_core::reply::StatusReply;
use querent_core::{Action, ChannelName, Errand, QuestionId};

use crate::cli::context::{Context, command};
use crate::cli::error::Failure;
use crate::cli::input::{By, Operation};

/// Have the failed notifications of a question tried again
///
/// A running `querent serve` sends them at once; without one, they wait for it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent deliveries retry CLR-42-001
  querent deliveries retry CLR-42-001 --channel webhook")]
pub(crate) struct Args {
    /// The question's id
    id: String,
    /// Only through this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let (question, by) = (args.id.parse::<QuestionId>()?, args.by.party()?);
    let channel = args.channel.as_ref().map(|channel| channel.parse::<ChannelName>()).transpose()?;
    let hub = context.hub(&by)?;
    let action = Action::Errand { question: question.clone(), errand: Errand::Requeue { channel } };
    let command = command(question.item.clone(), by, action);
    context.execute(&hub, &command, &args.operation, |page, _: StatusReply| {
        page.line(format!("The failed notifications of {question} are to be sent again."));
        page.next("a running `querent serve` sends them; look with `querent deliveries`");
    })
}
