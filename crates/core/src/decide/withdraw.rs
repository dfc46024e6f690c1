//! The asker takes its question back.

use serde_json::json;

use super::{Now, bounds, resume, rights};
use crate::event::{Event, QuestionWithdrawn};
use crate::question::{Question, Status};
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, reason: Option<&str>) -> Result<Vec<Event>, Refusal> {
    rights::to_go_on(question, &now.command.by)?;
    if let Some(reason) = reason {
        bounds::text("reason", reason, 1, 2_000)?;
    }
    if !question.status.is_open() {
        let id = &question.id;
        let hint = match question.status {
            Status::Answered => format!("it has an answer; settle it: querent resolve {id}"),
            _ => "it is settled; there is nothing to take back".to_owned(),
        };
        let message = format!("{id} is {}; only an open question is withdrawn", question.status);
        return Err(Refusal::new(Code::InvalidTransition, message, hint)
            .with(json!({ "question_id": id, "status": question.status })));
    }
    let resumed = resume::after(now, &question.id, "withdrawn");
    let reason = reason.map(str::to_owned);
    let withdrawn = QuestionWithdrawn { question: question.id.clone(), reason, via: now.command.via };
    Ok([withdrawn.into()].into_iter().chain(resumed).collect())
}
