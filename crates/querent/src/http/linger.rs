//! A call of MCP is answered by a stream, which may be long. Most are over at once: those are sent in one piece, so that a client is
//! not woken for the beginning of what it waits for. What it is told before the reply it is told at once.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use tokio::time::timeout;

/// How long the beginning of a stream waits for its end.
const LONGEST: Duration = Duration::from_millis(20);

/// Where a message names its method: among the first of its bytes.
const METHOD: &[u8] = b"\"method\":";
const HEAD: usize = 64;

/// The same reply, in one piece if it is over soon.
pub(super) async fn linger(reply: Response) -> Response {
    let is_stream = reply.headers().get(CONTENT_TYPE).is_some_and(|it| it.as_bytes() == b"text/event-stream");
    if !is_stream {
        return reply;
    }
    let (head, body) = reply.into_parts();
    let (mut rest, mut first) = (body.into_data_stream(), Vec::new());
    let is_over = timeout(LONGEST, async {
        while let Some(Ok(piece)) = rest.next().await {
            first.extend_from_slice(&piece);
            if tells(&piece) {
                return false;
            }
        }
        true
    });
    let body = match is_over.await {
        Ok(true) => Body::from(first),
        Ok(false) | Err(_) => {
            Body::from_stream(stream::iter((!first.is_empty()).then(|| Ok(Bytes::from(first)))).chain(rest))
        }
    };
    Response::from_parts(head, body)
}

/// Whether these events tell a client something before its reply: a message that names its method, as a reply does not.
fn tells(events: &[u8]) -> bool {
    let data = events.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    let mut heads = data.map(|message| &message[..message.len().min(HEAD)]);
    heads.any(|head| head.windows(METHOD.len()).any(|it| it == METHOD))
}

#[cfg(test)]
mod tests {
    use axum::body::HttpBody as _;
    use futures_util::FutureExt;
    use tokio::sync::mpsc;

    use super::*;

    fn reply(content_type: &str, body: Body) -> Response {
        Response::builder().header(CONTENT_TYPE, content_type).body(body).unwrap()
    }

    /// A stream that says what it is sent.
    fn open() -> (mpsc::UnboundedSender<&'static str>, Response) {
        let (say, heard) = mpsc::unbounded_channel();
        let said = stream::unfold(heard, |mut heard: mpsc::UnboundedReceiver<&'static str>| async {
            heard.recv().await.map(|said| (Ok::<_, std::io::Error>(Bytes::from(said)), heard))
        });
        (say, reply("text/event-stream", Body::from_stream(said)))
    }

    #[tokio::test]
    async fn a_stream_that_is_over_at_once_is_one_piece() {
        let (say, reply) = open();
        say.send("one ").unwrap();
        say.send("two").unwrap();
        drop(say);

        let body = linger(reply).await.into_body();

        assert_eq!(body.size_hint().exact(), Some(7), "its length is known");
        assert_eq!(axum::body::to_bytes(body, 100).await.unwrap(), "one two");
    }

    #[tokio::test]
    async fn a_stream_that_goes_on_is_sent_as_it_comes() {
        let (say, reply) = open();
        say.send("begins ").unwrap();

        let mut body = linger(reply).await.into_body().into_data_stream();

        assert_eq!(body.next().await.unwrap().unwrap(), "begins ");
        say.send("goes on").unwrap();
        assert_eq!(body.next().await.unwrap().unwrap(), "goes on");
        drop(say);
        assert!(body.next().await.is_none());
    }

    #[tokio::test]
    async fn what_comes_before_the_reply_is_not_held_back() {
        let told = "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n";
        let asked = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{}}\n\n";
        let said = r#"data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"method\":"}]}}"#;

        for (events, goes_at_once) in [(told, true), (asked, true), (said, false), ("data: \nretry: 3000\n\n", false)] {
            let (say, reply) = open();
            say.send(events).unwrap();

            assert_eq!(linger(reply).now_or_never().is_some(), goes_at_once, "{events}");
        }
    }

    #[tokio::test]
    async fn whatever_else_is_left_alone() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());

        let untouched = linger(reply("application/json", never)).await;

        assert_eq!(untouched.headers()[CONTENT_TYPE], "application/json");
    }
}
