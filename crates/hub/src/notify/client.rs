//! One request of a channel, with a time limit and a bound on what is read.
//!
//! Addresses may be secrets (Slack's, Telegram's), so an error names the host and nothing else of them.

use std::time::Duration;

use querent_agents::http::{self, Address};

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
    let address = Address::new(&request.url).ok_or("the address is none")?;
    let host = address.host().to_owned();
    let exchange = async {
        let outgoing = http::Request { address, headers: request.headers.clone(), body: request.body.clone() };
        let reply = http::send(outgoing).await?;
        Ok(Response { status: reply.status, body: reply.beginning(MOST).await })
    };
    let late = |_| Err(format!("{host}: no reply within {}s", limit.as_secs()));
    tokio::time::timeout(limit, exchange).await.unwrap_or_else(late)
}
