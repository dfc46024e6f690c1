//! Files are one agent's, whoever works on them now.

use crate::event::{Event, FileOwned};
use crate::id::AgentName;
use crate::party::Party;
use crate::path::ProjectPath;
use crate::policy::Rules;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(
    path: &ProjectPath,
    agent: Option<&AgentName>,
    by: &Party,
    rules: &Rules,
) -> Result<Vec<Event>, Refusal> {
    if !by.is_human() {
        let message = format!("only a person says whose files are whose, not {by}");
        return Err(Refusal::new(Code::HumanOnly, message, "leave it to a person"));
    }
    if let Some(agent) = agent {
        rules.agent(agent)?;
    }
    Ok(vec![FileOwned { path: path.clone(), agent: agent.cloned() }.into()])
}
