//! What people read after a call: what happened, and what to do now.

use querent_core::reply::{AnswerReply, AskReply, StatusReply};
use querent_core::view::ItemView;
use querent_core::{Answer, Moment, Provenance, Question, Stage, Status};

use super::output::{Page, Paint};
use super::table::Cell;
use crate::text::{age, clean_line, hanging};

/// The status of a question in its colour, and where its answer comes from if nobody gave it.
pub(crate) fn status_cell(question: &Question) -> Cell {
    let provenance = question.answer.as_ref().map(|answer| answer.provenance);
    let instead = provenance.filter(|it| matches!(it, Provenance::Fallback | Provenance::Learned));
    let text = instead.map_or_else(|| question.status.to_string(), |it| format!("{} ({it})", question.status));
    Cell::painted(text, status_paint(question.status))
}

/// The colour of a status.
pub(crate) fn status_paint(status: Status) -> Paint {
    match status {
        Status::Open | Status::Stale => Paint::Warn,
        Status::Escalated => Paint::Bad,
        Status::Answered | Status::Resolved => Paint::Good,
        Status::Expired | Status::Withdrawn => Paint::Dim,
    }
}

/// The colour of a stage.
pub(crate) fn stage_cell(stage: &Stage) -> Cell {
    let paint = match stage {
        Stage::Step(_) => Paint::Plain,
        Stage::AwaitingInput => Paint::Warn,
        Stage::Blocked | Stage::Failed => Paint::Bad,
        Stage::ReadyToMerge | Stage::Merged => Paint::Good,
    };
    Cell::painted(stage.as_str(), paint)
}

/// After `ask` and `follow-up`.
pub(crate) fn asked(page: &mut Page, reply: &AskReply) {
    let AskReply { question_id: id, status, to, round, max_rounds, .. } = reply;
    page.paint(Paint::Bold, &id.to_string());
    if reply.reused {
        page.line(format!(" to {to} is {status}: the same was asked before, and the answer stands."));
    } else {
        page.line(format!(" to {to} is {status} (round {round} of {max_rounds})."));
    }
    if let Some(answer) = &reply.answer {
        said(page, answer);
    }
    if reply.item_stage == Some(Stage::AwaitingInput) {
        let goes_on = reply.resume_stage.as_ref().map(|stage| format!(" and then goes on in {stage}"));
        page.line(format!("Item {} waits for a human{}.", id.item, goes_on.unwrap_or_default()));
    }
    for advice in &reply.advice {
        page.paint(Paint::Warn, "advice: ");
        page.line(hanging(advice, 2));
    }
    match status {
        Status::Answered => after_an_answer(page, &id.to_string()),
        it if it.is_open() && to.is_human() => {
            page.next(format!(
                "a person answers with `querent answer {id} --answer …`; wait with `querent await {id}`"
            ));
        }
        it if it.is_open() => {
            page.next(format!(
                "{to} answers with `querent answer {id} --by {to} --answer …`; wait with `querent await {id}`"
            ));
        }
        _ => {}
    }
}

/// After `answer` and `await`.
pub(crate) fn answered(page: &mut Page, reply: &AnswerReply) {
    let AnswerReply { question_id: id, status, .. } = reply;
    page.paint(Paint::Bold, &id.to_string());
    page.line(format!(" is {status}."));
    match &reply.answer {
        Some(answer) => said(page, answer),
        None => page.line("It has no answer."),
    }
    if *status == Status::Expired && reply.answer.as_ref().is_some_and(|it| it.provenance == Provenance::Human) {
        page.line("It came after the question had expired; it is kept, and is the answer now.");
    }
    match (reply.resumed, &reply.item_stage) {
        (true, Some(stage)) => page.line(format!("Item {} goes on in {stage}.", id.item)),
        (false, Some(Stage::AwaitingInput)) => page.line(format!("Item {} still waits for a human.", id.item)),
        _ => {}
    }
    if *status == Status::Answered {
        after_an_answer(page, &id.to_string());
    }
}

/// After `resolve`, `escalate` and `withdraw`.
pub(crate) fn settled(page: &mut Page, reply: &StatusReply) {
    let StatusReply { question_id: id, status, item_stage } = reply;
    page.paint(Paint::Bold, &id.to_string());
    page.line(format!(" is {status}."));
    if let Some(stage) = item_stage {
        page.line(format!("Item {} is in {stage}.", id.item));
    }
    if status.is_open() {
        page.next(format!("a person answers with `querent answer {id} --answer …`"));
    }
}

/// One item.
pub(crate) fn item(page: &mut Page, item: &ItemView, now: Moment) {
    page.paint(Paint::Bold, item.id.as_str());
    page.line(format!("  {}", clean_line(&item.title)));
    page.line(format!("  workflow  {}", item.workflow));
    page.line(format!("  stage     {}", item.stage));
    if let Some(stage) = &item.resume_stage {
        page.line(format!("  goes on   in {stage}"));
    }
    if let Some(since) = item.awaiting_since {
        page.line(format!("  waits     {} for a human", age(now, since)));
    }
    if let Some(id) = &item.open_question_id {
        page.line(format!("  open      {} blocking to a human, the oldest is {id}", item.open_question_count));
    }
    if item.needs_rework {
        page.line("  rework    something that it was built on turned out to be wrong");
    }
    if let Some(reason) = &item.status_reason {
        page.line(format!("  because   {}", clean_line(reason)));
    }
}

fn said(page: &mut Page, answer: &Answer) {
    let text = hanging(&answer.text, 2);
    page.line(match answer.provenance {
        Provenance::Human | Provenance::Agent => format!("{}: {text}", answer.by),
        Provenance::Learned => format!("learned from earlier answers: {text}"),
        Provenance::Fallback => format!("nobody answered; the declared fallback holds: {text}"),
    });
}

fn after_an_answer(page: &mut Page, id: &str) {
    page.next(format!(
        "settle it with `querent resolve {id}`, or ask on with `querent follow-up {id} --from … --question …`"
    ));
}
