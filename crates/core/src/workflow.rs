//! A workflow: ordered steps, each with its agent and what that agent may ask.

use serde::Deserialize;

use crate::id::{AgentName, EventName};
use crate::item::{Item, Stage};
use crate::moment::Span;

/// The steps that an item goes through.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Its name, by which items choose it.
    pub name: String,
    /// Its steps, in order; never empty once it is loaded.
    pub steps: Vec<Step>,
}

/// One step, and the asking rights of its agent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, which is a stage of the item.
    pub name: String,
    /// Who does it.
    pub agent: AgentName,
    /// The agents that may be asked; the first is asked where none is named.
    #[serde(default)]
    pub can_clarify: Vec<AgentName>,
    /// The last round of a thread; 5 for blocking questions and 6 for others where it is absent.
    #[serde(default)]
    pub clarify_max_rounds: Option<u32>,
    /// How long an agent has for its answer.
    #[serde(default = "thirty")]
    pub clarify_sla_minutes: u32,
    /// Whether the asker may wait.
    #[serde(default = "yes")]
    pub clarify_blocking_allowed: bool,
    /// Whether humans may be asked.
    #[serde(default = "yes")]
    pub can_ask_human: bool,
    /// Whether this is planning: strict questions are asked here only.
    #[serde(default)]
    pub planning: bool,
    /// What its agent is told to do.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The files that come of it, by path or glob: what its agent is asked about later.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// The commands that must succeed before it is done.
    #[serde(default)]
    pub gates: Vec<String>,
    /// The events that must have happened before it begins.
    #[serde(default)]
    pub waits_for: Vec<EventName>,
}

fn thirty() -> u32 {
    30
}

fn yes() -> bool {
    true
}

impl Step {
    /// One with nothing but a name and an agent.
    pub fn new(name: impl Into<String>, agent: AgentName) -> Self {
        Self {
            name: name.into(),
            agent,
            can_clarify: Vec::new(),
            clarify_max_rounds: None,
            clarify_sla_minutes: thirty(),
            clarify_blocking_allowed: true,
            can_ask_human: true,
            planning: false,
            instructions: None,
            artifacts: Vec::new(),
            gates: Vec::new(),
            waits_for: Vec::new(),
        }
    }

    /// How long an agent has for its answer.
    pub fn sla(&self) -> Span {
        Span::minutes(u64::from(self.clarify_sla_minutes))
    }

    /// The last round of a thread that this step's agent begins.
    pub fn max_rounds(&self, blocking: bool) -> u32 {
        self.clarify_max_rounds.unwrap_or(if blocking { 5 } else { 6 })
    }
}

impl Workflow {
    /// The step of this name.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// The stage that follows the step of this name.
    pub fn after(&self, name: &str) -> Stage {
        let place = self.steps.iter().position(|step| step.name == name);
        match place.and_then(|place| self.steps.get(place + 1)) {
            Some(next) => Stage::Step(next.name.clone()),
            None => Stage::ReadyToMerge,
        }
    }

    /// The step whose rights `agent` has on `item`: the current one if it is its own, else its own one.
    pub fn step_of(&self, agent: &AgentName, item: &Item) -> Option<&Step> {
        let current = item.step().and_then(|name| self.step(name)).filter(|step| step.agent == *agent);
        current.or_else(|| self.steps.iter().find(|step| step.agent == *agent))
    }

    /// Whether any of its steps waits for an event.
    pub fn waits_for(&self, event: &EventName) -> bool {
        self.steps.iter().any(|step| step.waits_for.contains(event))
    }

    /// The first step, where a new item stands and where an item goes whose own step is gone.
    pub fn first(&self) -> Option<&Step> {
        self.steps.first()
    }
}
