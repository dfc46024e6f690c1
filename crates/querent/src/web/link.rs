//! The link of a notification: it shows what it would answer, and answers when somebody confirms. It is its own proof, so whoever
//! has it needs no token; it works for one round of one question, and for a while.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use querent_core::{Code, Party, Question, Refusal};
use querent_hub::{InboxEntry, Link};
use serde_json::Value;

use super::card::Card;
use super::{Page, Visitor, render};
use crate::http::{on_thread, turned_down};
use crate::text::clean_line;

#[derive(Template)]
#[template(path = "link.html")]
struct Whole {
    page: Page,
    headline: &'static str,
    card: Option<Card>,
    message: Option<String>,
    class: &'static str,
    confirm: Option<String>,
}

/// Shows what the link would do.
pub(super) async fn ask(visitor: Visitor, Path(signed): Path<String>) -> Response {
    let looker = visitor.clone();
    let found = on_thread(move || {
        let (link, entry) = read(&looker, &signed)?;
        // Whether it was noted that somebody looked changes nothing for whoever looks.
        let _ = looker.site.hub.see(&link, Party::HUMAN);
        Ok((link, entry))
    });
    match found.await {
        Ok((link, entry)) => show(&visitor, &link, &entry),
        Err(refusal) => refuse(&visitor, &refusal),
    }
}

/// Answers.
pub(super) async fn answer(visitor: Visitor, Path(signed): Path<String>) -> Response {
    let doer = visitor.clone();
    let done = on_thread(move || {
        let (link, _) = read(&doer, &signed)?;
        let reply = doer.site.hub.answer_by_link(&link, Party::HUMAN, None).read::<Value>();
        let entry = doer.site.hub.inbox_entry(&link.question)?;
        Ok((reply.err(), entry))
    });
    let (refusal, entry) = match done.await {
        Ok(done) => done,
        Err(refusal) => return refuse(&visitor, &refusal),
    };
    let card = Card::new(&entry, visitor.site.hub.now());
    let (status, headline, message) = match &refusal {
        None => (StatusCode::OK, "Your answer was taken", None),
        Some(refusal) => {
            let first = card.answer.as_ref().filter(|_| refusal.code == Code::QuestionAlreadyAnswered);
            let said = first.map(|answer| format!("{} was first. Your answer was not taken.", answer.by));
            let message = said.unwrap_or_else(|| clean_line(&format!("{}. {}", refusal.message, refusal.hint)));
            (crate::http::status(refusal.code), "Your answer was not taken", Some(message))
        }
    };
    let page = visitor.frame("link", headline, None);
    render(status, &Whole { page, headline, card: Some(card), message, class: "error", confirm: None })
}

fn read(visitor: &Visitor, signed: &str) -> Result<(Link, InboxEntry), Refusal> {
    let link = visitor.site.links.read(signed, visitor.site.hub.now())?;
    let entry = visitor.site.hub.inbox_entry(&link.question)?;
    Ok((link, entry))
}

fn show(visitor: &Visitor, link: &Link, entry: &InboxEntry) -> Response {
    let is_moot = !entry.question.status.is_open() || entry.question.round != link.round;
    let message = is_moot.then(|| "This question has its answer already; there is nothing left to confirm.".to_owned());
    let confirm = link.answer.as_ref().filter(|_| !is_moot).map(|answer| label(&entry.question, answer));
    let headline = if is_moot { "Nothing left to answer" } else { "Confirm your answer" };
    let card = Some(Card::new(entry, visitor.site.hub.now()));
    let page = visitor.frame("link", headline, None);
    render(StatusCode::OK, &Whole { page, headline, card, message, class: "dim", confirm })
}

/// A forged or expired link; what is said of it never holds the link itself.
fn refuse(visitor: &Visitor, refusal: &Refusal) -> Response {
    if refusal.code == Code::Unauthorized {
        turned_down(&visitor.site, "with a link", refusal);
    }
    visitor.refuse(refusal)
}

fn label(question: &Question, answer: &Value) -> String {
    let option = question.options.iter().find(|option| *answer == option.id.as_str());
    let text =
        option.map_or_else(|| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned), |it| it.label.clone());
    clean_line(&text)
}
