//! `querent completions`: what a shell completes.

use clap_complete::{Shell, generate};
use serde_json::json;

use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::cli::output;

/// Print a completion script for a shell
///
/// It completes commands, options and the words that options take. Put it where the shell looks for such scripts.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent completions bash > ~/.local/share/bash-completion/completions/querent
  querent completions zsh > ~/.zfunc/_querent
  querent completions fish > ~/.config/fish/completions/querent.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &Context, root: &mut clap::Command) -> Result<u8, Failure> {
    let mut script = Vec::new();
    generate(args.shell, root, "querent", &mut script);
    if context.json {
        let script = String::from_utf8_lossy(&script);
        return context.reply(&json!({ "script": script, "shell": args.shell.to_string() }), |_| {});
    }
    output::print(&script).map(|()| DONE)
}
