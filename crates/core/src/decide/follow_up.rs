//! The next round of an answered question; past the last round, a human is to decide.

use super::{Now, bounds, deadlines, escalate, not_runnable, retry, rights};
use crate::command::Cause;
use crate::event::{Event, QuestionFollowedUp};
use crate::item::OpenQuestion;
use crate::party::Party;
use crate::question::{Question, Status};
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, prompt: &str) -> Result<Vec<Event>, Refusal> {
    rights::to_go_on(question, &now.command.by)?;
    bounds::text("prompt", prompt, 1, 2_000)?;
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "no round may begin on it"));
    }
    if question.status != Status::Answered {
        let hint = match question.status {
            it if it.is_final() => "ask a new question",
            _ => "wait for the answer first",
        };
        let message = format!("{} is {}; only an answered question has a next round", question.id, question.status);
        return Err(Refusal::new(Code::InvalidTransition, message, hint)
            .with(serde_json::json!({ "question_id": question.id, "status": question.status })));
    }
    if question.round >= question.max_rounds {
        return Ok(escalate::escalated(now, question, Some(prompt), Cause::MaxRounds));
    }
    Ok(vec![next_round(now, question, prompt, None)])
}

/// The next round begins; `from` asks it, where that is not whoever made it happen.
pub(super) fn next_round(now: &Now<'_>, question: &Question, prompt: &str, from: Option<Party>) -> Event {
    let mut next = question.clone();
    next.status = Status::Open;
    next.round += 1;
    deadlines::for_agent(&mut next, &now.rules.config.human_input, retry::sla(now, question), None, now.at);
    QuestionFollowedUp {
        question: next.id.clone(),
        round: next.round,
        prompt: prompt.to_owned(),
        stale_at: next.stale_at,
        waits: OpenQuestion::of(&next),
        via: now.command.via,
        from,
    }
    .into()
}
