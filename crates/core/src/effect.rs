//! What the world still owes an item. Derived from state, so a crash loses nothing and a replay repeats nothing.

use crate::id::{AgentName, QuestionId};
use crate::question::Status;
use crate::state::State;

/// Something to be done outside. Its id is the same however often it is derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What makes it the same effect.
    pub id: String,
    /// The question that it serves.
    pub question: QuestionId,
    /// What is to be done.
    pub kind: EffectKind,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Call the agent that was asked.
    CallAgent {
        /// The agent.
        agent: AgentName,
        /// 1 at first, 2 when it let its time pass.
        attempt: u32,
    },
    /// Let a human know.
    NotifyHuman,
}

/// What is owed for the questions at hand.
pub fn outstanding(state: &State) -> Vec<Effect> {
    let open = state.questions.values().filter(|question| question.status.is_open());
    open.map(|question| {
        let (id, round) = (&question.id, question.round);
        match question.to.agent() {
            Some(agent) => {
                let attempt = if question.status == Status::Stale { 2 } else { 1 };
                let kind = EffectKind::CallAgent { agent: agent.clone(), attempt };
                Effect { id: format!("call:{id}:{round}:{attempt}"), question: id.clone(), kind }
            }
            None => Effect { id: format!("notify:{id}:{round}"), question: id.clone(), kind: EffectKind::NotifyHuman },
        }
    })
    .collect()
}
