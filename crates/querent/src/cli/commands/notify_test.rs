//! `querent notify test`: does it reach anybody?

use querent_core::ChannelName;
use querent_hub::Tested;
use serde::Serialize;

use crate::cli::context::{Context, DONE, wait};
use crate::cli::error::Failure;
use crate::cli::output::Paint;

/// Send a test message through the channels, and say what came back
///
/// It goes out from here and now, so the environment variables that the config names must be set here. Nothing is recorded.
/// The exit status is 1 if a channel did not take it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent notify test
  querent notify test --json")]
pub(crate) struct Args {
    /// Only through this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

/// The exit status if a channel did not take it.
const FAILED: u8 = 1;

#[derive(Serialize)]
struct Reply<'a> {
    channels: &'a [Tested],
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let channel = args.channel.as_ref().map(|channel| channel.parse::<ChannelName>()).transpose()?;
    let hub = context.reader()?;
    let tested = wait(hub.test_channels(channel.as_ref()))?;
    context.reply(&Reply { channels: &tested }, |page| {
        if tested.is_empty() {
            page.line("The config names no channel.");
            page.next("add one: [[notify]] in .querent/config.toml; see docs/guides/notifications.md");
        }
        for Tested { channel, kind, error, .. } in &tested {
            page.paint(Paint::Bold, channel.as_str());
            page.text(&format!(" ({kind}): "));
            match error {
                None => page.paint(Paint::Good, "took it\n"),
                Some(error) => page.paint(Paint::Bad, &format!("{error}\n")),
            }
        }
    })?;
    Ok(if tested.iter().all(|it| it.delivered) { DONE } else { FAILED })
}
