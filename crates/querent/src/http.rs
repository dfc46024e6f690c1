//! HTTP: what a server that stays offers to many clients at once.

mod api;
mod who;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use querent_core::{AgentName, Envelope, Party, Refusal};
use querent_hub::{Handle, Project};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::mcp::{Caller, Server};

/// The largest request that is read: far above what a call may hold.
const LARGEST: usize = 8 << 20;

type Mcp = StreamableHttpService<Server, LocalSessionManager>;

/// What is served.
#[derive(Clone)]
pub(crate) struct Site {
    hub: Handle,
    project: Project,
    /// The MCP server of each agent that has called; the one without a name only reads.
    servers: Arc<Mutex<BTreeMap<Option<AgentName>, Mcp>>>,
    /// The port that is listened on.
    port: u16,
    /// What `/mcp` serves instead, for the conformance suites.
    #[cfg(feature = "conformance-fixtures")]
    fixtures: Option<StreamableHttpService<crate::mcp::Fixtures, LocalSessionManager>>,
}

impl Site {
    /// What is served at `address`.
    pub(crate) fn new(hub: Handle, project: Project, address: SocketAddr) -> Self {
        Self {
            hub,
            project,
            servers: Arc::default(),
            port: address.port(),
            #[cfg(feature = "conformance-fixtures")]
            fixtures: None,
        }
    }

    /// The same, with what the conformance suites ask for at `/mcp`.
    #[cfg(feature = "conformance-fixtures")]
    pub(crate) fn with_fixtures(mut self) -> Self {
        let fixtures = crate::mcp::Fixtures::new(self.server(None));
        self.fixtures =
            Some(StreamableHttpService::new(move || Ok(fixtures.for_client()), Arc::default(), self.config()));
        self
    }

    /// Serves until `stopped`.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        stopped: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let routes = Router::new().route("/mcp", any(nobody)).route("/mcp/{agent}", any(agent));
        let routes = routes.merge(api::routes()).layer(from_fn(local)).with_state(self);
        // A reply is written in pieces; without this the last one waits for the client's acknowledgement of the first.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, routes).with_graceful_shutdown(stopped).await
    }

    /// The server of an agent, made when it is first called.
    fn mcp(&self, agent: Option<AgentName>) -> Mcp {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let made = servers.entry(agent).or_insert_with_key(|agent| {
            let server = self.server(agent.clone());
            Mcp::new(move || Ok(server.for_client()), Arc::default(), self.config())
        });
        made.clone()
    }

    fn server(&self, agent: Option<AgentName>) -> Server {
        let caller = Caller { party: agent.map(Party::Agent), item: None, session: None };
        Server::new(self.hub.clone(), self.project.clone(), caller)
    }

    /// How every MCP server is reached: by a name of this machine, and by no page but those that come from here.
    fn config(&self) -> StreamableHttpServerConfig {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{}", self.port));
        StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(LARGEST)
            .with_allowed_origins(own)
            .enforce_origin_validation()
    }
}

/// On loopback, whoever is at this machine.
async fn local(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(who::Who::Local);
    next.run(request).await
}

/// Whoever does not say who it is only reads.
async fn nobody(State(site): State<Site>, request: Request) -> Response {
    #[cfg(feature = "conformance-fixtures")]
    if let Some(fixtures) = site.fixtures {
        return fixtures.handle(request).await.into_response();
    }
    site.mcp(None).handle(request).await.into_response()
}

/// On loopback the path says which agent calls.
async fn agent(State(site): State<Site>, Path(name): Path<String>, request: Request) -> Response {
    let rules = site.hub.rules();
    let known = name
        .parse::<AgentName>()
        .and_then(|agent| rules.and_then(|rules| rules.agent(&agent).map(drop)).map(|()| agent));
    match known {
        Ok(agent) => site.mcp(Some(agent)).handle(request).await.into_response(),
        Err(refusal) => refused(StatusCode::NOT_FOUND, &refusal),
    }
}

/// A refusal as every surface says it.
fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    let body: Value = serde_json::from_str(Envelope::refused(refusal).as_str()).unwrap_or_default();
    (status, Json(body)).into_response()
}
