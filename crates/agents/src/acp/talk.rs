//! The conversation with an agent: what we ask of it.

use std::pin::pin;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, EnvVariable, FileSystemCapabilities, Implementation, InitializeRequest,
    LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, PromptRequest, ResumeSessionRequest, SessionId,
    StopReason,
};
use agent_client_protocol::{
    Agent, Channel, Client, Error, JsonRpcMessage, JsonRpcRequest, is_connection_terminated,
    is_incoming_transport_closed,
};
use querent_core::ProgramHandle;
use tokio::sync::watch;
use tokio::time::timeout;

use super::host::{Host, Spoken};
use super::link::{Link, TooMuch};
use super::permission::SERVER;
use crate::order::Order;
use crate::program::GO;
use crate::signal::{Signal, Usage};

/// Why a conversation came to nothing.
#[derive(Debug)]
pub(super) enum Lost {
    /// It was to stop, and has had its time to.
    Stopped,
    /// The agent is gone.
    Gone,
    /// It said more than it may.
    TooMuch,
    /// It replied with an error to a request of this method.
    Refused(String, Error),
    /// It replied with something that cannot be used.
    Unreadable(String, Error),
}

impl From<TooMuch> for Lost {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// How a turn came to its end.
#[derive(Debug)]
pub(super) struct Ending {
    /// Why the agent stopped.
    pub(super) reason: StopReason,
    /// What it said.
    pub(super) spoken: Spoken,
}

/// A turn that is to be made.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    /// What the agent is told.
    pub(super) order: &'a Order,
    /// The session that it goes on with.
    pub(super) handle: Option<&'a ProgramHandle>,
    /// Becomes true when the turn is to stop.
    pub(super) cancelled: watch::Receiver<bool>,
    /// How long it may take to stop.
    pub(super) grace: Duration,
}

impl Talk<'_> {
    /// Makes the turn with the agent at the other end of the link.
    pub(super) async fn hold(self, link: &mut Link, host: &Host) -> Result<Ending, Lost> {
        link.say(GO);
        let (ours, mut theirs) = Channel::duplex();
        let mut turn = pin!(self.connected(ours, host));
        tokio::select! {
            biased;
            made = &mut turn => return made,
            carried = link.carry(&mut theirs, host) => carried?,
        }
        turn.await
    }

    /// The same at our end of the connection.
    async fn connected(self, connection: Channel, host: &Host) -> Result<Ending, Lost> {
        let made = Client
            .v1()
            .name("querent")
            .with_handler(host.clone())
            .connect_with(connection, async move |agent| Ok(self.until_stopped(&agent, host).await))
            .await;
        made.unwrap_or(Err(Lost::Gone))
    }

    async fn until_stopped(mut self, agent: &ConnectionTo<Agent>, host: &Host) -> Result<Ending, Lost> {
        let mut turn = pin!(turn(agent, host, self.order, self.handle));
        tokio::select! {
            biased;
            // One whose holder is gone is to stop as well.
            _ = self.cancelled.wait_for(|stop| *stop) => {}
            made = &mut turn => return made,
        }
        if let Some(session) = host.stop() {
            // Whoever does not hear it is killed a little later.
            let _ = agent.send_notification(CancelNotification::new(session));
            let _ = timeout(self.grace, turn).await;
        }
        Err(Lost::Stopped)
    }
}

async fn turn(
    agent: &ConnectionTo<Agent>,
    host: &Host,
    order: &Order,
    handle: Option<&ProgramHandle>,
) -> Result<Ending, Lost> {
    let session = open(agent, host, order, handle).await?;
    let handle = match session.0.parse::<ProgramHandle>() {
        Ok(handle) => Signal::Handle(handle),
        Err(_) => Signal::Ignored("the agent's name for its session is none that it could be resumed by".to_owned()),
    };
    host.signal(handle).await;
    host.begin(session.clone());
    let reply = call(agent, host, PromptRequest::new(session, vec![order.prompt.clone().into()])).await?;
    let spoken = host.end();
    if let Some(usage) = reply.usage {
        let cached = [usage.cached_read_tokens, usage.cached_write_tokens];
        let input_tokens = cached.into_iter().flatten().fold(usage.input_tokens, u64::saturating_add);
        host.signal(Signal::Usage(Usage { input_tokens, output_tokens: usage.output_tokens })).await;
    }
    Ok(Ending { reason: reply.stop_reason, spoken })
}

/// Opens a session: the one of this name if there is one and the agent can go on with it, else a new one.
async fn open(
    agent: &ConnectionTo<Agent>,
    host: &Host,
    order: &Order,
    handle: Option<&ProgramHandle>,
) -> Result<SessionId, Lost> {
    // What an agent writes through us stays in its directory. It reads by itself: one that asks us for a file which is not
    // there yet does not always understand that, and then cannot make it (Gemini). Those that ask are answered.
    let files = FileSystemCapabilities::new().read_text_file(false).write_text_file(true);
    let about = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files).terminal(false))
        .client_info(Implementation::new("querent", env!("CARGO_PKG_VERSION")).title("Querent".to_owned()));
    let can = call(agent, host, about).await?.agent_capabilities;
    let (directory, servers) = (host.directory(), servers(order));
    if let Some(handle) = handle {
        let session = SessionId::new(handle.as_str());
        // The one goes on; the other first says again all that was said, which we know.
        let request = if can.session_capabilities.resume.is_some() {
            Some(
                ResumeSessionRequest::new(session.clone(), directory).mcp_servers(servers.clone()).to_untyped_message(),
            )
        } else if can.load_session {
            Some(LoadSessionRequest::new(session.clone(), directory).mcp_servers(servers.clone()).to_untyped_message())
        } else {
            None
        };
        // Nothing is wanted of the reply but that it is none that refuses.
        let opened = match request {
            Some(Ok(request)) => Some(call(agent, host, request).await),
            _ => None,
        };
        match opened {
            None => {}
            Some(Ok(_)) => return Ok(session),
            Some(Err(Lost::Refused(..))) => {
                let note = "the agent could not go on with its session, so it begins a new one";
                host.signal(Signal::Note(note.to_owned())).await;
            }
            Some(Err(lost)) => return Err(lost),
        }
    }
    let session = call(agent, host, NewSessionRequest::new(directory).mcp_servers(servers)).await?.session_id;
    if session.0.is_empty() {
        return Err(Lost::Unreadable("session/new".to_owned(), Error::invalid_params().data("the session has no id")));
    }
    Ok(session)
}

async fn call<R: JsonRpcRequest>(agent: &ConnectionTo<Agent>, host: &Host, request: R) -> Result<R::Response, Lost> {
    let method = request.method().to_owned();
    agent.send_request(request).block_task().await.map_err(|error| match error {
        error if is_incoming_transport_closed(&error) || is_connection_terminated(&error) => Lost::Gone,
        error if host.is_complaint(&error) => Lost::Refused(method, error),
        error => Lost::Unreadable(method, error),
    })
}

/// Querent's MCP server, as the protocol hands it to agents.
fn servers(order: &Order) -> Vec<McpServer> {
    let server = order.mcp.iter().map(|server| {
        let env = order.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
        McpServer::Stdio(McpServerStdio::new(SERVER, &server.program).args(server.arguments.clone()).env(env))
    });
    server.collect()
}
