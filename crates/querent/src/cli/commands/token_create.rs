//! `querent token create`: somebody is let in.

use querent_core::view::TokenView;
use querent_core::{Moment, Party, Role, Span, TokenId};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::input::Operation;

/// Make a token, and show its secret this once
///
/// A human answers and does whatever a person may; an observer only reads; an agent speaks in its own name alone, and never
/// answers what is asked of people.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent token create --role human --name alice
  querent token create --role observer --expires 7d
  querent token create --role agent:engineer --json")]
pub(crate) struct Args {
    /// What its bearer may do: human, observer or agent:NAME
    #[arg(long)]
    role: String,
    /// Whose it is; a human with a name answers as human:NAME
    #[arg(long)]
    name: Option<String>,
    /// How long it is good, like 30d; for ever without it
    #[arg(long, value_name = "DURATION")]
    expires: Option<Span>,
    #[command(flatten)]
    operation: Operation,
}

#[derive(Serialize)]
struct Reply<'a> {
    id: TokenId,
    token: &'a str,
    role: &'a Role,
    name: Option<&'a str>,
    expires_at: Option<Moment>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<u8, Failure> {
    let role: Role = args.role.parse()?;
    let hub = context.hub(&Party::HUMAN)?;
    let (made, secret) = hub.create_token(Party::HUMAN, role, args.name, args.expires, args.operation.id()?)?;
    let TokenView { id, name, role, expires_at, .. } = &made;
    let reply = Reply { id: *id, token: &secret, role, name: name.as_deref(), expires_at: *expires_at };
    context.reply(&reply, |page| {
        let until = expires_at.map(|end| format!(", good until {end}")).unwrap_or_default();
        page.line(format!("{id} ({role}{until}):"));
        page.line(format!("  {secret}"));
        page.line("It is not shown again. A running server demands a token from now on.");
        match role {
            Role::Agent(_) => page.next("send it as `Authorization: Bearer …`"),
            Role::Human | Role::Observer => page.next(format!("log in by browser with `querent token link {id}`")),
        }
    })
}
