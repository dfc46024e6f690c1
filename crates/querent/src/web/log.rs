//! The events, as they happen.

use std::collections::VecDeque;

use askama::Template;
use axum::response::Response;
use querent_core::{Record, Refusal};

use super::{Page, Visitor};
use crate::text::clean_line;

/// How many a page shows at first.
const MOST: u64 = 200;

#[derive(Template)]
#[template(path = "log.html")]
struct Whole {
    page: Page,
    rows: VecDeque<Row>,
    last: u64,
}

struct Row {
    seq: u64,
    at: String,
    time: String,
    stream: String,
    by: String,
    kind: &'static str,
    question: Option<String>,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor.show(whole).await
}

fn whole(visitor: &Visitor) -> Result<Whole, Refusal> {
    let last = visitor.site.hub.head()?;
    let mut rows = VecDeque::new();
    visitor.site.hub.records(last.saturating_sub(MOST), &mut |record| {
        rows.push_front(row(&record));
        record.seq < last
    })?;
    Ok(Whole { page: visitor.frame("log", "Events", None), rows, last })
}

fn row(record: &Record) -> Row {
    let at = record.at.to_string();
    Row {
        seq: record.seq,
        time: at.chars().skip(11).take(8).collect(),
        at,
        stream: clean_line(record.stream.as_str()),
        by: clean_line(&record.by.to_string()),
        kind: record.event.type_name(),
        question: record.event.question().map(ToString::to_string),
    }
}
