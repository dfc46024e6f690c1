//! `/events`: the log as a stream of server-sent events. Whoever loses the connection says what it saw last and misses nothing.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use querent_core::Refusal;
use querent_hub::Follower;
use tokio::sync::watch;

use super::{Site, refused};
use crate::web::form_field;

/// How often a silent stream shows that it lives.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// What a stream goes on with.
struct Place {
    follower: Follower,
    stopping: watch::Receiver<bool>,
    _counted: super::metrics::Counted,
}

pub(crate) async fn events(State(site): State<Site>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let follower = since(query.as_deref(), &headers).and_then(|since| site.hub.follow(since));
    let follower = match follower {
        Ok(follower) => follower,
        Err(refusal) => return refused(StatusCode::BAD_REQUEST, &refusal),
    };
    let place = Place { follower, stopping: site.stopping.clone(), _counted: site.metrics.streams() };
    let stream = stream::unfold(place, |mut place| async move {
        let news = tokio::select! {
            // A log that cannot be read ends the stream; the client comes again and goes on where it was.
            news = place.follower.next() => news.ok()?,
            _ = place.stopping.wait_for(|stopping| *stopping) => return None,
        };
        let (id, kind) = (news.record.seq.to_string(), news.record.event.type_name());
        Some((Ok::<_, Infallible>(Event::default().id(id).event(kind).data(news.line())), place))
    });
    let heartbeat = KeepAlive::new().interval(HEARTBEAT).text("alive");
    passed_on(Sse::new(stream).keep_alive(heartbeat).into_response())
}

/// A stream that nobody on its way holds back: a proxy may gather what it passes on.
pub(super) fn passed_on(mut stream: Response) -> Response {
    stream.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    stream
}

/// After which record the stream begins; none for what happens from now on.
fn since(query: Option<&str>, headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let number = |field: &str, text: &str| {
        text.trim().parse::<u64>().map(Some).map_err(|_| {
            let message = format!("`{}` is no number of a record", text.chars().take(40).collect::<String>());
            Refusal::invalid(field, message, "give the id of the last event that you saw, or nothing")
        })
    };
    if let Some(last) = headers.get("last-event-id") {
        return number("Last-Event-ID", last.to_str().unwrap_or("?"));
    }
    form_field(query.unwrap_or_default().as_bytes(), "since").map_or(Ok(None), |text| number("since", &text))
}
