//! `querent watch`: the inbox in the terminal.

use std::io::IsTerminal;

use jiff::tz::TimeZone;
use querent_core::{Party, Refusal};
use querent_hub::Handle;

use super::serve::{broken, stopped};
use crate::cli::context::{Context, DONE};
use crate::cli::error::{Failure, usage};
use crate::cli::input::environment;
use crate::cli::output::Paper;
use crate::tui::{self, App, Look};

/// Show what waits for you, live, and answer it here
///
/// The most urgent question comes first, with who asks, what it holds up, and what happens if nobody answers. New ones appear
/// by themselves and ring the bell; one that is answered elsewhere shows who answered it. Press a number to choose and Enter to
/// send it; `?` shows the other keys, `q` quits.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  timeout 1 querent watch || true
  timeout 1 querent watch --by human:alice --quiet || true")]
pub(crate) struct Args {
    /// Who answers: `human`, or `human:NAME`
    #[arg(long, value_name = "WHO", default_value = "human")]
    by: String,
    /// No bell and no notice when a question comes
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let by: Party = args.by.parse()?;
    if !by.is_human() {
        let message = format!("`{by}` is an agent, and this inbox is for people");
        return Err(Refusal::invalid("by", message, "name a person: --by human:alice").into());
    }
    let is_dumb = environment("TERM").is_some_and(|term| term == "dumb");
    if context.json || is_dumb || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let message = "`querent watch` needs a terminal that it can draw on";
        return Err(usage(message, "list what waits instead: querent questions --to human").into());
    }
    let hub = Handle::stay(&context.project()?, &by.to_string())?;
    // What cannot be read is said before the screen is taken.
    hub.inbox(0)?;
    let app = App::new(hub.now(), args.quiet);
    let look = Look { colour: Paper::stdout().colour, zone: TimeZone::system() };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().map_err(|error| broken(&error))?;
    runtime.block_on(tui::run(hub, by, app, look, stopped()))?;
    Ok(DONE)
}
