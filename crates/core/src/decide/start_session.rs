//! An agent begins to work. It moves nothing.

use super::{Now, not_runnable, rights};
use crate::event::{Event, SessionStarted};
use crate::id::{AgentName, SessionId};
use crate::item::{Item, Stage};
use crate::refusal::Refusal;
use crate::session::Process;

pub(super) fn decide(
    now: &Now<'_>,
    session: Option<&SessionId>,
    process: Option<&Process>,
) -> Result<Vec<Event>, Refusal> {
    let agent = rights::agent(now.command, "a session")?;
    if matches!(now.item.stage, Stage::AwaitingInput | Stage::Blocked) || now.item.has_ended() {
        return Err(not_runnable(now.item, "no work may start on it"));
    }
    let session = own(now.item, agent, session)?;
    Ok(vec![SessionStarted { session, agent: agent.clone(), process: process.cloned() }.into()])
}

/// The session that is meant. A name that another agent's session has is refused.
pub(super) fn own(item: &Item, agent: &AgentName, session: Option<&SessionId>) -> Result<SessionId, Refusal> {
    let session = session.cloned().unwrap_or_else(|| SessionId::of(agent, &item.id));
    match item.sessions.get(&session) {
        Some(other) if other.agent != *agent => Err(Refusal::invalid(
            "session",
            format!("session `{session}` belongs to {}", other.agent),
            "give each agent's session a name of its own",
        )),
        _ => Ok(session),
    }
}
