//! The agent that was asked is invoked: by one at a time, once more if that fails, and then a human is to decide.

use serde_json::{Value, json};

use super::{Now, answer, bounds, escalate, follow_up, rights};
use crate::canonical;
use crate::command::Cause;
use crate::contract::{AgentReply, lack};
use crate::event::{AgentCallFailed, AgentCalled, Event};
use crate::id::AgentName;
use crate::party::Party;
use crate::question::{Entry, EntryKind, Question};
use crate::refusal::{Code, Refusal};
use crate::team::{Call, CallDeed, FAILURES};

/// The longest error that is kept, and the most of a reply that a human is shown first, in characters.
const LONGEST_ERROR: usize = 500;

pub(super) fn decide(now: &Now<'_>, question: &Question, deed: &CallDeed) -> Result<Vec<Event>, Refusal> {
    let agent = asked(question)?;
    let call = question.call.as_ref().filter(|call| call.round == question.round);
    match deed {
        CallDeed::Begin { process, over } => {
            if let Some(claim) = call.and_then(|it| it.claim.as_ref()).filter(|claim| over.as_ref() != Some(claim)) {
                let message = format!("{agent} is being asked {} since {}", question.id, claim.at);
                return Err(Refusal::new(Code::Conflict, message, "leave it to those who invoked it"));
            }
            now.rules.agent(agent)?.provider.as_ref().ok_or_else(|| {
                let hint = format!("give it one in .querent/config.toml: [agents.{agent}] provider = …");
                Refusal::new(Code::AgentError, format!("{agent} has no provider, so nobody can invoke it"), hint)
            })?;
            let attempt = call.map_or(0, |it| it.attempt) + 1;
            let (question, round) = (question.id.clone(), question.round);
            Ok(vec![AgentCalled { question, agent: agent.clone(), round, attempt, process: process.clone() }.into()])
        }
        CallDeed::Fail { claim, error } => {
            let Some(call) = call.filter(|it| it.claim.as_ref() == Some(claim)) else {
                let message = format!("{} is not asked {} under this claim (any more)", agent, question.id);
                return Err(Refusal::new(Code::Conflict, message, "leave it to those who do"));
            };
            Ok(failed(now, question, agent, call, error))
        }
    }
}

fn failed(now: &Now<'_>, question: &Question, agent: &AgentName, call: &Call, error: &str) -> Vec<Event> {
    let error = bounds::cut(error, LONGEST_ERROR);
    let escalated =
        (call.failures + 1 >= FAILURES).then(|| escalate::escalated(now, question, Some(&error), Cause::AgentError));
    let (id, round) = (question.id.clone(), question.round);
    let failed = AgentCallFailed { question: id, agent: agent.clone(), round, error };
    [failed.into()].into_iter().chain(escalated.into_iter().flatten()).collect()
}

/// The agent whose turn it is to answer.
fn asked(question: &Question) -> Result<&AgentName, Refusal> {
    let agent = question.to.agent().filter(|_| question.status.is_open());
    agent.ok_or_else(|| {
        let message = format!("{} is {} and waits for {}", question.id, question.status, question.to);
        Refusal::new(Code::InvalidTransition, message, "only an agent that is asked is invoked")
            .with(json!({ "question_id": question.id, "status": question.status }))
    })
}

/// What the agent said. What does not answer is kept, and it is asked on; past the last round a human is to decide.
pub(super) fn reply(now: &Now<'_>, question: &Question, round: u32, reply: &AgentReply) -> Result<Vec<Event>, Refusal> {
    rights::agent(now.command, "a reply")?;
    rights::to_answer(question, &now.command.by)?;
    if question.round != round {
        let message = format!("{} is in round {}, not in round {round}", question.id, question.round);
        return Err(Refusal::new(Code::InvalidTransition, message, "answer what is asked now"));
    }
    let given = answer::decide(now, question, &reply.answer, note(reply).as_deref());
    let lack = lack(reply, !question.options.is_empty()).filter(|_| !is_choice(&given, question));
    let why = match (&given, lack) {
        (Err(refusal), _) if refusal.code != Code::QuestionInvalidAnswer => return given,
        (Ok(_), None) => return given,
        (_, Some(lack)) => lack.follow_up().to_owned(),
        (Err(refusal), None) => format!("Your reply cannot be taken: {}; {}.", refusal.message, refusal.hint),
    };
    asked(question)?;
    let kept = given.ok().into_iter().flatten().filter(|event| matches!(event, Event::QuestionAnswered(_)));
    Ok(kept.chain(ask_on(now, question, &why, &reply.answer)).collect())
}

/// Whether one of the options was chosen, whatever it is called: `none` may be one.
fn is_choice(given: &Result<Vec<Event>, Refusal>, question: &Question) -> bool {
    let chosen = |event: &Event| matches!(event, Event::QuestionAnswered(it) if !it.answer.free_text);
    !question.options.is_empty() && given.as_ref().is_ok_and(|events| events.iter().any(chosen))
}

fn ask_on(now: &Now<'_>, question: &Question, prompt: &str, said: &Value) -> Vec<Event> {
    if question.round >= question.max_rounds {
        return escalate::with_summary(now, question, summary(question, said), Cause::MaxRounds);
    }
    vec![follow_up::next_round(now, question, prompt, Some(Party::Querent))]
}

/// What a human must know of a question that has come to its last round without an answer.
fn summary(question: &Question, said: &Value) -> String {
    let (asker, agent) = (&question.from.agent, &question.to);
    let rounds = match question.max_rounds {
        1 => "its only round".to_owned(),
        most => format!("{most} rounds"),
    };
    let said = match said {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        other => canonical::text(other),
    };
    let said = if said.is_empty() { "nothing".to_owned() } else { bounds::cut(&said, LONGEST_ERROR) };
    let own = |entry: &&Entry| entry.kind == EntryKind::Question && entry.from != Party::Querent;
    let prompt = question.thread.iter().rev().find(own).map_or(&question.prompt, |entry| &entry.body);
    format!("{agent} did not answer {asker} in {rounds}\n{agent} says: {said}\n{asker} asks: {prompt}")
}

/// What is kept beside the answer.
fn note(reply: &AgentReply) -> Option<String> {
    let said = |name: &str, text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(format!("{name}: {}", bounds::cut(text, 900)))
    };
    let lines: Vec<String> =
        [said("Evidence", &reply.evidence), said("Uncertain", &reply.uncertainty)].into_iter().flatten().collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
