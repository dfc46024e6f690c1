//! Who comes in: every request passes here first, whatever it asks for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use querent_core::{Code, Refusal, Role, Token};
use tokio::time::timeout;

use super::session::CSRF;
use super::who::{Bearer, Who};
use super::{Site, log, refused};
use crate::web;

/// How large the body of a request may be: of a form, of a call of the MCP server, of any other.
const LARGEST_FORM: usize = 256 << 10;
const LARGEST_CALL: usize = 8 << 20;
const LARGEST: usize = 1 << 20;
/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// What proves that a page is ours, for the pages that are made in answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Csrf(pub(crate) Arc<str>);

/// Why somebody is turned away.
struct Away {
    status: StatusCode,
    refusal: Refusal,
    wait: Option<Duration>,
}

impl Away {
    fn new(status: StatusCode, message: &str, hint: &str) -> Self {
        Self { status, refusal: Refusal::new(Code::Unauthorized, message, hint), wait: None }
    }
}

/// Why nobody comes in while the journal cannot be read.
fn broken(refusal: Refusal) -> Away {
    Away { status: StatusCode::SERVICE_UNAVAILABLE, refusal, wait: None }
}

/// Who makes the request, and all of it; else what it is told instead. What everybody may see is nobody's.
pub(crate) async fn guard(
    site: &Site,
    peer: SocketAddr,
    request: Request,
) -> Result<(Option<Who>, Request<Bytes>), Response> {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let is_page = wants_page(&request);
    if is_page && comes_from_elsewhere(&request) && site.doors.knows_host(host(&request).unwrap_or_default()) {
        return Err(web::passage(&uri));
    }
    let admitted = match admit(site, peer, request).await {
        Ok((who, request)) => whole(request).await.map(|request| (who, request)),
        Err(away) => Err(away),
    };
    admitted.map_err(|away| {
        let peer = peer.ip().to_string();
        log::turned_away(site.hub.now(), away.status, &method, &uri, &peer, &away.refusal.message);
        site.metrics.turned_away();
        turn_away(site, &away, is_page)
    })
}

fn turn_away(site: &Site, away: &Away, is_page: bool) -> Response {
    let mut response = if is_page && away.status == StatusCode::UNAUTHORIZED {
        (away.status, web::login_page(site, None)).into_response()
    } else if is_page {
        (away.status, web::refusal_page(site, &away.refusal)).into_response()
    } else {
        refused(away.status, &away.refusal)
    };
    let headers = response.headers_mut();
    if away.status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"querent\""));
    }
    if let Some(wait) = away.wait {
        headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    }
    response
}

/// The request, with who makes it; else why it is turned away.
async fn admit(site: &Site, peer: SocketAddr, request: Request) -> Result<(Option<Who>, Request), Away> {
    let host = host(&request)?;
    if !site.doors.knows_host(host) {
        let hint = "use the address that `querent serve` printed, or set public_url in [serve] of the config";
        return Err(Away::new(StatusCode::MISDIRECTED_REQUEST, "this server does not go by that name", hint));
    }
    check_origin(site, request.headers(), host)?;
    if is_open(request.uri().path()) {
        return Ok((None, request));
    }
    let mut is_guarded = site.hub.access().map_err(broken)?.is_guarded();
    if !is_guarded && request.headers().contains_key(AUTHORIZATION) {
        // Whoever shows a token may have the first, made this moment by another process.
        is_guarded = site.hub.access_now().map_err(broken)?.is_guarded();
    }
    if !is_guarded {
        if !peer.ip().to_canonical().is_loopback() || !site.doors.is_local(host) {
            let hint = "make one on the machine that serves: querent token create --role human";
            return Err(Away::new(
                StatusCode::UNAUTHORIZED,
                "from other machines a token is needed, and there is none yet",
                hint,
            ));
        }
        return Ok((Some(Who::Local), request));
    }
    let (request, token) = identify(site, request).await?;
    site.rates.take(token.id, Instant::now()).map_err(|wait| Away {
        status: StatusCode::TOO_MANY_REQUESTS,
        refusal: Refusal::new(
            Code::RateLimited,
            format!("{} calls too often", token.id),
            "wait as long as Retry-After says",
        ),
        wait: Some(wait),
    })?;
    let who = allowed(&request, &token)?;
    Ok((Some(who), request))
}

fn host(request: &Request) -> Result<&str, Away> {
    let mut named = request.headers().get_all(HOST).iter();
    let first =
        named.next().and_then(|value| value.to_str().ok()).or_else(|| request.uri().authority().map(Authority::as_str));
    match (first, named.next()) {
        (Some(host), None) => Ok(host),
        _ => {
            Err(Away::new(StatusCode::MISDIRECTED_REQUEST, "the request names no host, or two", "send one Host header"))
        }
    }
}

/// A page of elsewhere may not call, whatever it has got hold of.
fn check_origin(site: &Site, headers: &HeaderMap, host: &str) -> Result<(), Away> {
    let foreign = || {
        let hint = "call from a page of this server, or without an Origin header";
        Away::new(StatusCode::FORBIDDEN, "a page of another origin may not call", hint)
    };
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(()),
        (Some(origin), None) if origin.to_str().is_ok_and(|origin| site.doors.knows_origin(origin, host)) => Ok(()),
        _ => Err(foreign()),
    }
}

/// What everybody may see, and links that are their own proof.
fn is_open(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz" | "/openapi.json" | "/login" | "/favicon.ico")
        || path.starts_with("/assets/")
        || path.starts_with("/a/")
}

/// The token of a request: in its header, or in its cookie.
async fn identify(site: &Site, mut request: Request) -> Result<(Request, Token), Away> {
    if let Some(given) = request.headers().get(AUTHORIZATION) {
        let secret = given
            .to_str()
            .ok()
            .and_then(|value| value.split_once(' '))
            .filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
        let token = secret.map(|(_, secret)| site.hub.bearer(secret.trim())).transpose().map_err(broken)?.flatten();
        let hint = "send `Authorization: Bearer qrt_…` with a token that is good: querent token create";
        let token =
            token.ok_or_else(|| Away::new(StatusCode::UNAUTHORIZED, "the token is unknown, revoked or expired", hint));
        return token.map(|token| (request, token));
    }
    let hint = "send `Authorization: Bearer qrt_…`, or log in with a link: querent token link TOK-001";
    let nobody = || Away::new(StatusCode::UNAUTHORIZED, "this server demands a token", hint);
    let now = site.hub.now();
    let (id, cookie) = site.sessions.read(request.headers(), now).ok_or_else(nobody)?;
    let access = site.hub.access().map_err(broken)?;
    let token = access.tokens.get(&id.0).filter(|token| token.is_good(now)).cloned().ok_or_else(nobody)?;
    let csrf = site.sessions.csrf(&cookie);
    if !request.method().is_safe() {
        request = from_own_page(site, request, &cookie).await?;
    }
    request.extensions_mut().insert(Csrf(csrf.into()));
    Ok((request, token))
}

/// A cookie goes along with whatever a browser sends, so a request that changes something must show that a page of ours made it.
async fn from_own_page(site: &Site, request: Request, cookie: &str) -> Result<Request, Away> {
    let away = || {
        let hint = "reload the page and try again; programs send a token instead of a cookie";
        Away::new(StatusCode::FORBIDDEN, "the request does not come from a page of this server", hint)
    };
    if let Some(given) = request.headers().get(CSRF).and_then(|value| value.to_str().ok()) {
        return if site.sessions.is_csrf(cookie, given) { Ok(request) } else { Err(away()) };
    }
    let is_form = request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    if !is_form {
        return Err(away());
    }
    let (parts, bytes) = arrived(request, LARGEST_FORM).await?;
    let given = web::form_field(&bytes, "csrf");
    if !given.is_some_and(|given| site.sessions.is_csrf(cookie, &given)) {
        return Err(away());
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The request with all of its body: whoever comes behind waits for no client. What only looks has none.
async fn whole(request: Request) -> Result<Request<Bytes>, Away> {
    if request.method().is_safe() {
        return Ok(request.map(|_| Bytes::new()));
    }
    let most = if request.uri().path().starts_with("/mcp") { LARGEST_CALL } else { LARGEST };
    let (parts, bytes) = arrived(request, most).await?;
    Ok(Request::from_parts(parts, bytes))
}

/// What a client sends, if it is not too much and does not take too long.
async fn arrived(request: Request, most: usize) -> Result<(Parts, Bytes), Away> {
    let away = |status, message: &str, hint: &str| Away {
        status,
        refusal: Refusal::invalid("body", message, hint),
        wait: None,
    };
    let (parts, body) = request.into_parts();
    match timeout(PATIENCE, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok((parts, bytes)),
        Ok(Err(_)) => Err(away(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or broke off", "send less")),
        Err(_) => Err(away(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive", "send it in one go")),
    }
}

/// Whether the role of a token allows what is asked for.
fn allowed(request: &Request, token: &Token) -> Result<Who, Away> {
    let path = request.uri().path();
    let for_programs = ["/api/", "/mcp", "/events", "/metrics"].iter().any(|prefix| path.starts_with(prefix));
    let away = |message: &str, hint: &str| Err(Away::new(StatusCode::FORBIDDEN, message, hint));
    match &token.role {
        Role::Agent(_) if !for_programs => return away("pages are for people", "agents call /api/v1 and /mcp"),
        Role::Observer if !request.method().is_safe() && !path.starts_with("/mcp") && path != "/logout" => {
            return away("this token only reads", "use a token with the role human");
        }
        Role::Human | Role::Observer | Role::Agent(_) => {}
    }
    Ok(Who::Bearer(Bearer { role: token.role.clone(), name: token.name.clone() }))
}

/// Whether a browser follows a link from elsewhere, without the cookie that it may have for us: it sends that only when the way
/// begins on a page of ours.
fn comes_from_elsewhere(request: &Request) -> bool {
    let said = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    request.method() == Method::GET
        && said("sec-fetch-site") == Some("cross-site")
        && said("sec-fetch-mode") == Some("navigate")
        && !request.headers().contains_key(COOKIE)
        && !is_open(request.uri().path())
}

/// Whether whoever asks is a person with a browser.
fn wants_page(request: &Request) -> bool {
    let path = request.uri().path();
    let for_programs =
        ["/api/", "/mcp", "/events", "/metrics", "/openapi.json"].iter().any(|prefix| path.starts_with(prefix));
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !for_programs
        && (request.method() == Method::GET || request.method() == Method::POST)
        && accepts.contains("text/html")
}
