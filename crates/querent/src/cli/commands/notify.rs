//! `querent notify`: the channels through which people are notified.

use super::notify_test;
use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Check the channels through which people are notified
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent notify test")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Test(notify_test::Args),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    match &args.command {
        Command::Test(args) => notify_test::run(args, context),
    }
}
