//! `querent lock`: files for one session at a time.

use querent_core::reply::LockReply;
use querent_core::{ProjectPath, SessionId, Span, Via};
use querent_hub::Wanted;

use crate::cli::context::{Context, patience, wait};
use crate::cli::error::Failure;
use crate::cli::input::Operation;

/// Lock files for a session, all of them or none
///
/// A directory covers what is below it, and so does a glob (`*` and `?` within a name, `**` over any number of names).
/// The session may lock again what it holds, which renews it. What another session holds is refused (`file_locked`, with
/// the holder), or waited for with `--wait`; a lock that expired is taken. On files that have an owner (`querent own`)
/// the owner, and whoever ranks before it, comes first: others are refused (`not_owner`) or give way. Locks end with
/// their session. Paths may be given from the working directory; links are followed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent lock src/auth.rs --session engineer@42
  querent lock src/auth 'tests/**/*.rs' --session engineer@42 --wait 5m
  querent lock migrations --session engineer@42 --ttl 2h --json")]
pub(crate) struct Args {
    /// Files, directories or globs inside the project
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The session that wants them, like engineer@42
    #[arg(long, value_name = "ID")]
    session: String,
    /// How long to wait for whoever holds them; without it, not at all
    #[arg(long, value_name = "DURATION")]
    wait: Option<Span>,
    /// For how long, from 1s, if nobody renews or releases them
    #[arg(long, value_name = "DURATION", default_value = "30m")]
    ttl: Span,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let session: SessionId = args.session.parse()?;
    let paths = context.paths(&args.paths)?;
    let hub = context.reader()?;
    let wanted = Wanted { session: session.clone(), paths, ttl: args.ttl, via: Via::Cli };
    let operation = args.operation.id()?;
    let envelope = match args.wait {
        Some(span) => wait(hub.lock_within(&wanted, patience(span), operation))?,
        None => hub.lock(&wanted, operation)?,
    };
    context.answer(&envelope, |page, reply: LockReply| {
        let files = |paths: &[ProjectPath]| paths.iter().map(ProjectPath::as_str).collect::<Vec<_>>().join(", ");
        if reply.granted.is_empty() {
            page.line(format!("{session} waits for {}.", files(&reply.waiting)));
        } else {
            page.line(format!("{session} holds {} for {}.", files(&reply.granted), args.ttl));
            page.next(format!("give it back with `querent unlock --session {session}`"));
        }
    })
}
