//! The inbox: what waits for people, the most urgent first.

use askama::Template;
use axum::response::Response;
use querent_core::Refusal;
use querent_hub::Handle;

use super::card::Card;
use super::{Page, Visitor};

/// How many questions a page shows.
const MOST: usize = 100;

#[derive(Template)]
#[template(path = "inbox.html")]
struct Whole {
    page: Page,
    summary: String,
    cards: Vec<Card>,
    csrf: Option<String>,
    can_answer: bool,
    example: String,
}

#[derive(Template)]
#[template(path = "cards.html")]
struct Parts {
    summary: String,
    cards: Vec<Card>,
    csrf: Option<String>,
    can_answer: bool,
    example: String,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor
        .show(|visitor| {
            let Found { parts: Parts { summary, cards, csrf, can_answer, example }, total } = found(visitor)?;
            Ok(Whole { page: visitor.frame("inbox", "Inbox", Some(total)), summary, cards, csrf, can_answer, example })
        })
        .await
}

pub(super) async fn parts(visitor: Visitor) -> Response {
    visitor.show(|visitor| found(visitor).map(|found| found.parts)).await
}

struct Found {
    parts: Parts,
    total: usize,
}

fn found(visitor: &Visitor) -> Result<Found, Refusal> {
    let hub = &visitor.site.hub;
    let inbox = hub.inbox(MOST)?;
    let now = hub.now();
    let summary = match inbox.total {
        0 => String::new(),
        1 => "1 question waits for you.".to_owned(),
        total if total > MOST => format!("{total} questions wait for you; these are the {MOST} most urgent ones."),
        total => format!("{total} questions wait for you, the most urgent first."),
    };
    let cards = inbox.entries.iter().map(|entry| Card::new(entry, now)).collect();
    let example = if inbox.total == 0 { example(hub)? } else { String::new() };
    let parts = Parts { summary, cards, csrf: visitor.csrf.clone(), can_answer: visitor.can_answer(), example };
    Ok(Found { parts, total: inbox.total })
}

/// A command that works here: it asks on an item that can be asked about, by the agent whose turn it is.
pub(crate) fn example(hub: &Handle) -> Result<String, Refusal> {
    let ready = hub.ready()?;
    let turn = ready.iter().find_map(|item| Some((item.id.clone(), item.agent.clone().filter(|_| !item.blocked)?)));
    Ok(match turn {
        Some((item, agent)) => format!(
            "querent ask --item {item} --from {agent} --to human --topic \"Colour\" \\\n  \
             --question \"Which colour?\" --option red=Red --option blue=Blue --wait 10m"
        ),
        None => "querent item add 42 --title \"Sign in by e-mail\"".to_owned(),
    })
}
