//! `querent token`: who may come in over the network.

use super::{token_create, token_link, token_list, token_revoke};
use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Say who may come in over the network
///
/// A server on this machine lets everybody on it in while there is no token. From the moment there is one, it demands one
/// from everybody. A secret is shown once; only its hash is kept.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent token create --role human --name alice
  querent token create --role agent:engineer --expires 30d
  querent token link TOK-001
  querent token revoke TOK-002")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Create(token_create::Args),
    List(token_list::Args),
    Link(token_link::Args),
    Revoke(token_revoke::Args),
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    match args.command {
        Command::Create(args) => token_create::run(args, context),
        Command::List(args) => token_list::run(&args, context),
        Command::Link(args) => token_link::run(&args, context),
        Command::Revoke(args) => token_revoke::run(&args, context),
    }
}
