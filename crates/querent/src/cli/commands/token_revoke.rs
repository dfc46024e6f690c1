//! `querent token revoke`: somebody is let in no more.

use querent_core::reply::TokenReply;
use querent_core::{Party, SharedAction, TokenId};

use crate::cli::context::{Context, shared_command};
use crate::cli::error::Failure;
use crate::cli::input::Operation;

/// Take a token back; its bearer, and every browser that logged in with it, is out at once
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent token revoke TOK-001")]
pub(crate) struct Args {
    /// The token's id
    id: String,
    #[command(flatten)]
    operation: Operation,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let token: TokenId = args.id.parse()?;
    let hub = context.hub(&Party::HUMAN)?;
    let command = shared_command(Party::HUMAN, SharedAction::RevokeToken { token });
    let envelope = hub.execute_shared(&command, args.operation.id()?);
    context.answer(&envelope, |page, _: TokenReply| {
        page.line(format!("{token} is revoked."));
        if hub.access().is_ok_and(|access| !access.is_guarded()) {
            page.line("No token is left: a server on this machine lets everybody on it in.");
        }
    })
}
