//! `querent beat`: a component shows that it is alive.

use querent_core::ComponentName;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Show that a component, or a session, is alive
///
/// Whoever beats is expected to beat on: after five minutes without, the monitor says that it is down. A name that a
/// running session has is that session; any other is a component. Nothing is recorded of a beat.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent beat engineer@42
  querent beat build-runner
  querent beat build-runner --stop")]
pub(crate) struct Args {
    /// The component: a session, a runner, a bridge
    component: String,
    /// It ends: no more beats are expected
    #[arg(long)]
    stop: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let name: ComponentName = args.component.parse()?;
    let hub = context.reader()?;
    if args.stop {
        hub.still(&name)?;
        return context.reply(&json!({ "at": null, "component": name, "session": null }), |page| {
            page.line(format!("No more beats are expected of {name}."));
        });
    }
    let is_session = hub.beat(&name)?;
    context.reply(&json!({ "at": hub.now(), "component": name, "session": is_session.then_some(&name) }), |page| {
        page.line(format!("{} {name} is alive.", if is_session { "Session" } else { "Component" }));
    })
}
