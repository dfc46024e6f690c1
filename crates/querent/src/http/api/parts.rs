//! A reply in two parts, as server-sent events: `asked`, what came of the call, and `awaited`, what it waited for. So whoever asks
//! and waits in one call knows at once how the question is called, and can wait on if the connection breaks.

use std::convert::Infallible;
use std::pin::Pin;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use querent_core::Envelope;

use crate::http::events;

/// What is waited for.
pub(super) type Rest = Pin<Box<dyn Future<Output = Envelope> + Send>>;

/// Whether a caller wants its reply in parts. Whoever takes anything wants one that is whole.
pub(super) fn are_wanted(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(','));
    kinds.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
}

/// The response that says both.
pub(super) fn response(now: Envelope, rest: Rest) -> Response {
    let part = |name, it: Envelope| Ok::<_, Infallible>(Event::default().event(name).data(it.as_str()));
    let parts = stream::iter([part("asked", now)]).chain(stream::once(async move { part("awaited", rest.await) }));
    events::passed_on(Sse::new(parts).keep_alive(events::heartbeat()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

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
