//! `querent unlock`: files are given back.

use querent_core::reply::UnlockReply;
use querent_core::{ProjectPath, SessionId, Via};

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::Operation;

/// Give files back that a session has locked
///
/// Paths are named as they were locked; without one, the session gives back all that it holds. What another session holds
/// is refused (`not_owner`). Whoever waits for the files goes on at once.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent unlock --session engineer@42
  querent unlock src/auth.rs --session engineer@42 --json")]
pub(crate) struct Args {
    /// Files, directories or globs as they were locked
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The session that holds them, like engineer@42
    #[arg(long, value_name = "ID")]
    session: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let session: SessionId = args.session.parse()?;
    let paths = context.paths(&args.paths)?;
    let envelope = context.reader()?.unlock(&session, paths, Via::Cli, args.operation.id()?)?;
    context.answer(&envelope, |page, UnlockReply { released }| {
        if released.is_empty() {
            return page.line(format!("{session} held nothing."));
        }
        let files: Vec<&str> = released.iter().map(ProjectPath::as_str).collect();
        page.line(format!("{session} gave back {}.", files.join(", ")));
    })
}
