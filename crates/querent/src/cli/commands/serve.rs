//! `querent serve`: a server that stays.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use querent_core::{Code, Party, Refusal};
use querent_hub::{Handle, Links, Project, Team, TeamOptions};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::http::{Doors, Site};

/// How many files and connections it may have open at once, where the system allows as many.
const MOST_HANDLES: u64 = 65_536;
/// How often it looks whether there are agents to call.
const AGAIN: Duration = Duration::from_secs(5);

/// Serve this project over HTTP
///
/// Open the address that it prints: the inbox shows what agents ask, and answers are given there. Programs call `/api/v1`
/// (described by `/openapi.json`) and follow `/events`; agents reach the MCP server at `/mcp`, or `/mcp/<agent>`. On this
/// machine nobody needs a token until there is one: see `querent token`. Agents that are asked are called, where they have a provider. People are notified through the channels that
/// `[[notify]]` in the config names. Ends with Ctrl-C; whatever was asked stays asked, and whoever waits calls again.
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
    let project = context.project()?;
    let hub = Handle::stay(&project, &Party::HUMAN.to_string())?;
    if !args.listen.ip().is_loopback() && !hub.access()?.is_guarded() {
        let message = format!(
            "`{}` can be reached from other machines, and there is no token by which to tell who calls",
            args.listen
        );
        let hint = "make one first: querent token create --role human; or listen on this machine: 127.0.0.1:7711";
        return Err(Refusal::invalid("listen", message, hint).into());
    }
    let server = Server {
        #[cfg(feature = "conformance-fixtures")]
        conformance_fixtures: args.conformance_fixtures,
        ..Server::new(project, hub, args.listen)
    };
    server.run(announce)?;
    Ok(DONE)
}

/// The server of a project.
pub(super) struct Server {
    project: Project,
    hub: Handle,
    listen: SocketAddr,
    #[cfg(feature = "conformance-fixtures")]
    conformance_fixtures: bool,
}

impl Server {
    pub(super) fn new(project: Project, hub: Handle, listen: SocketAddr) -> Self {
        Self {
            project,
            hub,
            listen,
            #[cfg(feature = "conformance-fixtures")]
            conformance_fixtures: false,
        }
    }

    /// Serves until somebody wants this process to end. Says where, once it listens.
    pub(super) fn run(self, announce: impl FnOnce(SocketAddr) -> Result<(), Refusal>) -> Result<(), Refusal> {
        take_handles();
        let mut runtime = runtime();
        let runtime = runtime.max_blocking_threads(64).enable_all().build().map_err(|error| broken(&error))?;
        let Self { project, hub, listen, .. } = self;
        runtime.block_on(async {
            let listener = TcpListener::bind(listen).await.map_err(|error| taken(listen, &error))?;
            let address = listener.local_addr().map_err(|error| broken(&error))?;
            let (stop, stopping) = watch::channel(false);
            let rules = hub.rules()?;
            let doors = Doors::new(address, rules.config.serve.public_url.as_deref());
            let (base, links) = (doors.base(), Links::open(&project)?);
            let site = Site::new(hub.clone(), project.clone(), doors, stopping.clone())?;
            #[cfg(feature = "conformance-fixtures")]
            let site = if self.conformance_fixtures { site.with_fixtures() } else { site };
            announce(address)?;
            project.serves_at(&base);
            let told = tokio::spawn(hub.clone().notify(base, links, is_stopping(stopping.clone())));
            let asked = tokio::spawn(route(hub.clone(), stopping));
            let clock = tokio::spawn(async move { hub.keep_time().await });
            tokio::spawn(async move {
                stopped().await;
                let _ = stop.send(true);
            });
            site.serve(listener).await;
            clock.abort();
            // What is being sent is sent to its end; what is not is still owed. An agent that is asked is asked again.
            let _ = tokio::join!(told, asked);
            Ok(())
        })
    }
}

/// What a server runs on: half of the processors, because those whom it serves are on this machine too. On one thread nobody has
/// to be woken by another; what takes long is done elsewhere in any case.
fn runtime() -> tokio::runtime::Builder {
    let workers = std::thread::available_parallelism().map_or(1, |processors| processors.get() / 2);
    if workers < 2 {
        return tokio::runtime::Builder::new_current_thread();
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(workers);
    runtime
}

/// Calls the agents that are asked, where the config says how. What cannot be read now is read a moment later.
async fn route(hub: Handle, mut stopping: watch::Receiver<bool>) {
    while !*stopping.borrow() {
        let calls = hub.rules().is_ok_and(|rules| rules.config.agents.values().any(|it| it.provider.is_some()));
        if !calls {
            // The config may be changed while the server runs.
            let _ = tokio::time::timeout(AGAIN, stopping.wait_for(|stopping| *stopping)).await;
            continue;
        }
        let options = TeamOptions { program: std::env::current_exe().ok(), ..TeamOptions::default() };
        let routed = match Team::open(&hub, options) {
            Ok(team) => team.route(stopping.clone()).await,
            Err(refusal) => Err(refusal),
        };
        if routed.is_err() {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Every client takes a handle, and many systems give few to who does not ask for more.
#[cfg(unix)]
fn take_handles() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(MOST_HANDLES, |most| most.min(MOST_HANDLES));
    if limit.current.is_some_and(|now| now < most) {
        // What the system does not give, it does not: then fewer can be served at once.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}

#[cfg(not(unix))]
fn take_handles() {}

/// The one line that programs wait for.
fn announce(address: SocketAddr) -> Result<(), Refusal> {
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{address}").and_then(|()| out.flush()).map_err(|error| broken(&error))
}

async fn is_stopping(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Somebody wants this process to end: Ctrl-C, or what a service manager sends.
pub(super) async fn stopped() {
    #[cfg(unix)]
    if let Ok(mut ended) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = ended.recv() => return,
            interrupted = tokio::signal::ctrl_c() => if interrupted.is_ok() { return },
        }
    }
    // Without a signal handler it serves until it is killed, which loses nothing.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn taken(address: SocketAddr, error: &std::io::Error) -> Refusal {
    let message = format!("this server cannot listen on {address}: {error}");
    Refusal::new(Code::StorageError, message, "choose another port with --listen 127.0.0.1:0")
}

pub(super) fn broken(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::StorageError, format!("the server broke off: {error}"), "start it again; nothing is lost")
}
