//! What the world still owes an item. Derived from state, so a crash loses nothing and a replay repeats nothing.

use crate::delivery::{Occasion, effect_id, owed};
use crate::id::{AgentName, ChannelName, QuestionId};
use crate::moment::Moment;
use crate::policy::Rules;
use crate::question::{Question, Status};
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
    /// Let people know through a channel.
    Notify {
        /// The channel.
        channel: ChannelName,
        /// What they are told.
        state: Occasion,
        /// Since when that is so.
        since: Moment,
    },
}

/// What is owed for the questions at hand.
pub fn outstanding(state: &State, rules: &Rules) -> Vec<Effect> {
    let open = state.questions.values().filter(|question| question.status.is_open());
    open.flat_map(|question| match question.to.agent() {
        Some(agent) => vec![call(question, agent)],
        None => notifications(question, rules),
    })
    .collect()
}

fn call(question: &Question, agent: &AgentName) -> Effect {
    let (id, round) = (&question.id, question.round);
    let attempt = if question.status == Status::Stale { 2 } else { 1 };
    let kind = EffectKind::CallAgent { agent: agent.clone(), attempt };
    Effect { id: format!("call:{id}:{round}:{attempt}"), question: id.clone(), kind }
}

fn notifications(question: &Question, rules: &Rules) -> Vec<Effect> {
    let of = |channel| {
        let (state, since) = owed(question, channel)?;
        let name = channel.name();
        let id = effect_id(&question.id, question.round, state, &name);
        Some(Effect { id, question: question.id.clone(), kind: EffectKind::Notify { channel: name, state, since } })
    };
    rules.config.notify.iter().filter_map(of).collect()
}
