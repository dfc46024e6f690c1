//! `querent serve`: a server that stays.

use std::io::Write;
use std::net::SocketAddr;

use querent_core::{Code, Party, Refusal};
use querent_hub::Handle;
use tokio::net::TcpListener;

use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::http::Site;

/// Serve this project over HTTP
///
/// Agents reach Querent's MCP server at `/mcp/<agent>`; `/mcp` only reads. It listens on this machine alone. Ends with
/// Ctrl-C; whatever was asked stays asked, and whoever waits calls again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  timeout 1 querent serve --listen 127.0.0.1:0 || true")]
pub(crate) struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7711")]
    listen: SocketAddr,

    /// Serve what the MCP conformance suites ask for at /mcp
    #[cfg(feature = "conformance-fixtures")]
    #[arg(long)]
    conformance_fixtures: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    if !args.listen.ip().is_loopback() {
        let message =
            format!("`{}` can be reached from other machines, and this server asks nobody who they are", args.listen);
        return Err(Refusal::invalid("listen", message, "listen on this machine: 127.0.0.1:7711").into());
    }
    let project = context.project()?;
    let hub = Handle::stay(&project, &Party::HUMAN.to_string())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.max_blocking_threads(64).enable_all().build().map_err(|error| broken(&error))?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.listen).await.map_err(|error| taken(args.listen, &error))?;
        let address = listener.local_addr().map_err(|error| broken(&error))?;
        announce(address)?;
        let site = Site::new(hub, project, address);
        #[cfg(feature = "conformance-fixtures")]
        let site = if args.conformance_fixtures { site.with_fixtures() } else { site };
        site.serve(listener, stopped()).await.map_err(|error| broken(&error))
    })?;
    Ok(DONE)
}

/// The one line that programs wait for.
fn announce(address: SocketAddr) -> Result<(), Refusal> {
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{address}").and_then(|()| out.flush()).map_err(|error| broken(&error))
}

async fn stopped() {
    // Without a signal handler it serves until it is killed, which loses nothing.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn taken(address: SocketAddr, error: &std::io::Error) -> Refusal {
    let message = format!("this server cannot listen on {address}: {error}");
    Refusal::new(Code::StorageError, message, "choose another port with --listen 127.0.0.1:0")
}

fn broken(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::StorageError, format!("the server broke off: {error}"), "start it again; nothing is lost")
}
