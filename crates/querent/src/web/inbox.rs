//! The inbox: what waits for people, the most urgent first.

use askama::Template;
use axum::response::Response;
use querent_core::Refusal;

use super::card::Card;
use super::{Page, Visitor};
use crate::asking::example;

/// How many questions a page shows.
const MOST: usize = 100;

#[derive(Template)]
#[template(path = "inbox.html")]
struct Whole {
    page: Page,
    summary: String,
    total: usize,
    cards: Vec<Card>,
    csrf: Option<String>,
    can_answer: bool,
    example: String,
}

#[derive(Template)]
#[template(path = "cards.html")]
struct Parts {
    summary: String,
    total: usize,
    cards: Vec<Card>,
    csrf: Option<String>,
    can_answer: bool,
    example: String,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor
        .show(|visitor| {
            let Parts { summary, total, cards, csrf, can_answer, example } = found(visitor)?;
            let page = visitor.frame("inbox", "Inbox", Some(total));
            Ok(Whole { page, summary, total, cards, csrf, can_answer, example })
        })
        .await
}

pub(super) async fn parts(visitor: Visitor) -> Response {
    visitor.show(found).await
}

fn found(visitor: &Visitor) -> Result<Parts, Refusal> {
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
    let (total, csrf, can_answer) = (inbox.total, visitor.csrf.clone(), visitor.can_answer());
    Ok(Parts { summary, total, cards, csrf, can_answer, example })
}
