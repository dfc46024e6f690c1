//! `querent disconnect`: what `querent connect` wrote is taken back.

use std::path::PathBuf;

use super::connect::{Reply, scope};
use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::one_of;
use crate::clients::{self, Client};

/// Take back what `querent connect` wrote
///
/// Removes Querent's server, hooks and permission from the program's settings, and nothing else. A file that had nothing else
/// from the beginning is removed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent disconnect claude
  querent disconnect codex --user")]
pub(crate) struct Args {
    /// The program
    #[arg(value_name = "CLIENT", value_parser = one_of(Client::ALL, Client::as_str))]
    client: Client,
    /// Your own settings instead of this project's
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    // The user's own settings need no project.
    let root = if args.user { PathBuf::new() } else { context.project()?.root().to_owned() };
    let scope = scope(args.user, &root)?;
    let changes = args.client.disconnect(&scope)?;
    clients::write(&changes)?;
    let reply = Reply::new(args.client, &changes, &scope);
    context.reply(&reply, |page| {
        let title = args.client.title();
        if reply.is_unchanged() {
            page.line(format!("{title} was not connected here; nothing was changed."));
        } else {
            page.line(format!("{title} is not connected any more."));
        }
        reply.show(page);
    })
}
