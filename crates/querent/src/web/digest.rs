//! The digest: how the last days went, in figures and bars.

use askama::Template;
use axum::extract::RawQuery;
use axum::response::Response;
use querent_core::view::{Digest, Percentiles, rate};
use querent_core::{Refusal, Span};

use super::{Page, Visitor, form_field};
use crate::text::clean_line;

/// How many bars a chart has.
const BARS: usize = 10;
/// How wide the longest bar is.
const LONGEST: u64 = 340;
const PERIODS: [(&str, &str); 4] = [("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days"), ("365d", "a year")];

#[derive(Template)]
#[template(path = "digest.html")]
struct Whole {
    page: Page,
    periods: Vec<Period>,
    summary: String,
    total: u32,
    tiles: Vec<Tile>,
    charts: Vec<Chart>,
}

struct Period {
    value: &'static str,
    label: &'static str,
    current: bool,
}

/// One figure.
struct Tile {
    name: &'static str,
    value: String,
    aim: Option<&'static str>,
    class: &'static str,
}

/// Bars beside each other.
struct Chart {
    id: &'static str,
    title: &'static str,
    description: String,
    height: usize,
    bars: Vec<Bar>,
}

struct Bar {
    name: String,
    figure: String,
    top: usize,
    baseline: usize,
    width: u64,
    end: u64,
}

pub(super) async fn page(visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let since = form_field(query.unwrap_or_default().as_bytes(), "since").unwrap_or_else(|| "7d".to_owned());
    visitor.show(move |visitor| whole(visitor, &since)).await
}

fn whole(visitor: &Visitor, since: &str) -> Result<Whole, Refusal> {
    let span: Span =
        since.parse().map_err(|error: String| Refusal::invalid("since", error, "give a time like 24h or 7d"))?;
    let digest = visitor.site.hub.digest(span, None)?;
    let periods = PERIODS.map(|(value, label)| Period { value, label, current: value == since });
    let summary = format!("{} asked, {} settled, {} open. The last {span}.", digest.total, digest.settled, digest.open);
    Ok(Whole {
        page: visitor.frame("digest", "Digest", None),
        periods: periods.into(),
        summary,
        total: digest.total + digest.settled,
        tiles: tiles(&digest),
        charts: charts(&digest),
    })
}

fn tiles(digest: &Digest) -> Vec<Tile> {
    let share = |name, value: Option<f64>, aim, is_good: fn(f64) -> bool| {
        let class = value.map_or("", |value| if is_good(value) { "good" } else { "warn" });
        Tile { name, value: value.map_or_else(|| "–".to_owned(), |_| rate(value)), aim: Some(aim), class }
    };
    let count = |name, value: u32, aim: Option<&'static str>| {
        let class = match (aim, value) {
            (Some(_), 0) => "good",
            (Some(_), _) => "bad",
            (None, _) => "",
        };
        Tile { name, value: value.to_string(), aim, class }
    };
    let rounds = digest.average_rounds;
    vec![
        share("answered without a person", digest.auto_resolution_rate, "over 80%", |rate| rate >= 0.8),
        share("escalated", digest.escalation_rate, "under 20%", |rate| rate < 0.2),
        Tile {
            name: "rounds a question",
            value: rounds.map_or_else(|| "–".to_owned(), |rounds| format!("{rounds:.1}")),
            aim: Some("2 to 3"),
            class: "",
        },
        count("stale", digest.stale, Some("0")),
        count("stuck", digest.stuck, Some("0")),
        count("deadlocks", digest.deadlocks, Some("0")),
        count("fallbacks taken", digest.fallbacks_used, None),
        count("learned answers used", digest.learned_used, None),
        count("assumptions overturned", digest.assumptions_overturned, None),
    ]
}

fn charts(digest: &Digest) -> Vec<Chart> {
    let pairs = digest.by_pair.iter().map(|it| (format!("{} to {}", it.from, it.to), it.count.into(), None));
    let categories = digest.by_category.iter().map(|it| (it.category.to_string(), it.count.into(), None));
    let topics = digest.topics.iter().map(|it| (clean_line(&it.topic), it.count.into(), None));
    let time = |name: &str, it: &Percentiles| {
        let figure = |seconds: Option<u64>| seconds.map(|seconds| (seconds, Span::seconds(seconds).rough()));
        let half = figure(it.p50_seconds).map(|(long, text)| (format!("{name}, half within"), long, Some(text)));
        let most = figure(it.p90_seconds).map(|(long, text)| (format!("{name}, nine in ten within"), long, Some(text)));
        [half, most]
    };
    let times = [time("agents", &digest.time_to_answer.agent), time("people", &digest.time_to_answer.human)];
    [
        chart("times", "Time to an answer", times.into_iter().flatten().flatten()),
        chart("pairs", "Who asked whom", pairs),
        chart("categories", "What sort of decision", categories),
        chart("topics", "What it was about", topics),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A chart of named amounts, with what is written at their end; none of nothing.
fn chart(
    id: &'static str,
    title: &'static str,
    amounts: impl Iterator<Item = (String, u64, Option<String>)>,
) -> Option<Chart> {
    let amounts: Vec<_> = amounts.take(BARS).collect();
    let most = amounts.iter().map(|(_, amount, _)| *amount).max()?.max(1);
    let bars: Vec<Bar> = amounts
        .into_iter()
        .enumerate()
        .map(|(place, (name, amount, figure))| {
            let width = (amount * LONGEST / most).max(2);
            let top = place * 26 + 4;
            let name: String =
                if name.chars().count() > 26 { name.chars().take(25).chain(['…']).collect() } else { name };
            let figure = figure.unwrap_or_else(|| amount.to_string());
            Bar { name, figure, top, baseline: top + 13, width, end: 224 + width + 8 }
        })
        .collect();
    let description = bars.iter().map(|bar| format!("{}: {}", bar.name, bar.figure)).collect::<Vec<_>>().join("; ");
    Some(Chart { id, title, description: format!("{title}. {description}."), height: bars.len() * 26 + 8, bars })
}
