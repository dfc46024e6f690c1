//! A question is opened.

use super::{Now, autonomy, bounds, deadlines, gate, known, not_runnable, resume, rights, start_session, strict};
use crate::answer::{self, Expected};
use crate::command::Ask;
use crate::event::{Event, QuestionAsked, QuotaTaken};
use crate::moment::Span;
use crate::question::{Asker, Blocker, Choice, Question, Status};
use crate::refusal::Refusal;

pub(super) fn decide(now: &Now<'_>, ask: &Ask) -> Result<Vec<Event>, Refusal> {
    let agent = rights::agent(now.command, "a question")?;
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nothing is asked on it any more"));
    }
    let session = start_session::own(now.item, agent, ask.session.as_ref())?;
    bounds::question(ask)?;
    let aim = gate::aim(now, agent, ask)?;
    let mut question = question(now, Asker { agent: agent.clone(), session }, ask, &aim)?;
    let pattern = known::pattern(now, &question);
    if let Some(pattern) = &pattern {
        let known = known::reused(now, &question, pattern).or_else(|| known::learned(now, &aim, &question, pattern));
        if let Some(known) = known {
            return Ok(known);
        }
    }
    let (max_rounds, strict) = gate::pass(now, &question, ask, &aim)?;
    question.max_rounds = max_rounds;
    set_deadlines(now, &mut question, ask.expires_in.or(strict.then_some(strict::TIMEOUT)), aim.sla());
    if autonomy::asks_nobody(now, &question) {
        return autonomy::decide(now, question);
    }
    let taken = strict.then(|| QuotaTaken { question: question.id.clone() }.into());
    let pause = (question.blocking && question.to.is_human()).then(|| resume::pause(now, &question.id)).flatten();
    let pattern = pattern.map(|pattern| pattern.fingerprint());
    let asked =
        QuestionAsked { question: Box::new(question), via: now.command.via, pattern, strict, about_session: false };
    Ok([asked.into()].into_iter().chain(pause).chain(taken).collect())
}

fn set_deadlines(now: &Now<'_>, question: &mut Question, expires_in: Option<Span>, sla: Span) {
    let policy = &now.rules.config.human_input;
    let expires_in = expires_in.map(deadlines::clamped);
    if question.to.is_human() {
        deadlines::for_human(question, policy, expires_in, now.at);
    } else {
        deadlines::for_agent(question, policy, sla, expires_in, now.at);
    }
}

/// The question as it is asked; how many rounds it has and when it is due is not known yet.
fn question(now: &Now<'_>, from: Asker, ask: &Ask, aim: &gate::Aim<'_>) -> Result<Question, Refusal> {
    let expected = match &ask.expected {
        Some(expected) => expected.clone(),
        None if ask.options.is_empty() => Expected::Text,
        None => Expected::SingleChoice,
    };
    if let Some(fallback) = &ask.fallback {
        check_fallback(&fallback.answer, &expected, &ask.options, ask.allow_free_text)?;
    }
    let pauses = aim.blocking && aim.to.is_human();
    Ok(Question {
        id: now.item.question_id(now.item.asked.saturating_add(1)),
        item: now.item.id.clone(),
        from,
        asked: aim.to.clone(),
        to: aim.to.clone(),
        kind: aim.kind,
        category: aim.category,
        blocker: ask.blocker.unwrap_or(Blocker::None),
        topic: ask.topic.clone(),
        prompt: ask.prompt.clone(),
        context: ask.context.clone(),
        details: ask.details.clone(),
        options: ask.options.clone(),
        expected,
        allow_free_text: ask.allow_free_text,
        blocking: aim.blocking,
        fallback: ask.fallback.clone(),
        evidence: ask.evidence.clone(),
        tags: ask.tags.clone(),
        round: 1,
        max_rounds: 1,
        status: Status::Open,
        created_at: now.at,
        stale_at: None,
        remind_at: None,
        expires_at: None,
        resume_stage: pauses.then(|| resume::stage(now)),
        answer: None,
        cause: None,
        deliveries: Vec::new(),
        call: None,
        thread: Vec::new(),
        version: 0,
    })
}

/// A fallback is an answer that the question itself would accept.
fn check_fallback(
    given: &serde_json::Value,
    expected: &Expected,
    options: &[Choice],
    free: bool,
) -> Result<(), Refusal> {
    answer::read(given, expected, options, free).map(drop).map_err(|refusal| {
        Refusal::invalid(
            "fallback",
            format!("the fallback does not answer the question: {}", refusal.message),
            refusal.hint,
        )
    })
}
