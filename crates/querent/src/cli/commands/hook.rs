//! `querent hook`: an agent says that it begins or ends its work.

use clap::Subcommand;

use super::{hook_claude, hook_finish, hook_start};
use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Report that an agent's session begins or ends, or speak to Claude Code
///
/// For the start and stop hooks of agent CLIs, and for scripts that run agents. The monitor looks at the whole
/// project meanwhile (see `querent monitor`).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent hook start --agent engineer --item 42
  querent hook finish --agent engineer --item 42")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Start(hook_start::Args),
    Finish(hook_finish::Args),
    Claude(hook_claude::Args),
}

/// Who works on what.
#[derive(clap::Args)]
pub(super) struct Worker {
    /// The agent; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// The item; without it, that of `QUERENT_ITEM`, else the only item that has not ended
    #[arg(long, value_name = "ID")]
    pub(super) item: Option<String>,
    /// The session; without it, `<agent>@<item>`
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    match args.command {
        Command::Start(args) => hook_start::run(&args, context),
        Command::Finish(args) => hook_finish::run(&args, context),
        Command::Claude(args) => Ok(hook_claude::run(&args, context)),
    }
}
