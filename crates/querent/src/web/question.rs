//! One question: its thread as a conversation, and all that belongs to it.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use querent_core::{
    Action, AssumptionFilter, AssumptionStatus, Command, Delivery, Entry, EntryKind, Moment, Question, QuestionId,
    Refusal, Via,
};
use serde_json::Value;

use super::card::Card;
use super::rich::{age, markdown};
use super::{Page, Visitor, form_field, form_fields, render};
use crate::http::on_thread;
use crate::text::{clean, clean_line};

#[derive(Template)]
#[template(path = "question.html")]
struct Whole {
    page: Page,
    card: Card,
    entries: Vec<EntryView>,
    evidence: Vec<(String, String)>,
    details: Option<String>,
    deliveries: Vec<String>,
    assumptions: Vec<Related>,
    csrf: Option<String>,
    can_answer: bool,
}

#[derive(Template)]
#[template(path = "question_parts.html")]
struct Parts {
    card: Card,
    entries: Vec<EntryView>,
    evidence: Vec<(String, String)>,
    details: Option<String>,
    deliveries: Vec<String>,
    assumptions: Vec<Related>,
    csrf: Option<String>,
    can_answer: bool,
}

#[derive(Template)]
#[template(path = "card.html")]
struct Alone {
    card: Card,
    csrf: Option<String>,
    can_answer: bool,
}

/// One thing that was said or that happened.
struct EntryView {
    seq: u32,
    round: u32,
    class: &'static str,
    from: String,
    what: &'static str,
    body: Option<String>,
    via: String,
    at: String,
    age: String,
}

/// An assumption that has to do with it.
struct Related {
    id: String,
    status: &'static str,
    class: &'static str,
    decision: String,
}

pub(super) async fn page(visitor: Visitor, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    visitor
        .show(move |visitor| {
            see(visitor, query.as_deref());
            let Parts { card, entries, evidence, details, deliveries, assumptions, csrf, can_answer } =
                parts_of(visitor, &id.parse()?)?;
            let page = visitor.frame("question", &format!("{}: {}", card.id, card.topic), None);
            Ok(Whole { page, card, entries, evidence, details, deliveries, assumptions, csrf, can_answer })
        })
        .await
}

pub(super) async fn parts(visitor: Visitor, Path(id): Path<String>) -> Response {
    visitor.show(move |visitor| parts_of(visitor, &id.parse()?)).await
}

pub(super) async fn card(visitor: Visitor, Path(id): Path<String>) -> Response {
    visitor.show(move |visitor| alone(visitor, &id.parse()?)).await
}

/// An answer from a form: the chosen options, or what was typed.
pub(super) async fn answer(visitor: Visitor, Path(id): Path<String>, form: Bytes) -> Response {
    let act = move |question: &Question| {
        let chosen = form_fields(&form, "answer");
        let typed = form_field(&form, "text").filter(|text| !text.trim().is_empty());
        let is_multi = matches!(question.expected, querent_core::Expected::MultiChoice);
        let answer = match (typed, chosen.as_slice()) {
            (Some(text), []) => Value::from(text),
            (None, [_, ..]) if is_multi => Value::from(chosen),
            (None, [one]) => Value::from(one.clone()),
            (Some(_), _) => {
                let message = "an option is chosen, and something else is typed";
                return Err(Refusal::invalid("answer", message, "leave one of the two out"));
            }
            _ => return Err(Refusal::invalid("answer", "nothing is chosen", "choose an option, or type an answer")),
        };
        let note = form_field(&form, "note").filter(|note| !note.trim().is_empty());
        Ok(Action::Answer { question: question.id.clone(), answer, note })
    };
    carry_out(visitor, id, act).await
}

pub(super) async fn withdraw(visitor: Visitor, Path(id): Path<String>) -> Response {
    carry_out(visitor, id, |question| Ok(Action::Withdraw { question: question.id.clone(), reason: None })).await
}

/// Does what a form wants. The script gets the question as it is now; without it, the browser goes to its page.
async fn carry_out(
    visitor: Visitor,
    id: String,
    act: impl FnOnce(&Question) -> Result<Action, Refusal> + Send + 'static,
) -> Response {
    let id: QuestionId = match id.parse() {
        Ok(id) => id,
        Err(refusal) => return visitor.refuse(&refusal),
    };
    let (doer, asked) = (visitor.clone(), id.clone());
    let done = on_thread(move || {
        let by = doer.party()?;
        let action = act(&doer.site.hub.question(&asked)?)?;
        let command = Command { item: asked.item.clone(), by, via: Via::Web, action };
        doer.site.hub.execute(&command, None).read::<Value>().map(drop)
    });
    let refusal = done.await.err();
    if refusal.is_none() && !visitor.wants_part {
        return Redirect::to(&format!("/q/{id}")).into_response();
    }
    let looker = visitor.clone();
    let (shown, why) = (on_thread(move || alone(&looker, &id)).await, refusal);
    match (shown, why) {
        (Ok(alone), None) => render(StatusCode::OK, &alone),
        (Ok(alone), Some(refusal)) if visitor.wants_part => {
            let card = alone.card.with_error(&refusal);
            render(crate::http::status(refusal.code), &Alone { card, ..alone })
        }
        (_, Some(refusal)) | (Err(refusal), None) => visitor.refuse(&refusal),
    }
}

/// Notes that somebody came by the link of a notification. Whether that worked changes nothing for whoever looks.
fn see(visitor: &Visitor, query: Option<&str>) {
    let signed = form_field(query.unwrap_or_default().as_bytes(), "n");
    let link = signed.and_then(|signed| visitor.site.links.read(&signed, visitor.site.hub.now()).ok());
    if let (Some(link), Ok(by)) = (link, visitor.party()) {
        let _ = visitor.site.hub.see(&link, by);
    }
}

fn alone(visitor: &Visitor, id: &QuestionId) -> Result<Alone, Refusal> {
    let hub = &visitor.site.hub;
    let card = Card::new(&hub.inbox_entry(id)?, hub.now());
    Ok(Alone { card, csrf: visitor.csrf.clone(), can_answer: visitor.can_answer() })
}

fn parts_of(visitor: &Visitor, id: &QuestionId) -> Result<Parts, Refusal> {
    let (hub, now) = (&visitor.site.hub, visitor.site.hub.now());
    let entry = hub.inbox_entry(id)?;
    let question = &entry.question;
    let related = hub.assumptions(Some(&id.item), AssumptionFilter::All)?;
    let assumptions = related.into_iter().map(|it| Related {
        id: it.id.to_string(),
        status: it.status.as_str(),
        class: assumption_class(it.status),
        decision: clean_line(&it.decision),
    });
    let evidence = question.evidence.iter().flatten().map(|(what, found)| (clean_line(what), clean(found)));
    let details = question.details.as_ref().and_then(|details| serde_json::to_string_pretty(details).ok());
    Ok(Parts {
        card: Card::new(&entry, now),
        entries: question.thread.iter().map(|entry| entry_view(entry, now)).collect(),
        evidence: evidence.collect(),
        details: details.map(|details| clean(&details)),
        deliveries: question.deliveries.iter().map(|it| delivery(it, now)).collect(),
        assumptions: assumptions.collect(),
        csrf: visitor.csrf.clone(),
        can_answer: visitor.can_answer(),
    })
}

/// What became of a notification, in one sentence.
fn delivery(it: &Delivery, now: Moment) -> String {
    let error = it.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
    let text = format!("{} ({}): {} {} ago{error}", it.channel, it.state, it.status, age(now, it.at));
    clean_line(&text)
}

pub(super) fn assumption_class(status: AssumptionStatus) -> &'static str {
    match status {
        AssumptionStatus::Standing => "warn",
        AssumptionStatus::Confirmed => "good",
        AssumptionStatus::Overturned => "bad",
    }
}

fn entry_view(entry: &Entry, now: Moment) -> EntryView {
    let (class, what) = match entry.kind {
        EntryKind::Question => ("ask", "asks"),
        EntryKind::Answer => ("reply", "answers"),
        EntryKind::LateAnswer => ("reply", "answers late"),
        EntryKind::Resolution => ("note", "settles it"),
        EntryKind::Escalation => ("note", "hands it to a person"),
        EntryKind::Reminder => ("note", "reminds"),
        EntryKind::Retry => ("note", "asks again"),
        EntryKind::Expiry => ("note", "ends it: its time ran out"),
        EntryKind::Withdrawal => ("note", "takes it back"),
    };
    EntryView {
        seq: entry.seq,
        round: entry.round,
        class,
        from: clean_line(&entry.from.to_string()),
        what,
        body: (!entry.body.is_empty()).then(|| markdown(&entry.body)),
        via: serde_json::to_value(entry.via).ok().and_then(|via| via.as_str().map(str::to_owned)).unwrap_or_default(),
        at: entry.at.to_string(),
        age: age(now, entry.at),
    }
}
