//! What is going on: sessions, the ready queue, the journal, the metrics.

use std::sync::Arc;

use std::fmt;
use std::str::FromStr;

use querent_core::{ItemId, Record, Refusal, Span};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::Call;
use super::items::{Items, Paging};
use super::reply::Said;
use super::schema::{
    Field, any_object, formed, item_cursor, item_id, list, maybe, next_cursor, or_null, paged, shape, shaped, text,
    wait,
};
use super::{Route, Run, Verb};
use crate::paging::{self, Page, foreign};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/state",
        operation: "state",
        tag: "sessions",
        summary: "Show the sessions: who works, who waits and for whom",
        description: "By item; within one, in the order of `querent state`.",
        fields: || paged("^[a-z0-9][a-z0-9-]{0,63}/[0-9]{1,6}$", "42/1").into(),
        example: "",
        reply: || shaped([("sessions", list(shape("Session"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(state),
    },
    Route {
        verb: Verb::Get,
        path: "/ready",
        operation: "ready",
        tag: "items",
        summary: "Show the ready queue: what can be worked on, by whom, and what is blocked",
        description: "Items that have ended or only wait to be merged are not in it.",
        fields: || paged(&item_cursor(), "42").into(),
        example: "",
        reply: || shaped([("items", list(shape("Ready"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(ready),
    },
    Route {
        verb: Verb::Get,
        path: "/events",
        operation: "events",
        tag: "journal",
        summary: "Read a page of the journal",
        description: "`seq` is dense: a reader that remembers the last one it saw misses nothing. `/events` at the root is the live \
stream of the same.",
        fields: || {
            let most = i64::MAX;
            let since = json!({
                "type": "integer", "minimum": 0, "maximum": most, "description": "Begin after this sequence number",
            });
            let mut fields: Vec<Field> = vec![maybe("since", since)];
            fields.extend(paged("^[0-9]{1,18}$", "120"));
            fields
        },
        example: "",
        reply: || shaped([("events", list(shape("Event"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(events),
    },
    Route {
        verb: Verb::Get,
        path: "/digest",
        operation: "digest",
        tag: "journal",
        summary: "Show how the last days went: how many questions, who answered them, how fast",
        description: "Rates are over the questions that were settled in the period; a rate or a time over nothing is null.",
        fields: || {
            vec![
                maybe("since", wait("7d", "How far to look back; 7d without it")),
                maybe("item", item_id("Only the questions of this item")),
            ]
        },
        example: "",
        reply: digested,
        versioned: false,
        run: Run::Now(digest),
    },
];

/// Where a session stands: its item, and its place among the sessions of that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Seat {
    item: ItemId,
    place: u32,
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.item, self.place)
    }
}

impl FromStr for Seat {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (item, place) = text.split_once('/').ok_or_else(foreign)?;
        Ok(Self { item: item.parse()?, place: place.parse().map_err(|_| foreign())? })
    }
}

fn state(call: &Call) -> Result<Said, Refusal> {
    #[derive(Serialize)]
    struct Reply<T> {
        sessions: Vec<T>,
        next_cursor: Option<String>,
    }
    let Paging { limit, cursor } = call.read()?;
    let mut last: Option<Seat> = None;
    let mut seated = Vec::new();
    for session in call.site.hub.sessions()? {
        let place = last.take().filter(|seat| seat.item == session.item).map_or(1, |seat| seat.place + 1);
        let seat = Seat { item: session.item.clone(), place };
        last = Some(seat.clone());
        seated.push((seat, session));
    }
    let page = paging::sorted(seated, |(seat, _)| seat.clone(), cursor.as_deref(), paging::limit(limit))?;
    let sessions = page.entries.into_iter().map(|(_, session)| session).collect();
    Ok(Said::new(&Reply { sessions, next_cursor: page.next }))
}

fn ready(call: &Call) -> Result<Said, Refusal> {
    let Paging { limit, cursor } = call.read()?;
    let items = call.site.hub.ready()?;
    let Page { entries, next } = paging::sorted(items, |it| it.id.clone(), cursor.as_deref(), paging::limit(limit))?;
    Ok(Said::new(&Items { items: entries, next_cursor: next }))
}

fn events(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        since: Option<u64>,
        limit: Option<usize>,
        cursor: Option<String>,
    }
    #[derive(Serialize)]
    struct Reply<'a> {
        events: Vec<&'a Record>,
        next_cursor: Option<String>,
    }
    let Args { since, limit, cursor } = call.read()?;
    let after: Option<u64> = cursor.map(|cursor| cursor.parse().map_err(|_| foreign())).transpose()?;
    let since = since.unwrap_or_default().max(after.unwrap_or_default());
    let limit = paging::limit(limit);
    let mut events: Vec<Arc<Record>> = Vec::new();
    let mut more = false;
    call.site.hub.records(since, &mut |record| {
        more = events.len() == limit;
        if !more {
            events.push(record);
        }
        !more
    })?;
    let next_cursor = events.last().filter(|_| more).map(|record| record.seq.to_string());
    Ok(Said::new(&Reply { events: events.iter().map(AsRef::as_ref).collect(), next_cursor }))
}

fn digest(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        since: Option<Span>,
        item: Option<ItemId>,
    }
    let Args { since, item } = call.read()?;
    Ok(Said::new(&call.site.hub.digest(since.unwrap_or(Span::minutes(7 * 24 * 60)), item.as_ref())?))
}

fn digested() -> Value {
    let count = || json!({ "type": "integer", "minimum": 0 });
    let rate = || json!({ "type": ["number", "null"] });
    let times = || shaped([("p50_seconds", or_null(count())), ("p90_seconds", or_null(count()))], &[]);
    let counted = |name: &str| list(shaped([(name, text("What")), ("count", count())], &[]));
    let time = || formed("T", "2026-01-31T10:02:00.000Z", "A time");
    let mut schema = shaped(
        [
            ("since", time()),
            ("until", time()),
            ("total", count()),
            ("settled", count()),
            ("open", count()),
            ("auto_resolution_rate", rate()),
            ("escalation_rate", rate()),
            ("average_rounds", rate()),
            ("time_to_answer", shaped([("agent", times()), ("human", times())], &[])),
            ("stale", count()),
            ("stuck", count()),
            ("deadlocks", count()),
            ("fallbacks_used", count()),
            ("assumptions_overturned", count()),
            ("learned_used", count()),
            ("by_pair", list(any_object("Who asked whom: from, to, count"))),
            ("by_category", counted("category")),
            ("topics", counted("topic")),
        ],
        &[],
    );
    schema["description"] = json!("The metrics of the period");
    schema
}
