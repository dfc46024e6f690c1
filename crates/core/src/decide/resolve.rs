//! The asker has what it needs, or a human settles what was escalated.

use serde_json::json;

use super::{Now, answer, bounds, known, resume, rights};
use crate::answer::Answer;
use crate::event::{Event, QuestionResolved};
use crate::question::{Question, Status};
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, note: Option<&str>) -> Result<Vec<Event>, Refusal> {
    rights::to_go_on(question, &now.command.by)?;
    if let Some(note) = note {
        bounds::text("note", note, 1, 2_000)?;
    }
    let answer = match question.status {
        Status::Answered => None,
        Status::Escalated if now.command.by.is_human() => Some(decision(now, question, note)?),
        _ => return Err(too_early_or_late(question)),
    };
    let lesson = answer.as_ref().map(|answer| known::lesson(now, question, answer)).unwrap_or_default();
    let resumed = resume::after(now, &question.id, "resolved");
    let note = note.map(str::to_owned);
    let resolved = QuestionResolved { question: question.id.clone(), note, answer, via: now.command.via };
    Ok([resolved.into()].into_iter().chain(resumed).chain(lesson).collect())
}

/// A human's note on an escalated question is its answer, whatever form was expected.
fn decision(now: &Now<'_>, question: &Question, note: Option<&str>) -> Result<Answer, Refusal> {
    let Some(note) = note else {
        return Err(Refusal::invalid(
            "note",
            format!("{} was escalated and has no answer yet", question.id),
            "say what holds: --note \"…\", or use querent answer",
        ));
    };
    let mut open = question.clone();
    open.allow_free_text = true;
    answer::given_by(now, &open, &json!(note)).or_else(|_| {
        open.expected = crate::Expected::Text;
        answer::given_by(now, &open, &json!(note)).map(|it| Answer { free_text: true, ..it })
    })
}

fn too_early_or_late(question: &Question) -> Refusal {
    let id = &question.id;
    let hint = match question.status {
        it if it.is_final() => "it is settled; ask a new question if the matter is open again".to_owned(),
        _ => format!("wait for the answer, or take the question back: querent withdraw {id}"),
    };
    let message = format!("{id} is {}; only an answered question is resolved", question.status);
    Refusal::new(Code::InvalidTransition, message, hint).with(json!({ "question_id": id, "status": question.status }))
}
