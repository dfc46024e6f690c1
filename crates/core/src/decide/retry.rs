//! A deadline: the addressee had its time; it is called once more and has the same time again.

use super::{Now, deadlines};
use crate::event::{Event, QuestionRetried, QuestionStale};
use crate::moment::Span;
use crate::question::Question;
use crate::refusal::{Code, Refusal};
use crate::workflow::Step;

pub(super) fn decide(now: &Now<'_>, question: &Question) -> Result<Vec<Event>, Refusal> {
    let passed = question.stale_at.is_some_and(|stale_at| stale_at <= now.at);
    if !passed || !deadlines::is_first_sla(question) {
        let message = format!("{} is not due for a retry", question.id);
        return Err(Refusal::new(Code::InvalidTransition, message, "leave deadlines to Querent"));
    }
    let (id, to) = (question.id.clone(), question.to.clone());
    let stale_at = now.at.plus(sla(now, question));
    Ok(vec![QuestionStale { question: id.clone(), stale_at }.into(), QuestionRetried { question: id, to }.into()])
}

/// How long the addressee has, by the step of the asker.
pub(super) fn sla(now: &Now<'_>, question: &Question) -> Span {
    let workflow = now.rules.workflow(&now.item.workflow).ok();
    let step = workflow.and_then(|it| it.step_of(&question.from.agent, now.item));
    step.map_or(Span::minutes(30), Step::sla)
}
