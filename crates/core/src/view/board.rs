//! The items, and what is ready to be worked on.

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, ItemId, QuestionId};
use crate::item::{Item, Stage};
use crate::moment::Moment;
use crate::policy::Rules;

/// An item as every surface shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemView {
    /// Its id.
    pub id: ItemId,
    /// What it is about.
    pub title: String,
    /// The workflow it follows.
    pub workflow: String,
    /// Where it is.
    pub stage: Stage,
    /// Where it goes on.
    pub resume_stage: Option<Stage>,
    /// The oldest blocking question to a human.
    pub open_question_id: Option<QuestionId>,
    /// How many of them are open.
    pub open_question_count: usize,
    /// Since when it waits for a human.
    pub awaiting_since: Option<Moment>,
    /// Whether something that it was built on turned out to be wrong.
    pub needs_rework: bool,
    /// Why it stands where it stands.
    pub status_reason: Option<String>,
}

impl ItemView {
    /// The view of an item.
    pub fn of(item: &Item) -> Self {
        Self {
            id: item.id.clone(),
            title: item.title.clone(),
            workflow: item.workflow.clone(),
            stage: item.stage.clone(),
            resume_stage: item.resume_stage.clone(),
            open_question_id: item.blocking_human().next().map(|(id, _)| id),
            open_question_count: item.blocking_human().count(),
            awaiting_since: item.awaiting_since,
            needs_rework: item.needs_rework,
            status_reason: item.status_reason.clone(),
        }
    }
}

/// An item that an agent could work on, or the reason why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadyView {
    /// Its id.
    pub id: ItemId,
    /// What it is about.
    pub title: String,
    /// Where it is.
    pub stage: Stage,
    /// Whose turn it is.
    pub agent: Option<AgentName>,
    /// Whether nothing can be done on it now.
    pub blocked: bool,
    /// Why not: `BLOCKED: …`.
    pub reason: Option<String>,
}

/// The place of an item in the ready queue; none for an item that has ended or only waits to be merged.
pub fn ready(item: &Item, rules: &Rules) -> Option<ReadyView> {
    if item.has_ended() || item.stage == Stage::ReadyToMerge {
        return None;
    }
    let workflow = rules.workflow(&item.workflow).ok();
    let step = item.step().and_then(|step| workflow?.step(step));
    let waits = item.open.iter().find(|(_, question)| question.blocking);
    let why = match waits {
        Some((number, question)) => {
            Some(format!("clarification pending ({} waits for {})", item.question_id(*number), question.to))
        }
        None if item.stage == Stage::Blocked => {
            Some(item.status_reason.clone().unwrap_or_else(|| "a person must move it on".to_owned()))
        }
        None => None,
    };
    Some(ReadyView {
        id: item.id.clone(),
        title: item.title.clone(),
        stage: item.stage.clone(),
        agent: step.map(|step| step.agent.clone()),
        blocked: why.is_some(),
        reason: why.map(|why| format!("BLOCKED: {why}")),
    })
}
