//! A question is opened.

use super::{Now, autonomy, bounds, deadlines, gate, not_runnable, resume, rights, start_session};
use crate::answer::{self, Expected};
use crate::command::Ask;
use crate::event::{Event, QuestionAsked};
use crate::id::{AgentName, SessionId};
use crate::question::{Asker, Blocker, Choice, Question, Status};
use crate::refusal::Refusal;

pub(super) fn decide(now: &Now<'_>, ask: &Ask) -> Result<Vec<Event>, Refusal> {
    let agent = rights::agent(now.command, "a question")?;
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nothing is asked on it any more"));
    }
    let session = start_session::own(now.item, agent, ask.session.as_ref())?;
    bounds::question(ask)?;
    // A known answer (the same question within its cooldown, or a learned one) is looked up here, before the gate.
    let passed = gate::pass(now, agent, ask)?;
    let question = question(now, agent, session, ask, passed)?;
    if autonomy::asks_nobody(now, &question) {
        return autonomy::decide(now, question);
    }
    let pause = (question.blocking && question.to.is_human()).then(|| resume::pause(now, &question.id)).flatten();
    let asked = QuestionAsked { question: Box::new(question), via: now.command.via };
    Ok([asked.into()].into_iter().chain(pause).collect())
}

fn question(
    now: &Now<'_>,
    agent: &AgentName,
    session: SessionId,
    ask: &Ask,
    passed: gate::Passed,
) -> Result<Question, Refusal> {
    let expected = match &ask.expected {
        Some(expected) => expected.clone(),
        None if ask.options.is_empty() => Expected::Text,
        None => Expected::SingleChoice,
    };
    if let Some(fallback) = &ask.fallback {
        check_fallback(&fallback.answer, &expected, &ask.options, ask.allow_free_text)?;
    }
    let pauses = passed.blocking && passed.to.is_human();
    let mut question = Question {
        id: now.item.question_id(now.item.asked.saturating_add(1)),
        item: now.item.id.clone(),
        from: Asker { agent: agent.clone(), session },
        asked: passed.to.clone(),
        to: passed.to,
        kind: passed.kind,
        category: passed.category,
        blocker: ask.blocker.unwrap_or(Blocker::None),
        topic: ask.topic.clone(),
        prompt: ask.prompt.clone(),
        context: ask.context.clone(),
        details: ask.details.clone(),
        options: ask.options.clone(),
        expected,
        allow_free_text: ask.allow_free_text,
        blocking: passed.blocking,
        fallback: ask.fallback.clone(),
        evidence: ask.evidence.clone(),
        tags: ask.tags.clone(),
        round: 1,
        max_rounds: passed.max_rounds,
        status: Status::Open,
        created_at: now.at,
        stale_at: None,
        remind_at: None,
        expires_at: None,
        resume_stage: pauses.then(|| resume::stage(now)),
        answer: None,
        thread: Vec::new(),
        version: 0,
    };
    let policy = &now.rules.config.human_input;
    let expires_in = ask.expires_in.map(deadlines::clamped);
    if question.to.is_human() {
        deadlines::for_human(&mut question, policy, expires_in, now.at);
    } else {
        deadlines::for_agent(&mut question, policy, passed.sla, expires_in, now.at);
    }
    Ok(question)
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
