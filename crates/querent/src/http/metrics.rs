//! `/metrics` for Prometheus, `/healthz` and `/readyz`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use querent_core::view::{Filter, StatusFilter};
use querent_core::{Party, Refusal};

use super::{Site, api, refused};

/// The upper bounds of the buckets of a request's time, in seconds.
const BUCKETS: [f64; 8] = [0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 30.0];

/// What is counted while the server runs.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Replies by the first digit of their status.
    replies: [AtomicU64; 5],
    buckets: [AtomicU64; BUCKETS.len()],
    micros: AtomicU64,
    turned_away: AtomicU64,
    streams: Arc<AtomicI64>,
    open: Arc<AtomicI64>,
}

/// Something that is there until it is dropped.
pub(crate) struct Counted(Arc<AtomicI64>);

impl Counted {
    fn among(all: &Arc<AtomicI64>) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(all))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request without a reply yet.
pub(crate) struct Requested<'a> {
    metrics: &'a Metrics,
    began: Instant,
    _open: Counted,
}

impl Requested<'_> {
    /// This is its reply.
    pub(crate) fn replied(self, status: StatusCode) {
        self.metrics.replied(status, self.began.elapsed());
    }
}

impl Metrics {
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// A request has come, and is open until this is dropped.
    pub(crate) fn request(&self) -> Requested<'_> {
        Requested { metrics: self, began: Instant::now(), _open: Counted::among(&self.open) }
    }

    /// A stream of events is open.
    pub(crate) fn streams(&self) -> Counted {
        Counted::among(&self.streams)
    }

    fn replied(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.replies[class].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(bucket) = BUCKETS.iter().position(|bound| took.as_secs_f64() <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub(crate) async fn metrics(State(site): State<Site>) -> Response {
    let state = api::on_thread({
        let site = site.clone();
        move || gauges(&site)
    });
    match state.await {
        Ok(mut text) => {
            counters(&site.metrics, &mut text);
            ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
        }
        Err(refusal) => refused(StatusCode::SERVICE_UNAVAILABLE, &refusal),
    }
}

/// What the project is like now.
fn gauges(site: &Site) -> Result<String, Refusal> {
    let count = |to: Option<Party>, status| site.hub.count_questions(&Filter { to, status });
    let human = count(Some(Party::HUMAN), StatusFilter::Active)?;
    let open = count(None, StatusFilter::Active)?;
    let alerts = site.hub.alerts()?.iter().filter(|alert| !alert.acknowledged).count();
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, values: &[(&str, usize)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    gauge(
        "querent_questions_active",
        "Questions that still concern somebody, by who is to act.",
        &[("{to=\"human\"}", human), ("{to=\"agent\"}", open - human.min(open))],
    );
    gauge(
        "querent_questions_stale",
        "Questions that an agent let wait too long.",
        &[("", count(None, StatusFilter::Stale)?)],
    );
    gauge(
        "querent_questions_escalated",
        "Questions that went to a human.",
        &[("", count(None, StatusFilter::Escalated)?)],
    );
    gauge("querent_alerts_unseen", "Alerts that nobody has acknowledged.", &[("", alerts)]);
    let head = site.hub.head()?;
    let _ = writeln!(
        text,
        "# HELP querent_events_total Events in the log.\n# TYPE querent_events_total counter\nquerent_events_total {head}"
    );
    Ok(text)
}

fn counters(metrics: &Metrics, text: &mut String) {
    let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
    text.push_str(
        "# HELP querent_http_requests_total Replies, by class of status.\n# TYPE querent_http_requests_total counter\n",
    );
    for (class, replies) in metrics.replies.iter().enumerate() {
        let _ = writeln!(text, "querent_http_requests_total{{status=\"{}xx\"}} {}", class + 1, load(replies));
    }
    let name = "querent_http_request_seconds";
    let _ = writeln!(text, "# HELP {name} How long requests took.\n# TYPE {name} histogram");
    let mut below = 0;
    for (bound, bucket) in BUCKETS.iter().zip(&metrics.buckets) {
        below += load(bucket);
        let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {below}");
    }
    let all: u64 = metrics.replies.iter().map(load).sum();
    let seconds = Duration::from_micros(load(&metrics.micros)).as_secs_f64();
    let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {all}\n{name}_sum {seconds}\n{name}_count {all}");
    let _ = writeln!(
        text,
        "# HELP querent_http_turned_away_total Requests that were turned away at the door.\n\
         # TYPE querent_http_turned_away_total counter\nquerent_http_turned_away_total {}\n\
         # HELP querent_http_requests_open Requests without a reply yet, this one and those that wait included.\n\
         # TYPE querent_http_requests_open gauge\nquerent_http_requests_open {}\n\
         # HELP querent_event_streams Open streams of events.\n# TYPE querent_event_streams gauge\nquerent_event_streams {}",
        load(&metrics.turned_away),
        metrics.open.load(Ordering::Relaxed),
        metrics.streams.load(Ordering::Relaxed)
    );
}

/// The process runs.
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// The project can be read, and its config is sound.
pub(crate) async fn readyz(State(site): State<Site>) -> Response {
    let looked = api::on_thread(move || site.hub.rules().and_then(|_| site.hub.head()));
    match looked.await {
        Ok(_) => "ready\n".into_response(),
        Err(refusal) => refused(StatusCode::SERVICE_UNAVAILABLE, &refusal),
    }
}
