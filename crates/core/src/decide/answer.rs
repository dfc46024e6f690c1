//! The first answer wins. One that comes after the end is kept.

use serde_json::{Value, json};

use super::{Now, arbitrate, assume, bounds, known, resume, rights};
use crate::answer::{self, Answer, Provenance};
use crate::event::{Event, LateAnswerRecorded, QuestionAnswered};
use crate::question::{Question, Status};
use crate::refusal::{Code, Refusal};

/// The longest note in characters.
const LONGEST_NOTE: usize = 2_000;

pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    given: &Value,
    note: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    rights::to_answer(question, &now.command.by)?;
    let late = is_late(now, question)?;
    let note = note.map(|note| bounds::text("note", note, 1, LONGEST_NOTE).map(|()| note.to_owned())).transpose()?;
    let answer = Answer { note, ..given_by(now, question, given)? };
    let id = question.id.clone();
    if late {
        let differs = question.answer.as_ref().is_some_and(|applied| applied.value != answer.value);
        let judged = assume::judged(now, question, &answer, differs);
        let resumed = resume::after(now, &id, "answered late");
        let lesson = known::lesson(now, question, &answer);
        let pattern = known::pattern(now, question).map(|pattern| pattern.fingerprint());
        let recorded = LateAnswerRecorded { question: id, answer, differs, pattern }.into();
        return Ok([recorded].into_iter().chain(judged).chain(resumed).chain(lesson).collect());
    }
    let status = if now.command.by.is_human() { Status::Resolved } else { Status::Answered };
    let resumed = resume::after(now, &id, "answered");
    let lesson = known::lesson(now, question, &answer);
    let decided = arbitrate::answered(now, question, &answer);
    Ok([QuestionAnswered { question: id, answer, status }.into()]
        .into_iter()
        .chain(resumed)
        .chain(lesson)
        .chain(decided)
        .collect())
}

/// Reads what was given as an answer to `question` by whoever calls.
pub(super) fn given_by(now: &Now<'_>, question: &Question, given: &Value) -> Result<Answer, Refusal> {
    let meaning = answer::read(given, &question.expected, &question.options, question.allow_free_text)?;
    let human = now.command.by.is_human();
    Ok(Answer {
        value: meaning.value,
        text: meaning.text,
        free_text: meaning.free_text,
        by: now.command.by.clone(),
        via: now.command.via,
        at: now.at,
        provenance: if human { Provenance::Human } else { Provenance::Agent },
        learned: None,
        note: None,
    })
}

/// Whether an answer would be a late one; a refusal if none is taken any more.
fn is_late(now: &Now<'_>, question: &Question) -> Result<bool, Refusal> {
    let id = &question.id;
    // What was learned from people is not an agent's to change.
    let human = now.command.by.is_human();
    let provisional =
        |it: &Answer| it.provenance == Provenance::Fallback || (it.provenance == Provenance::Learned && human);
    let stands = question.answer.as_ref().filter(|it| !provisional(it));
    if let (Some(answer), false) = (stands, question.status.is_open()) {
        let message = format!("{id} was answered by {} at {}: {}", answer.by, answer.at, answer.text);
        return Err(Refusal::new(Code::QuestionAlreadyAnswered, message, format!("read it: querent show {id}"))
            .with(json!({ "question_id": id, "status": question.status, "answer": answer })));
    }
    if now.item.has_ended() {
        let message = format!("item `{}` has ended ({}); {id} takes no answer any more", now.item.id, now.item.stage);
        return Err(Refusal::new(
            Code::QuestionAnswerNotAllowedInTerminalState,
            message,
            "open a new item if the matter is still open",
        )
        .with(json!({ "question_id": id, "status": question.status, "item_stage": now.item.stage })));
    }
    match question.status {
        Status::Open | Status::Stale | Status::Escalated => Ok(false),
        Status::Expired => Ok(true),
        Status::Resolved if question.answer.as_ref().is_some_and(provisional) => Ok(true),
        Status::Answered | Status::Resolved | Status::Withdrawn => Err(Refusal::new(
            Code::InvalidTransition,
            format!("{id} is {} and takes no answer", question.status),
            "ask again if the matter is still open",
        )
        .with(json!({ "question_id": id, "status": question.status }))),
    }
}
