//! One request to somebody else's server: with a time limit, no redirects, and a bound on what is read.
//!
//! Addresses may be secrets (Slack's, Telegram's), so an error names the host and nothing else of them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// The most that is read of a reply.
const MOST: usize = 1 << 20;

/// What is sent: always a POST of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Sends a request; what comes back may be a refusal. An error says why nothing came back.
pub(crate) async fn send(request: &Request, limit: Duration) -> Result<Response, String> {
    let uri: Uri = request.url.parse().map_err(|_| "the address is none".to_owned())?;
    let host = uri.host().unwrap_or_default().to_owned();
    match tokio::time::timeout(limit, exchange(request, &uri)).await {
        Ok(exchanged) => exchanged.map_err(|why| format!("{host}: {why}")),
        Err(_) => Err(format!("{host}: no reply within {}s", limit.as_secs())),
    }
}

async fn exchange(request: &Request, uri: &Uri) -> Result<Response, String> {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port)).await.map_err(|error| error.to_string())?;
    if is_tls {
        let connector = TlsConnector::from(tls()?);
        let name = ServerName::try_from(host).map_err(|_| "the host's name is none".to_owned())?;
        let stream = connector.connect(name, stream).await.map_err(|error| error.to_string())?;
        over(stream, request, uri).await
    } else {
        over(stream, request, uri).await
    }
}

async fn over<S>(stream: S, request: &Request, uri: &Uri) -> Result<Response, String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with the exchange: nothing is kept open.
    let carried = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let authority = uri.authority().map_or("", |it| it.as_str());
    let mut outgoing = hyper::Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, authority)
        .header(header::USER_AGENT, concat!("querent/", env!("CARGO_PKG_VERSION")))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONNECTION, "close");
    for (name, value) in &request.headers {
        outgoing = outgoing.header(*name, value);
    }
    let outgoing = outgoing.body(Full::new(Bytes::from(request.body.clone()))).map_err(|error| error.to_string())?;
    let reply = sender.send_request(outgoing).await.map_err(|error| error.to_string())?;
    let status = reply.status().as_u16();
    let body = Limited::new(reply.into_body(), MOST).collect().await.map_err(|error| error.to_string())?.to_bytes();
    carried.abort();
    Ok(Response { status, body: String::from_utf8_lossy(&body).into_owned() })
}

/// Whom we trust: whom the system trusts. Read once, and only where it is needed.
fn tls() -> Result<Arc<ClientConfig>, String> {
    static TLS: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    TLS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err("this system has no certificates to trust (install ca-certificates)".to_owned());
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| error.to_string())?;
        Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
    })
    .clone()
}
