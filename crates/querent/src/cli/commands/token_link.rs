//! `querent token link`: a way into the pages that can be used once.

use querent_core::{Party, TokenId};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::Failure;

/// Give out a login link for a browser; it works once, within 15 minutes
///
/// A newer link replaces an older one. The link begins with --at, else with `public_url` of `[serve]` in the config, else with
/// the address of the server that was started last.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent token link TOK-001
  querent token link TOK-001 --at https://querent.example")]
pub(crate) struct Args {
    /// The token's id
    id: String,
    /// Where the server is reached
    #[arg(long, value_name = "URL")]
    at: Option<String>,
}

#[derive(Serialize)]
struct Reply {
    url: String,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let id: TokenId = args.id.parse()?;
    let hub = context.hub(&Party::HUMAN)?;
    let public = hub.rules()?.config.serve.public_url.clone();
    let at = args.at.clone().or(public).unwrap_or(context.project()?.served_at());
    let code = hub.offer_login(Party::HUMAN, id)?;
    let url = format!("{}/login?code={code}", at.trim_end_matches('/'));
    context.reply(&Reply { url: url.clone() }, |page| {
        page.line(url);
        page.line("It works once, within 15 minutes.");
    })
}
