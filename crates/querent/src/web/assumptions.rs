//! The assumptions: what was decided without being told, to be judged by people.

use askama::Template;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use querent_core::{
    Action, Assumption, AssumptionFilter, AssumptionId, AssumptionStatus, Command, Moment, Refusal, Risk, Verdict, Via,
};
use serde_json::Value;

use super::question::assumption_class;
use super::rich::{age, markdown};
use super::{Page, Visitor, form_field, render};
use crate::http::on_thread;
use crate::text::clean_line;

/// How many a page shows.
const MOST: usize = 100;

#[derive(Template)]
#[template(path = "assumptions.html")]
struct Whole {
    page: Page,
    summary: String,
    cards: Vec<AssumptionCard>,
    csrf: Option<String>,
    can_answer: bool,
}

#[derive(Template)]
#[template(path = "assumptions_parts.html")]
struct Parts {
    summary: String,
    cards: Vec<AssumptionCard>,
    csrf: Option<String>,
    can_answer: bool,
}

struct AssumptionCard {
    id: String,
    item: String,
    decision: String,
    status: &'static str,
    class: &'static str,
    is_standing: bool,
    question: Option<String>,
    created_at: String,
    age: String,
    reasoning: String,
    source: &'static str,
    confidence: &'static str,
    risk: &'static str,
    risk_class: &'static str,
    risk_note: Option<String>,
    reviewed: Option<String>,
    error: Option<String>,
}

pub(super) async fn page(visitor: Visitor) -> Response {
    visitor
        .show(|visitor| {
            let Parts { summary, cards, csrf, can_answer } = found(visitor)?;
            let page = visitor.frame("assumptions", "Assumptions", None);
            Ok(Whole { page, summary, cards, csrf, can_answer })
        })
        .await
}

pub(super) async fn parts(visitor: Visitor) -> Response {
    visitor.show(found).await
}

/// A person judges one.
pub(super) async fn review(visitor: Visitor, Path(id): Path<String>, form: Bytes) -> Response {
    let (doer, shown) = (visitor.clone(), id.clone());
    let done = on_thread(move || {
        let id: AssumptionId = id.parse()?;
        let verdict = match form_field(&form, "answer").as_deref() {
            Some("confirm") => Verdict::Confirm,
            Some("overturn") => Verdict::Overturn,
            _ => return Err(Refusal::invalid("answer", "nothing is chosen", "choose confirm or overturn")),
        };
        let note = form_field(&form, "note").filter(|note| !note.trim().is_empty());
        let (item, by) = (id.item.clone(), doer.party()?);
        let action = Action::Review { assumption: id, verdict, note };
        doer.site.hub.execute(&Command { item, by, via: Via::Web, action }, None).read::<Value>().map(drop)
    });
    let refusal = done.await.err();
    match refusal {
        None if !visitor.wants_part => Redirect::to("/assumptions").into_response(),
        Some(refusal) if !visitor.wants_part => visitor.refuse(&refusal),
        refusal => {
            let looker = visitor.clone();
            let one = on_thread(move || one(&looker, &shown.parse()?, refusal.as_ref())).await;
            one.map_or_else(|refusal| visitor.refuse(&refusal), |parts| render(StatusCode::OK, &parts))
        }
    }
}

fn found(visitor: &Visitor) -> Result<Parts, Refusal> {
    let (hub, now) = (&visitor.site.hub, visitor.site.hub.now());
    let standing = hub.assumptions(None, AssumptionFilter::Standing)?;
    let summary = match standing.len() {
        0 => String::new(),
        1 => "1 decision was taken without being told.".to_owned(),
        many if many > MOST => format!("{many} decisions were taken without being told; the {MOST} riskiest are here."),
        many => format!("{many} decisions were taken without being told, the riskiest first."),
    };
    let cards = standing.iter().take(MOST).map(|it| card(it, now)).collect();
    Ok(Parts { summary, cards, csrf: visitor.csrf.clone(), can_answer: visitor.can_answer() })
}

fn one(visitor: &Visitor, id: &AssumptionId, refusal: Option<&Refusal>) -> Result<Parts, Refusal> {
    let hub = &visitor.site.hub;
    let all = hub.assumptions(Some(&id.item), AssumptionFilter::All)?;
    let error = refusal.map(|refusal| clean_line(&format!("{}. {}", refusal.message, refusal.hint)));
    let cards =
        all.iter().filter(|it| it.id == *id).map(|it| AssumptionCard { error: error.clone(), ..card(it, hub.now()) });
    Ok(Parts {
        summary: String::new(),
        cards: cards.collect(),
        csrf: visitor.csrf.clone(),
        can_answer: visitor.can_answer(),
    })
}

fn card(it: &Assumption, now: Moment) -> AssumptionCard {
    AssumptionCard {
        id: it.id.to_string(),
        item: it.item.to_string(),
        decision: clean_line(&it.decision),
        status: it.status.as_str(),
        class: assumption_class(it.status),
        is_standing: it.status == AssumptionStatus::Standing,
        question: it.question_id.as_ref().map(ToString::to_string),
        created_at: it.created_at.to_string(),
        age: age(now, it.created_at),
        reasoning: markdown(&it.reasoning),
        source: it.source.as_str(),
        confidence: it.confidence.as_str(),
        risk: it.risk_if_wrong.level.as_str(),
        risk_class: match it.risk_if_wrong.level {
            Risk::Low => "good",
            Risk::Medium => "warn",
            Risk::High => "bad",
        },
        risk_note: it.risk_if_wrong.note.as_deref().map(clean_line),
        reviewed: it.reviewed.as_ref().map(|reviewed| {
            let note = reviewed.note.as_deref().map(|note| format!(": {}", clean_line(note)));
            format!("{} by {} {} ago{}", it.status, reviewed.by, age(now, reviewed.at), note.unwrap_or_default())
        }),
        error: None,
    }
}
