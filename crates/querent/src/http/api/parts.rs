//! A reply in two parts, as server-sent events: `asked`, what came of the call, and `awaited`, what it waited for. So whoever asks
//! and waits in one call knows at once how the question is called, and can wait on if the connection breaks.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use hyper::body::Frame;
use querent_core::Envelope;
use tokio::time::{Instant, Sleep, sleep};

use crate::http::events::{HEARTBEAT, passed_on};

/// How often the body is looked at before its first part is sent: for more that can go along, and when the connection lets others
/// prepare their replies ([`Burst`](crate::http::burst::Burst)).
const LOOKS: u8 = 2;

/// What is waited for.
pub(super) type Rest = Pin<Box<dyn Future<Output = Envelope> + Send>>;

/// The two parts on their way.
struct Parts {
    now: Option<Envelope>,
    /// How often it was looked at since then. What is waited for begins when the first part is sent: nobody who wants to know the
    /// question's id waits for that.
    looks: u8,
    rest: Option<Rest>,
    heartbeat: Pin<Box<Sleep>>,
}

/// Whether a caller wants its reply in parts. Whoever takes anything wants one that is whole.
pub(super) fn are_wanted(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(','));
    kinds.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
}

/// The response that says both.
pub(super) fn response(now: Envelope, rest: Rest) -> Response {
    let mut response = Response::new(Body::new(Parts::new(now, rest)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    passed_on(response)
}

/// An envelope is one line.
fn event(name: &str, it: &Envelope) -> Frame<Bytes> {
    let pieces = ["event: ", name, "\ndata: ", it.as_str(), "\n\n"];
    Frame::data(pieces.concat().into())
}

impl Parts {
    fn new(now: Envelope, rest: Rest) -> Self {
        Self { now: Some(now), looks: 0, rest: Some(rest), heartbeat: Box::pin(sleep(HEARTBEAT)) }
    }
}

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let parts = &mut *self;
        if let Some(now) = parts.now.take() {
            return Poll::Ready(Some(Ok(event("asked", &now))));
        }
        let Some(rest) = &mut parts.rest else { return Poll::Ready(None) };
        if parts.looks < LOOKS {
            parts.looks += 1;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Poll::Ready(awaited) = rest.as_mut().poll(context) {
            parts.rest = None;
            return Poll::Ready(Some(Ok(event("awaited", &awaited))));
        }
        ready!(parts.heartbeat.as_mut().poll(context));
        parts.heartbeat.as_mut().reset(Instant::now() + HEARTBEAT);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": alive\n\n")))))
    }

    fn is_end_stream(&self) -> bool {
        self.now.is_none() && self.rest.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Waker;

    use futures_util::{StreamExt, TryStreamExt};

    use super::*;

    async fn pieces(response: Response, most: usize) -> String {
        let stream = response.into_body().into_data_stream().take(most);
        let pieces: Vec<Bytes> = stream.try_collect().await.unwrap();
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[tokio::test]
    async fn each_part_is_an_event_and_a_sign_of_life_may_stand_between_them() {
        let asked = "event: asked\ndata: {\"ok\":true,\"data\":1}\n\n";
        let both = response(Envelope::ok(&1), Box::pin(ready(Envelope::ok(&2))));
        let mut waits = Parts::new(Envelope::ok(&1), Box::pin(pending()));
        waits.heartbeat.as_mut().reset(Instant::now());

        assert_eq!(pieces(both, 9).await, format!("{asked}event: awaited\ndata: {{\"ok\":true,\"data\":2}}\n\n"));
        assert_eq!(pieces(Response::new(Body::new(waits)), 2).await, format!("{asked}: alive\n\n"));
    }

    #[tokio::test]
    async fn what_is_waited_for_begins_when_the_first_part_was_sent() {
        let begun = Arc::<AtomicBool>::default();
        let rest = {
            let begun = Arc::clone(&begun);
            async move {
                begun.store(true, Ordering::Relaxed);
                Envelope::ok(&2)
            }
        };
        let mut parts = pin!(Parts::new(Envelope::ok(&1), Box::pin(rest)));
        let mut look = || {
            let has_part = parts.as_mut().poll_frame(&mut Context::from_waker(Waker::noop())).is_ready();
            (has_part, begun.load(Ordering::Relaxed))
        };

        assert_eq!([(); 4].map(|()| look()), [(true, false), (false, false), (false, false), (true, true)]);
    }

    #[test]
    fn parts_are_for_those_who_name_them() {
        let wanted = |accept: &'static str| are_wanted(&HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]));

        for accept in ["text/event-stream", "Text/Event-Stream; q=0.9", "application/json, text/event-stream"] {
            assert!(wanted(accept), "{accept}");
        }
        for accept in ["*/*", "application/json", "text/*", ""] {
            assert!(!wanted(accept), "{accept}");
        }
    }
}
