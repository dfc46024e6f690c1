//! Learned answers: what is answered without asking.

use querent_core::view::LearnedView;
use querent_core::{Code, Learned, LearnedId, LearnedStatus, Refusal, SharedAction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{Field, by, counted_id, list, maybe, needed, next_cursor, paged, shape, shaped, word, words};
use super::{Route, Run, Verb};
use crate::paging::{self, foreign};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/learned",
        operation: "learned",
        tag: "learned answers",
        summary: "List what was learned from people's answers",
        description: "Those that are given come first.",
        fields: || {
            let status = word(LearnedStatus::ALL, LearnedStatus::as_str, "Only those of this status");
            let mut fields = vec![maybe("status", status)];
            fields.extend(paged("^[0-2]\\.LRN-(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2,8})$", "0.LRN-001"));
            fields
        },
        example: "",
        reply: || shaped([("learned", list(shape("Learned"))), ("next_cursor", next_cursor())], &[]),
        versioned: false,
        run: Run::Now(listed),
    },
    Route {
        verb: Verb::Get,
        path: "/learned/{id}",
        operation: "learned_show",
        tag: "learned answers",
        summary: "Show a learned answer: where it comes from and how often it was used",
        description: "The questions that it was learned from are named.",
        fields: || vec![own_id()],
        example: "",
        reply: one,
        versioned: false,
        run: Run::Now(show),
    },
    Route {
        verb: Verb::Post,
        path: "/learned/{id}/revoke",
        operation: "learned_revoke",
        tag: "learned answers",
        summary: "Take a learned answer back, so that its question is asked again",
        description: "What was decided by it stays on record among the assumptions.",
        fields: || vec![own_id(), maybe("note", words(2_000, "Why")), by()],
        example: r#"{"by": "human:alice", "note": "we moved to Postgres"}"#,
        reply: one,
        versioned: false,
        run: Run::Now(revoke),
    },
];

fn own_id() -> Field {
    needed("id", counted_id("LRN", "The learned answer's id"))
}

fn one() -> Value {
    shaped([("learned", shape("Learned"))], &[])
}

/// Where a learned answer stands in the list.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place(LearnedStatus, LearnedId);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = LearnedStatus::ALL.iter().position(|it| *it == self.0).unwrap_or_default();
        write!(f, "{status}.{}", self.1)
    }
}

impl std::str::FromStr for Place {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (status, id) = text.split_once('.').ok_or_else(foreign)?;
        let status = status.parse().ok().and_then(|place: usize| LearnedStatus::ALL.get(place));
        Ok(Self(*status.ok_or_else(foreign)?, id.parse()?))
    }
}

fn listed(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        status: Option<LearnedStatus>,
        limit: Option<usize>,
        cursor: Option<String>,
    }
    #[derive(Serialize)]
    struct Reply<'a> {
        learned: Vec<LearnedView<'a>>,
        next_cursor: Option<String>,
    }
    let Args { status, limit, cursor } = call.read()?;
    let knowledge = call.site.hub.knowledge()?;
    let mut found: Vec<&Learned> = knowledge.learned.values().collect();
    found.retain(|it| status.is_none_or(|status| it.status == status));
    found.sort_by_key(|it| (it.status, it.id));
    let page = paging::sorted(found, |it| Place(it.status, it.id), cursor.as_deref(), paging::limit(limit))?;
    let learned = page.entries.into_iter().map(LearnedView).collect();
    Ok(Said::new(&Reply { learned, next_cursor: page.next }))
}

fn show(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: LearnedId,
    }
    #[derive(Serialize)]
    struct Reply<'a> {
        learned: LearnedView<'a>,
    }
    let Args { id } = call.read()?;
    let knowledge = call.site.hub.knowledge()?;
    let learned = knowledge.learned.get(&id.0).ok_or_else(|| {
        let message = format!("there is no learned answer `{id}`");
        Refusal::new(Code::InvalidInput, message, "list them: GET /api/v1/learned")
            .with(json!({ "field": "learned_id" }))
    })?;
    Ok(Said::new(&Reply { learned: LearnedView(learned) }))
}

fn revoke(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: LearnedId,
        note: Option<String>,
        by: Option<Named>,
    }
    let Args { id: learned, note, by } = call.read()?;
    Ok(call.execute_shared(call.speaks(by)?, SharedAction::Revoke { learned, note }))
}
