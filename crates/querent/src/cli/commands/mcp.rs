//! `querent mcp`: the MCP server on standard input and output.

use std::time::Duration;

use querent_core::{Action, Code, Command, ComponentName, Party, Refusal, Via};
use querent_hub::Handle;
use rmcp::ServiceExt;
use tokio::time::interval;

use crate::cli::context::{Context, DONE};
use crate::cli::error::Failure;
use crate::cli::input::{caller, environment};
use crate::mcp::{Caller, Server, Stdio};

/// Serve an agent's questions over MCP, on standard input and output
///
/// Coding agents start this themselves once they are connected. Who calls is fixed here and no call can change it: the
/// agent of `--agent`, or with `--as human` a person, who may answer. Starting records nothing; the agent's session begins
/// with its first deed. Standard output carries the protocol only; what people should know goes to standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  querent mcp --agent engineer < /dev/null
  querent mcp --agent engineer --item 42 --session s-1 < /dev/null
  querent mcp --as human < /dev/null")]
pub(crate) struct Args {
    /// The agent that calls; without it, that of `QUERENT_AGENT`
    #[arg(long, value_name = "NAME", conflicts_with = "as_party")]
    agent: Option<String>,
    /// Serve a person instead: `human` or `human:NAME`
    #[arg(long = "as", value_name = "WHO", id = "as_party")]
    as_party: Option<String>,
    /// The item of calls that name none; without it, that of `QUERENT_ITEM`, else the only one that has not ended
    #[arg(long, value_name = "ID")]
    item: Option<String>,
    /// The agent's session; without it, `<agent>@<item>`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// How often the sessions of a server show that they live; far below the time after which they are missed.
const BEAT: Duration = Duration::from_mins(1);

pub(crate) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let party = match &args.as_party {
        Some(person) => person.parse()?,
        None => caller("--agent", args.agent.as_deref())?,
    };
    let project = context.project()?;
    let hub = Handle::stay(&project, &party.to_string())?;
    check(&party, args.as_party.is_some(), &hub)?;
    let item = args.item.clone().or_else(|| environment("QUERENT_ITEM"));
    let caller = Caller {
        party: Some(party),
        item: item.as_deref().map(str::parse).transpose()?,
        session: args.session.as_deref().map(str::parse).transpose()?,
    };
    let server = Server::passing_text(hub, project, caller);
    // One client is served by one thread: a call costs no switch between threads but for what waits for the disk.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.max_blocking_threads(16).enable_all().build();
    let runtime = runtime.map_err(|error| broken(&error))?;
    runtime.block_on(serve(server))?;
    Ok(DONE)
}

fn check(party: &Party, as_person: bool, hub: &Handle) -> Result<(), Refusal> {
    match party {
        Party::Agent(agent) if !as_person => hub.rules()?.agent(agent).map(drop),
        Party::Human(_) if as_person => Ok(()),
        other => {
            let message = format!("`{other}` cannot be served here");
            Err(Refusal::invalid("agent", message, "use --agent with a declared agent, or --as human for a person"))
        }
    }
}

/// Serves until the client closes the streams.
async fn serve(server: Server) -> Result<(), Refusal> {
    let running = match server.clone().serve(Stdio::open()).await {
        Ok(running) => running,
        // A client that only looked whether the server starts is no failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(broken(&error)),
    };
    let beating = tokio::spawn(beat(server.clone()));
    let ended = running.waiting().await;
    beating.abort();
    leave(&server).await;
    ended.map(drop).map_err(|error| broken(&error))
}

fn broken(error: &dyn std::fmt::Display) -> Refusal {
    let message = format!("the MCP server broke off: {error}");
    Refusal::new(Code::StorageError, message, "start it again; questions that were asked are kept")
}

/// The sessions of a server live as long as it does.
async fn beat(server: Server) {
    let mut tick = interval(BEAT);
    loop {
        tick.tick().await;
        for item in server.begun() {
            let name = server.caller().session(&item).map(|session| session.as_str().parse::<ComponentName>());
            if let Ok(Ok(name)) = name {
                // A beat that is lost is made up for by the next.
                let _ = server.on_hub(move |hub| hub.beat(&name)).await;
            }
        }
    }
}

/// The client is gone: its sessions are over, except those that wait for an answer and are resumed with it.
async fn leave(server: &Server) {
    for item in server.begun() {
        let (caller, by) = (server.caller().clone(), server.caller().party.clone());
        let done = server.on_hub(move |hub| {
            let (session, Some(by)) = (caller.session(&item)?, by) else { return Ok(()) };
            let open = hub.item(&item)?.open;
            if open.values().any(|question| question.blocking && question.session == session) {
                return Ok(());
            }
            let action = Action::FinishSession { session: Some(session), keep: true };
            hub.execute(&Command { item, by, via: Via::Mcp, action }, None);
            Ok(())
        });
        // What cannot be recorded now is found by the monitor.
        let _ = done.await;
    }
}
