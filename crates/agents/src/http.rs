//! One request to somebody else's server, whose reply is read as it comes: with time limits, no redirects, and nothing that is
//! kept open.
//!
//! Addresses and headers may be secrets, so no error and no debug output names more than the host.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// How long a server may take to let us in.
const CONNECT: Duration = Duration::from_secs(30);

/// How long a server may say nothing at all. Models think for minutes.
const SILENCE: Duration = Duration::from_mins(5);

/// A place that can be spoken to. Only its host is ever shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Uri);

impl Address {
    /// The address that a text names, if it names one.
    pub fn new(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let is_spoken = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        (is_spoken && has_host).then_some(Self(uri))
    }

    /// Its host.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// Its path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    fn is_tls(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    /// What the server knows itself by: the host, with the port if it was named, and never a user or a password.
    fn authority(&self) -> String {
        match self.0.port_u16() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.host())
    }
}

/// What is sent: always a POST of JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// To whom.
    pub address: Address,
    /// What is said besides the usual.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON.
    pub body: String,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What comes back, of which the body is still to be read. The connection ends with it.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// When to try again, as the server put it.
    pub retry_after: Option<String>,
    host: String,
    body: Incoming,
    _carried: Carried,
}

impl Reply {
    /// The next bytes of the body; none at its end. An error says why there is no end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match timeout(SILENCE, self.body.frame()).await {
                Err(_) => return Err(format!("{}: silent for {}s", self.host, SILENCE.as_secs())),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(format!("{}: {}", self.host, plain(&error))),
                // What is no data is a trailer, which says nothing to us.
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// The beginning of the body as text, up to so many bytes; what cannot be read is left out.
    pub async fn beginning(mut self, most: usize) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < most {
            let Ok(Some(chunk)) = self.chunk().await else { break };
            bytes.extend_from_slice(&chunk);
        }
        bytes.truncate(most);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Sends a request; what comes back may be a refusal. An error says why nothing came back.
pub async fn send(request: Request) -> Result<Reply, String> {
    let host = request.address.host().to_owned();
    exchange(request).await.map_err(|why| format!("{host}: {why}"))
}

async fn exchange(request: Request) -> Result<Reply, String> {
    let address = request.address.clone();
    let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = address.0.port_u16().unwrap_or(if address.is_tls() { 443 } else { 80 });
    let late = |_| format!("no connection within {}s", CONNECT.as_secs());
    let connect = TcpStream::connect((host.as_str(), port));
    let stream = timeout(CONNECT, connect).await.map_err(late)?.map_err(|error| error.to_string())?;
    // A prompt is written at once, and then only read.
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    if address.is_tls() {
        let name = ServerName::try_from(host).map_err(|_| "the host's name is none".to_owned())?;
        let connect = TlsConnector::from(tls()?).connect(name, stream);
        let stream = timeout(CONNECT, connect).await.map_err(late)?.map_err(|error| error.to_string())?;
        over(stream, request).await
    } else {
        over(stream, request).await
    }
}

async fn over<S>(stream: S, request: Request) -> Result<Reply, String>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| plain(&error))?;
    let carried = Carried(tokio::spawn(connection).abort_handle());
    let path = request.address.0.path_and_query().map_or("/", |it| it.as_str());
    let mut outgoing = hyper::Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, request.address.authority())
        .header(header::USER_AGENT, concat!("querent/", env!("CARGO_PKG_VERSION")))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONNECTION, "close");
    for (name, value) in &request.headers {
        outgoing = outgoing.header(*name, value);
    }
    // Its error could quote a header.
    let outgoing = outgoing.body(Full::new(Bytes::from(request.body)));
    let outgoing =
        outgoing.map_err(|_| "the request cannot be said in HTTP (is there a line break in the key?)".to_owned())?;
    let reply = timeout(SILENCE, sender.send_request(outgoing)).await;
    let reply = reply.map_err(|_| format!("no reply within {}s", SILENCE.as_secs()))?.map_err(|error| plain(&error))?;
    let retry_after = reply.headers().get(header::RETRY_AFTER).and_then(|it| it.to_str().ok()).map(str::to_owned);
    Ok(Reply {
        status: reply.status().as_u16(),
        retry_after,
        host: request.address.host().to_owned(),
        body: reply.into_body(),
        _carried: carried,
    })
}

/// What carries an exchange; it is put down with this.
#[derive(Debug)]
struct Carried(AbortHandle);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An error of hyper in words: its cause says more than itself, and neither quotes a request.
fn plain(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_its_host_and_nothing_else() {
        let address = Address::new("https://user:pass@models.example:8443/secret/path?key=1").unwrap();
        assert_eq!(format!("{address:?}"), "Address(models.example)");
        assert_eq!(address.authority(), "models.example:8443");
    }

    #[test]
    fn what_cannot_be_spoken_to_is_no_address() {
        for text in ["", "models.example", "/v1", "ftp://models.example", "unix:/run/x", "https:///v1", "a b"] {
            assert_eq!(Address::new(text), None, "{text}");
        }
    }

    #[test]
    fn a_request_shows_neither_headers_nor_body() {
        let address = Address::new("http://models.example/v1").unwrap();
        let request = Request { address, headers: vec![("x-api-key", "sk-1".to_owned())], body: "told".to_owned() };
        assert_eq!(format!("{request:?}"), "Request { address: Address(models.example), .. }");
    }
}
