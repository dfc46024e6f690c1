//! Who may do what to a question.

use serde_json::json;

use crate::command::Command;
use crate::id::AgentName;
use crate::party::Party;
use crate::policy::Rules;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

/// Whoever calls is declared, and is not somebody that only Querent may be.
pub(super) fn known(command: &Command, rules: &Rules) -> Result<(), Refusal> {
    match &command.by {
        Party::Agent(agent) => rules.agent(agent).map(drop),
        Party::Human(_) => Ok(()),
        Party::Querent if command.action.is_querents() => Ok(()),
        Party::Querent => Err(Refusal::invalid("by", "nobody acts as `querent`", "name a declared agent or `human`")),
    }
}

/// The agent itself or a human acts for an agent.
pub(super) fn of_agent(command: &Command, agent: &AgentName) -> Result<(), Refusal> {
    match &command.by {
        Party::Agent(by) if by != agent => Err(Refusal::new(
            Code::NotOwner,
            format!("the session is {agent}'s, not {by}'s"),
            format!("{agent} or a human may do this"),
        )
        .with(json!({ "agent": agent }))),
        Party::Agent(_) | Party::Human(_) | Party::Querent => Ok(()),
    }
}

/// The asker, a human or a deadline may go on with a question.
pub(super) fn to_go_on(question: &Question, by: &Party) -> Result<(), Refusal> {
    match by {
        Party::Agent(agent) if *agent != question.from.agent => Err(Refusal::new(
            Code::NotAsker,
            format!("{agent} did not ask {}; {} did", question.id, question.from.agent),
            format!("{} or a human may do this", question.from.agent),
        )
        .with(json!({ "question_id": question.id, "asker": question.from.agent }))),
        Party::Agent(_) | Party::Human(_) | Party::Querent => Ok(()),
    }
}

/// The addressee or a human may answer.
pub(super) fn to_answer(question: &Question, by: &Party) -> Result<(), Refusal> {
    let Party::Agent(agent) = by else { return Ok(()) };
    match &question.to {
        Party::Agent(to) if to == agent => Ok(()),
        Party::Agent(to) => Err(Refusal::new(
            Code::NotAddressee,
            format!("{} is addressed to {to}, not to {agent}", question.id),
            format!("{to} or a human may answer it"),
        )
        .with(json!({ "question_id": question.id, "to": to }))),
        Party::Human(_) | Party::Querent => Err(Refusal::new(
            Code::HumanOnly,
            format!("{} is addressed to a human; {agent} may not answer it", question.id),
            "leave it to a person, or withdraw it and decide with what you know",
        )
        .with(json!({ "question_id": question.id, "to": "human" }))),
    }
}

/// The agent that calls, where only an agent can.
pub(super) fn agent<'a>(command: &'a Command, what: &str) -> Result<&'a AgentName, Refusal> {
    command.by.agent().ok_or_else(|| {
        Refusal::invalid(
            "from",
            format!("{what} comes from an agent, not from `{}`", command.by),
            "name a declared agent",
        )
    })
}

/// A human calls, where only a human may.
pub(super) fn human(command: &Command, what: &str) -> Result<(), Refusal> {
    if command.by.is_human() {
        return Ok(());
    }
    Err(Refusal::new(Code::HumanOnly, format!("only a person may {what}"), "leave it to a person"))
}
