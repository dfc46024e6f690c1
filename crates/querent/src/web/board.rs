//! The board: items by stage, and who works or waits on each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use querent_core::view::{ItemView, SessionView, sessions};
use querent_core::{Item, Moment, Refusal, SessionStatus, Stage};

use super::rich::age;
use super::{Page, Visitor};
use crate::text::clean_line;

/// How many items a column shows.
const MOST: usize = 60;

#[derive(Template)]
#[template(path = "board.html")]
struct Whole {
    page: Page,
    columns: Vec<Column>,
}

#[derive(Template)]
#[template(path = "board_parts.html")]
struct Parts {
    columns: Vec<Column>,
}

struct Column {
    stage: String,
    total: usize,
    hidden: usize,
    items: Vec<ItemCard>,
}

struct ItemCard {
    id: String,
    title: String,
    reason: Option<String>,
    question: Option<String>,
    since: Option<(String, String)>,
    needs_rework: bool,
    sessions: Vec<SessionLine>,
}

struct SessionLine {
    agent: String,
    status: &'static str,
    class: &'static str,
    waits: Option<String>,
    question: Option<String>,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor.show(|visitor| Ok(Whole { page: visitor.frame("board", "Board", None), columns: columns(visitor)? })).await
}

pub(super) async fn parts(visitor: Visitor) -> Response {
    visitor.show(|visitor| Ok(Parts { columns: columns(visitor)? })).await
}

/// The columns: steps in the order of the workflows, the longest first, since the others leave steps out; then the fixed stages.
fn columns(visitor: &Visitor) -> Result<Vec<Column>, Refusal> {
    let (hub, now) = (&visitor.site.hub, visitor.site.hub.now());
    let rules = hub.rules()?;
    let mut order: Vec<String> = Vec::new();
    let mut workflows: Vec<_> = rules.workflows.values().collect();
    workflows.sort_by_key(|workflow| Reverse(workflow.steps.len()));
    for step in workflows.iter().flat_map(|workflow| &workflow.steps) {
        if !order.contains(&step.name) {
            order.push(step.name.clone());
        }
    }
    let fixed = [Stage::AwaitingInput, Stage::Blocked, Stage::ReadyToMerge, Stage::Merged, Stage::Failed];
    order.extend(fixed.iter().map(|stage| stage.as_str().to_owned()));
    let mut by_stage: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for item in hub.items()? {
        by_stage.entry(item.stage.as_str().to_owned()).or_default().push(item);
    }
    let strays: Vec<String> = by_stage.keys().filter(|stage| !order.contains(stage)).cloned().collect();
    let all = strays.into_iter().chain(order).filter_map(|stage| by_stage.remove(&stage).map(|items| (stage, items)));
    Ok(all
        .map(|(stage, items)| Column {
            stage: clean_line(&stage),
            total: items.len(),
            hidden: items.len().saturating_sub(MOST),
            items: items.iter().take(MOST).map(|item| item_card(item, now)).collect(),
        })
        .collect())
}

fn item_card(item: &Item, now: Moment) -> ItemCard {
    let view = ItemView::of(item);
    ItemCard {
        id: view.id.to_string(),
        title: clean_line(&view.title),
        reason: view.status_reason.as_deref().map(clean_line),
        question: view.open_question_id.map(|id| id.to_string()),
        since: view.awaiting_since.map(|since| (since.to_string(), age(now, since))),
        needs_rework: view.needs_rework,
        sessions: sessions(item).iter().map(session_line).collect(),
    }
}

fn session_line(view: &SessionView) -> SessionLine {
    let class = match view.status {
        SessionStatus::Working | SessionStatus::Clarifying | SessionStatus::Loading => "good",
        SessionStatus::BlockedClarification => "warn",
        SessionStatus::Stuck => "bad",
        SessionStatus::Idle | SessionStatus::Done => "",
    };
    let waits = match (&view.waiting_on, &view.responding_to, &view.parked) {
        (Some(on), _, Some(_)) => Some(format!("parked, waits for {on}")),
        (Some(on), _, None) => Some(format!("waits for {on}")),
        (None, Some(to), _) => Some(format!("is to answer {to}")),
        (None, None, Some(_)) => Some("parked".to_owned()),
        (None, None, None) => None,
    };
    let question = view.clarification_id.as_ref().map(ToString::to_string);
    SessionLine { agent: view.agent.to_string(), status: view.status.as_str(), class, waits, question }
}
