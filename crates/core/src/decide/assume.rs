//! A decision that was taken without being told is put on record: by whoever took it, or because a question ended so.

use serde_json::json;

use super::{Now, bounds, not_runnable, rights};
use crate::answer::Answer;
use crate::assumption::{Assumption, AssumptionStatus, Confidence, RiskIfWrong, Source};
use crate::command::Assume;
use crate::event::{AssumptionConfirmed, AssumptionOverturned, AssumptionRecorded, Event};
use crate::id::AssumptionId;
use crate::question::{Blocker, Question};
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, assume: &Assume) -> Result<Vec<Event>, Refusal> {
    rights::agent(now.command, "an assumption")?;
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nothing is assumed on it any more"));
    }
    bounds::text("decision", &assume.decision, 1, 500)?;
    bounds::text("reasoning", &assume.reasoning, 1, 2_000)?;
    bounds::text("risk_if_wrong.note", assume.risk_if_wrong.note.as_deref().unwrap_or("-"), 1, 500)?;
    if let Some(question) = &assume.question {
        let asked = question.item == now.item.id && question.number <= now.item.asked;
        if !asked {
            let message = format!("item `{}` has no question `{question}`", now.item.id);
            let hint = format!("list them: querent questions --item {} --status all", now.item.id);
            return Err(Refusal::new(Code::QuestionNotFound, message, hint).with(json!({ "question_id": question })));
        }
    }
    Ok(vec![recorded(Assumption {
        id: next(now),
        item: now.item.id.clone(),
        by: now.command.by.clone(),
        decision: assume.decision.clone(),
        blocker: assume.blocker.unwrap_or(Blocker::None),
        source: assume.source,
        reasoning: assume.reasoning.clone(),
        confidence: assume.confidence,
        risk_if_wrong: assume.risk_if_wrong.clone(),
        question_id: assume.question.clone(),
        status: AssumptionStatus::Standing,
        created_at: now.at,
        reviewed: None,
    })])
}

/// What stands on record when the fallback of a question is taken.
pub(super) fn of_fallback(now: &Now<'_>, question: &Question, answer: &Answer, source: Source) -> Option<Event> {
    let reasoning = question.fallback.as_ref()?.reason.clone();
    Some(recorded(Assumption { source, reasoning, ..of_answer(now, question, answer) }))
}

/// What stands on record when a question has an answer that nobody gave.
pub(super) fn of_answer(now: &Now<'_>, question: &Question, answer: &Answer) -> Assumption {
    let level = question.fallback.as_ref().map(|fallback| fallback.risk).unwrap_or_default();
    Assumption {
        id: next(now),
        item: now.item.id.clone(),
        by: crate::party::Party::Agent(question.from.agent.clone()),
        decision: format!("{}: {}", question.topic, answer.text),
        blocker: question.blocker,
        source: Source::default(),
        reasoning: String::new(),
        confidence: Confidence::Medium,
        risk_if_wrong: RiskIfWrong { level, note: None },
        question_id: Some(question.id.clone()),
        status: AssumptionStatus::Standing,
        created_at: now.at,
        reviewed: None,
    }
}

/// What a late answer says of the assumption that was made without it.
pub(super) fn judged(now: &Now<'_>, question: &Question, answer: &Answer, differs: bool) -> Option<Event> {
    let standing =
        |it: &&Assumption| it.question_id.as_ref() == Some(&question.id) && it.status == AssumptionStatus::Standing;
    let assumption = now.item.assumptions.values().rev().find(standing)?.id.clone();
    let via = now.command.via;
    let note = Some(format!("{} answered late: {}", answer.by, answer.text));
    Some(if differs {
        AssumptionOverturned { assumption, note, via }.into()
    } else {
        AssumptionConfirmed { assumption, note, via }.into()
    })
}

fn next(now: &Now<'_>) -> AssumptionId {
    let last = now.item.assumptions.last_key_value().map_or(0, |(number, _)| *number);
    AssumptionId { item: now.item.id.clone(), number: last.saturating_add(1) }
}

pub(super) fn recorded(assumption: Assumption) -> Event {
    AssumptionRecorded { assumption: Box::new(assumption) }.into()
}
