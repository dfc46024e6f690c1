//! HTTP: what a server that stays offers to many clients at once.

mod api;
mod burst;
mod doors;
mod events;
mod front;
mod guard;
mod linger;
mod listen;
mod log;
mod metrics;
mod rate;
mod session;
mod vigil;
mod who;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use querent_core::{AgentName, Code, Envelope, Party, Refusal, Role, canonical};
use querent_hub::{Handle, Key, Links, Project};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::mcp::{Caller, Server};
use crate::web;
pub(crate) use api::{on_thread, status};
pub(crate) use doors::Doors;
use front::Front;
pub(crate) use guard::Csrf;
use linger::linger;
pub(crate) use session::Sessions;
pub(crate) use who::{Bearer, Who};

/// The largest request that is read: far above what a call may hold.
const LARGEST: usize = 8 << 20;

type Mcp = StreamableHttpService<Server, LocalSessionManager>;

/// What is served. Cheap to clone; every clone is the same site.
#[derive(Clone)]
pub(crate) struct Site(Arc<Served>);

impl Deref for Site {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.0
    }
}

/// What a site has.
pub(crate) struct Served {
    pub(crate) hub: Handle,
    pub(crate) project: Project,
    pub(crate) doors: Doors,
    pub(crate) sessions: Sessions,
    /// Reads the links of notifications.
    pub(crate) links: Links,
    rates: rate::Rates,
    metrics: metrics::Metrics,
    vigil: vigil::Vigil,
    /// Becomes true when the server stops: whoever only listens then is let go.
    stopping: watch::Receiver<bool>,
    /// The MCP server of each party that has called; the one without a name only reads.
    servers: Mutex<BTreeMap<Option<Party>, Mcp>>,
    /// What `/mcp` serves instead, for the conformance suites.
    #[cfg(feature = "conformance-fixtures")]
    fixtures: std::sync::OnceLock<StreamableHttpService<crate::mcp::Fixtures, LocalSessionManager>>,
}

impl Site {
    /// What is served through these doors.
    pub(crate) fn new(
        hub: Handle,
        project: Project,
        doors: Doors,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, Refusal> {
        let (sessions, links) = (Sessions::new(Key::of(&project, "web")?), Links::open(&project)?);
        Ok(Self(Arc::new(Served {
            hub,
            project,
            doors,
            sessions,
            links,
            rates: rate::Rates::default(),
            metrics: metrics::Metrics::default(),
            vigil: vigil::Vigil::default(),
            stopping,
            servers: Mutex::default(),
            #[cfg(feature = "conformance-fixtures")]
            fixtures: std::sync::OnceLock::new(),
        })))
    }

    /// The same, with what the conformance suites ask for at `/mcp`.
    #[cfg(feature = "conformance-fixtures")]
    pub(crate) fn with_fixtures(self) -> Self {
        let fixtures = crate::mcp::Fixtures::new(self.server(None));
        let made = || StreamableHttpService::new(move || Ok(fixtures.for_client()), Arc::default(), config());
        self.fixtures.get_or_init(made);
        self
    }

    /// Serves until it is told to stop.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let mut stopping = self.stopping.clone();
        let routes = Router::new()
            .route("/events", get(events::events))
            .route("/metrics", get(metrics::metrics))
            .route("/healthz", get(metrics::healthz))
            .route("/readyz", get(metrics::readyz))
            .route("/openapi.json", get(api::document))
            .merge(web::routes())
            .layer(DefaultBodyLimit::max(LARGEST))
            .with_state(self.clone());
        let stopped = async move { drop(stopping.wait_for(|stopping| *stopping).await) };
        let site = self.clone();
        let kept = tokio::spawn(async move { site.vigil.keep(&site.hub).await });
        listen::serve(listener, Front::new(self, routes), stopped).await;
        kept.abort();
    }

    /// The server of a party, made when it first calls.
    fn mcp(&self, party: Option<Party>) -> Mcp {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let made = servers.entry(party).or_insert_with_key(|party| {
            let server = self.server(party.clone());
            Mcp::new(move || Ok(server.for_client()), Arc::default(), config())
        });
        made.clone()
    }

    fn server(&self, party: Option<Party>) -> Server {
        let caller = Caller { party, item: None, session: None };
        Server::new(self.hub.clone(), self.project.clone(), caller)
    }
}

/// How every MCP server is reached. Names and origins were looked at by the guard.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(LARGEST)
        .disable_allowed_hosts()
        .disable_allowed_origins()
}

/// Whether a path is one of the MCP server's.
fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}

/// What a call of the MCP server comes to. The token says who calls, and whoever has none only reads; or the path says which agent
/// does, on loopback without tokens. A token must be that agent's.
async fn mcp(site: &Site, who: Who, request: Request) -> Response {
    let Some(name) = request.uri().path().strip_prefix("/mcp/") else {
        #[cfg(feature = "conformance-fixtures")]
        if let Some(fixtures) = site.fixtures.get() {
            return fixtures.handle(request).await.into_response();
        }
        return called(&site.mcp(who.party()), request).await;
    };
    let rules = site.hub.rules();
    let known = name
        .parse::<AgentName>()
        .and_then(|agent| rules.and_then(|rules| rules.agent(&agent).map(drop)).map(|()| agent));
    let agent = match known {
        Ok(agent) => agent,
        Err(refusal) => return refused(StatusCode::NOT_FOUND, &refusal),
    };
    if let Who::Bearer(bearer) = &who
        && bearer.role != Role::Agent(agent.clone())
    {
        let message = format!("this token is not the agent `{agent}`'s");
        let hint = "call /mcp: the token says who calls";
        return refused(StatusCode::FORBIDDEN, &Refusal::new(Code::Unauthorized, message, hint));
    }
    called(&site.mcp(Some(Party::Agent(agent))), request).await
}

async fn called(mcp: &Mcp, request: Request) -> Response {
    // Who listens hears at once that it does.
    let is_call = *request.method() == Method::POST;
    let reply = mcp.handle(request).await.into_response();
    if is_call { linger(reply).await } else { reply }
}

/// Somebody who came by a secret of our own was not let in.
pub(crate) fn turned_down(site: &Site, how: &str, refusal: &Refusal) {
    log::say(site.hub.now(), &format!("turned away {how}: {}", refusal.message));
    site.metrics.turned_away();
}

/// A refusal as every surface says it.
fn refused(status: StatusCode, refusal: &Refusal) -> Response {
    let body: Value = serde_json::from_str(Envelope::refused(refusal).as_str()).unwrap_or_default();
    (status, Json(canonical::sorted(body))).into_response()
}
