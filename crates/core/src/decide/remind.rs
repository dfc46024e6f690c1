//! A deadline: the human is reminded.

use super::{Now, deadlines};
use crate::event::{Event, QuestionReminded};
use crate::item::OpenQuestion;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question) -> Result<Vec<Event>, Refusal> {
    let passed = question.remind_at.is_some_and(|remind_at| remind_at <= now.at);
    if !passed || !question.status.is_open() {
        let message = format!("{} is not due for a reminder", question.id);
        return Err(Refusal::new(Code::InvalidTransition, message, "leave deadlines to Querent"));
    }
    Ok(vec![reminded(now, question, true)])
}

/// The reminder; without `ends`, the question has no end any more and waits.
pub(super) fn reminded(now: &Now<'_>, question: &Question, ends: bool) -> Event {
    let mut next = question.clone();
    next.expires_at = question.expires_at.filter(|_| ends);
    next.remind_at = deadlines::next_reminder(&next, now.at);
    QuestionReminded {
        question: next.id.clone(),
        remind_at: next.remind_at,
        expires_at: next.expires_at,
        waits: OpenQuestion::of(&next),
    }
    .into()
}
