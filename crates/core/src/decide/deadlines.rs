//! When a question is due: to be called again, to be reminded of, to end.

use crate::moment::{Moment, Span};
use crate::policy::{HumanInput, OnTimeout};
use crate::question::{Question, Status};

/// The time that an agent may give: nobody can answer within seconds, and nothing should be forgotten for weeks.
pub(super) fn clamped(expires_in: Span) -> Span {
    expires_in.clamp(Span::minutes(1), Span::minutes(7 * 24 * 60))
}

/// Sets the deadlines of a question that waits for a human from `at` on.
pub(super) fn for_human(question: &mut Question, policy: &HumanInput, expires_in: Option<Span>, at: Moment) {
    let by_policy = question.fallback.is_some() || (question.blocking && policy.on_timeout != OnTimeout::Wait);
    question.stale_at = None;
    question.expires_at = if policy.may_expire(question.category, question.blocker) {
        let asked_for = expires_in.map(|span| at.plus(span)).or(ahead(question, at));
        asked_for.or_else(|| by_policy.then(|| at.plus(policy.timeout)))
    } else {
        None
    };
    let patience = match question.expires_at {
        Some(end) => Some(end.since(at)),
        None => question.blocking.then_some(policy.timeout),
    };
    question.remind_at = patience.map(|span| at.plus(span.half()));
}

/// Sets the deadlines of a question that waits for an agent from `at` on.
pub(super) fn for_agent(question: &mut Question, policy: &HumanInput, sla: Span, expires_in: Option<Span>, at: Moment) {
    question.stale_at = Some(at.plus(sla));
    if policy.may_expire(question.category, question.blocker) {
        question.expires_at = expires_in.map(|span| at.plus(span)).or(ahead(question, at));
    }
}

/// The end that was set before, unless it passed while the question had an answer: a new round is not born dead.
fn ahead(question: &Question, at: Moment) -> Option<Moment> {
    question.expires_at.filter(|end| *end > at)
}

/// When a human is reminded again: once on the way to an end; else ever more rarely, for as long as it waits. An agent
/// has its SLA instead.
pub(super) fn next_reminder(question: &Question, at: Moment) -> Option<Moment> {
    match question.expires_at.filter(|end| *end > at) {
        _ if !question.to.is_human() => None,
        Some(_) => None,
        None => Some(at.plus(at.since(question.created_at).max(Span::minutes(1)))),
    }
}

/// Whether the addressee's time has passed for the first time.
pub(super) fn is_first_sla(question: &Question) -> bool {
    question.status == Status::Open
}
