//! `querent token list`: who is let in.

use querent_core::view::TokenView;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::cli::output::Paint;
use crate::cli::table::{Cell, Table};

/// List the tokens, without their secrets
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent token list
  querent token list --all --json")]
pub(crate) struct Args {
    /// Also those that were taken back
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Reply {
    tokens: Vec<TokenView>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let hub = context.reader()?;
    let (access, now) = (hub.access()?, hub.now());
    let shown: Vec<_> = access.tokens.values().filter(|token| args.all || token.revoked_at.is_none()).collect();
    context.reply(&Reply { tokens: shown.iter().map(|token| TokenView::of(token)).collect() }, |page| {
        if shown.is_empty() {
            page.line("There is no token: a server on this machine lets everybody on it in.");
            return page.next("make one with `querent token create --role human --name NAME`");
        }
        let mut table = Table::new(["ID", "ROLE", "NAME", "GOOD UNTIL"]);
        for token in &shown {
            let until = match (token.revoked_at, token.expires_at) {
                (Some(_), _) => Cell::painted("revoked", Paint::Dim),
                (None, None) => "it is revoked".to_owned().into(),
                (None, Some(end)) if end <= now => Cell::painted(format!("expired {end}"), Paint::Warn),
                (None, Some(end)) => end.to_string().into(),
            };
            table.row([
                Cell::painted(token.id.to_string(), Paint::Bold),
                token.role.to_string().into(),
                Cell::free(token.name.as_deref().unwrap_or("-")),
                until,
            ]);
        }
        table.write(page);
    })
}
