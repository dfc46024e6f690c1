//! An agent has done its work; its step is over if nothing blocking is open.

use super::{Now, rights, start_session};
use crate::event::{Event, ItemMoved, SessionFinished};
use crate::id::SessionId;
use crate::item::Stage;
use crate::refusal::Refusal;

pub(super) fn decide(now: &Now<'_>, session: Option<&SessionId>, keep: bool) -> Result<Vec<Event>, Refusal> {
    let agent = rights::agent(now.command, "a session")?;
    let session = start_session::own(now.item, agent, session)?;
    let mut events: Vec<Event> = vec![SessionFinished { session, agent: agent.clone() }.into()];
    let Stage::Step(step) = &now.item.stage else { return Ok(events) };
    let Ok(workflow) = now.rules.workflow(&now.item.workflow) else { return Ok(events) };
    let own_step = workflow.step(step).is_some_and(|step| step.agent == *agent);
    if own_step && !keep && !now.item.has_open_blocking() {
        let (from, to) = (now.item.stage.clone(), workflow.after(step));
        events.push(ItemMoved { from, to, reason: None, question: None, resume_stage: None }.into());
    }
    Ok(events)
}
