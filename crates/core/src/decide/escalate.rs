//! A human is to decide. The item waits if the asker does.

use serde_json::json;

use super::{Now, alert, bounds, deadlines, not_runnable, resume, rights};
use crate::alert::Alarm;
use crate::command::Cause;
use crate::event::{Event, QuestionEscalated};
use crate::item::OpenQuestion;
use crate::monitor::{FindingKind, Severity};
use crate::party::Party;
use crate::question::{EntryKind, Question, Status};
use crate::refusal::{Code, Refusal};

pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    summary: Option<&str>,
    cause: Cause,
) -> Result<Vec<Event>, Refusal> {
    rights::to_go_on(question, &now.command.by)?;
    if let Some(summary) = summary {
        bounds::text("summary", summary, 1, 2_000)?;
    }
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nothing on it is escalated any more"));
    }
    if question.status.is_final() || question.to.is_human() {
        let id = &question.id;
        let why = if question.status.is_final() { "it is settled" } else { "a human has it already" };
        let message = format!("{id} is {}; {why}", question.status);
        return Err(Refusal::new(Code::InvalidTransition, message, format!("look at it: querent show {id}"))
            .with(json!({ "question_id": id, "status": question.status })));
    }
    if cause == Cause::Deadlock && !(question.blocking && question.status.is_open()) {
        let message = format!("{} is {}; nobody waits for it any more", question.id, question.status);
        return Err(Refusal::new(Code::InvalidTransition, message, "look again: querent monitor"));
    }
    let alarm = (cause == Cause::Deadlock).then(|| alarm(question, summary.unwrap_or_default()));
    let alert = alarm.and_then(|alarm| alert::raise(now.state, alarm, now.at));
    Ok(escalated(now, question, summary, cause).into_iter().chain(alert).collect())
}

fn alarm(question: &Question, cycle: &str) -> Alarm {
    let id = &question.id;
    Alarm {
        kind: FindingKind::Deadlock,
        severity: Severity::Critical,
        source: id.to_string(),
        message: format!("{cycle}: {id} went to a human"),
        context: json!({ "question_id": id, "item": id.item, "cycle": cycle }),
    }
}

/// The escalation itself, with the pause that it makes.
pub(super) fn escalated(now: &Now<'_>, question: &Question, said: Option<&str>, cause: Cause) -> Vec<Event> {
    with_summary(now, question, summary(question, said, cause), cause)
}

/// The same, where a human must know something else.
pub(super) fn with_summary(now: &Now<'_>, question: &Question, summary: String, cause: Cause) -> Vec<Event> {
    let mut next = question.clone();
    next.status = Status::Escalated;
    next.to = Party::HUMAN;
    deadlines::for_human(&mut next, &now.rules.config.human_input, None, now.at);
    let resume_stage = next.blocking.then(|| resume::stage(now));
    let pause = next.blocking.then(|| resume::pause(now, &next.id)).flatten();
    let event = QuestionEscalated {
        question: next.id.clone(),
        cause,
        summary,
        resume_stage,
        remind_at: next.remind_at,
        expires_at: next.expires_at,
        waits: OpenQuestion::of(&next),
        via: now.command.via,
    };
    [event.into()].into_iter().chain(pause).collect()
}

/// What a human must know: why it comes to them, and where both sides stand.
fn summary(question: &Question, said: Option<&str>, cause: Cause) -> String {
    let (asker, addressee) = (&question.from.agent, &question.to);
    let why = match cause {
        Cause::Requested => format!("{asker} and {addressee} need a human's decision"),
        Cause::MaxRounds => {
            let rounds = if question.max_rounds == 1 { "round" } else { "rounds" };
            format!("{asker} and {addressee} did not agree in {} {rounds}", question.max_rounds)
        }
        Cause::Sla => format!("{addressee} did not answer {asker} in time, twice"),
        Cause::Stuck => format!("{asker} and {addressee} go in circles: {}", said.unwrap_or("they repeat themselves")),
        Cause::AgentError => format!("{addressee} could not answer {asker}: {}", said.unwrap_or("it failed twice")),
        Cause::Deadlock => format!("a deadlock: {}", said.unwrap_or("agents wait for each other")),
    };
    let last = |kind| question.thread.iter().rev().find(|entry| entry.kind == kind);
    let stands = last(EntryKind::Answer).map(|entry| format!("{} says: {}", entry.from, entry.body));
    let asks = match (cause, said) {
        (Cause::MaxRounds, Some(prompt)) => Some(format!("{asker} still asks: {prompt}")),
        (Cause::Requested | Cause::Sla, Some(summary)) => Some(summary.to_owned()),
        _ => last(EntryKind::Question).map(|entry| format!("{} asks: {}", entry.from, entry.body)),
    };
    [Some(why), stands, asks].into_iter().flatten().collect::<Vec<_>>().join("\n")
}
