//! What people configured: the agents, the limits and the workflows. Decisions take it as a fact.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::channel::{self, Channel, Serve};
use crate::id::{AgentName, ChannelName, EventName};
use crate::moment::Span;
use crate::nearest;
use crate::provider::ProviderConfig;
use crate::question::{Blocker, Category, words};
use crate::refusal::{Code, Refusal};
use crate::workflow::Workflow;

/// All that a decision takes from the project's files.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// `config.toml`.
    pub config: Config,
    /// `workflows/*.toml`, by name.
    pub workflows: BTreeMap<String, Workflow>,
}

impl Rules {
    /// The place of an agent in the line; the last for one that is not declared.
    pub fn rank(&self, agent: &AgentName) -> u32 {
        self.config.agents.get(agent).map_or_else(last, |agent| agent.rank)
    }

    /// The agents that listen to an event.
    pub fn listeners(&self, event: &EventName) -> Vec<AgentName> {
        self.config.agents.iter().filter(|(_, it)| it.hears(event)).map(|(name, _)| name.clone()).collect()
    }

    /// The agent of this name, or a refusal that names the nearest one.
    pub fn agent(&self, name: &AgentName) -> Result<&Agent, Refusal> {
        self.config.agents.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.config.agents.keys().map(AgentName::as_str).collect();
            let near = nearest::of(name.as_str(), known.iter().copied());
            let hint = match near {
                Some(near) => format!(
                    "did you mean `{near}`? Declared are {}; a person is `human` or `human:NAME`",
                    known.join(", ")
                ),
                None => format!("declare it in .querent/config.toml: [agents.{name}]"),
            };
            Refusal::new(Code::UnknownAgent, format!("there is no agent `{name}`"), hint)
                .with(json!({ "agent": name, "known": known, "nearest": near }))
        })
    }

    /// The workflow of this name, or a refusal that names the nearest one.
    pub fn workflow(&self, name: &str) -> Result<&Workflow, Refusal> {
        self.workflows.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.workflows.keys().map(String::as_str).collect();
            let hint = match nearest::of(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add .querent/workflows/{name}.toml, or use one of: {}", known.join(", ")),
            };
            Refusal::new(Code::InvalidInput, format!("there is no workflow `{name}`"), hint)
                .with(json!({ "field": "workflow", "known": known }))
        })
    }

    /// The channel of this name, or a refusal that names the nearest one.
    pub fn channel(&self, name: &ChannelName) -> Result<&Channel, Refusal> {
        self.config.notify.iter().find(|channel| channel.name() == *name).ok_or_else(|| {
            let known: Vec<ChannelName> = self.config.notify.iter().map(Channel::name).collect();
            let hint = match nearest::of(name.as_str(), known.iter().map(ChannelName::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to .querent/config.toml: [[notify]]".to_owned(),
            };
            Refusal::new(Code::InvalidInput, format!("there is no channel `{name}`"), hint)
                .with(json!({ "field": "channel", "known": known }))
        })
    }

    /// The workflow of an item that names none.
    pub fn default_workflow(&self) -> &str {
        match (&self.config.project.workflow, self.workflows.len()) {
            (Some(name), _) => name,
            (None, 1) => self.workflows.keys().next().map_or("feature", String::as_str),
            (None, _) => "feature",
        }
    }
}

/// `.querent/config.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The project.
    pub project: ProjectConfig,
    /// How humans are asked.
    #[serde(default)]
    pub human_input: HumanInput,
    /// When the monitor acts.
    #[serde(default)]
    pub monitor: Patience,
    /// The roles.
    #[serde(default)]
    pub agents: BTreeMap<AgentName, Agent>,
    /// The server.
    #[serde(default)]
    pub serve: Serve,
    /// How people are notified.
    #[serde(default, deserialize_with = "channel::named")]
    pub notify: Vec<Channel>,
    /// How a team is run.
    #[serde(default)]
    pub run: Run,
    /// How agents are invoked.
    #[serde(default)]
    pub providers: BTreeMap<String, ProviderConfig>,
}

/// `[project]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectConfig {
    /// What people call it.
    pub name: String,
    /// The workflow of items that name none.
    #[serde(default)]
    pub workflow: Option<String>,
    /// How readily agents ask.
    #[serde(default = "smart")]
    pub autonomy: Autonomy,
}

fn smart() -> Autonomy {
    Autonomy::Smart
}

words!(
    /// How readily agents ask.
    Autonomy {
        /// Known answers are used; the rest is asked.
        Smart = "smart",
        /// Everything is asked.
        AlwaysAsk = "always_ask",
        /// Nothing is asked; fallbacks are taken.
        NeverAsk = "never_ask",
    }
);

/// `[human_input]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HumanInput {
    /// Whether humans may be asked at all.
    pub enabled: bool,
    /// How long a human has.
    pub timeout: Span,
    /// What happens then to a blocking question without a fallback.
    pub on_timeout: OnTimeout,
    /// How many blocking questions to humans may be open on an item.
    pub max_open_blocking: u32,
    /// How many answered questions an agent finds in its context.
    pub answer_history: u32,
    /// For how long the answer to a question stands when the same is asked again on its item.
    pub cooldown: Span,
    /// The questions that may expire although they are of a kind that never does.
    pub allow_timeout_for: Vec<Guarded>,
    /// What is done wrong on purpose.
    #[cfg(feature = "fault-injection")]
    #[serde(skip)]
    pub faults: Faults,
}

/// What is done wrong on purpose, so that a simulator can show that it would notice. Nothing by default.
#[cfg(feature = "fault-injection")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Items that should go on do not.
    pub drop_resume: bool,
}

impl Default for HumanInput {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Span::minutes(15),
            on_timeout: OnTimeout::Wait,
            max_open_blocking: 1,
            answer_history: 3,
            cooldown: Span::minutes(24 * 60),
            allow_timeout_for: Vec::new(),
            #[cfg(feature = "fault-injection")]
            faults: Faults::default(),
        }
    }
}

impl HumanInput {
    /// Whether a question of this category and blocker may end without an answer.
    pub fn may_expire(&self, category: Category, blocker: Blocker) -> bool {
        let guarded = [
            (category == Category::PermissionOverride).then_some(Guarded::PermissionOverride),
            (category == Category::RiskAck).then_some(Guarded::RiskAck),
            (blocker == Blocker::SecurityDecision).then_some(Guarded::SecurityDecision),
        ];
        guarded.into_iter().flatten().all(|it| self.allow_timeout_for.contains(&it))
    }
}

/// `[run]`: how a team is run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// How many items are worked on at a time.
    pub parallel: usize,
    /// Whether each item is worked on in a git worktree of its own.
    pub worktrees: bool,
    /// How long a gate may take.
    pub gate_timeout: Span,
}

impl Default for Run {
    fn default() -> Self {
        Self { parallel: 4, worktrees: true, gate_timeout: Span::minutes(10) }
    }
}

/// `[monitor]`: for how long a session may say nothing, or not get on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// How long a component or a session may show no sign of life.
    pub silence: Span,
    /// How long a session may work without getting on, before it is found to be stuck.
    pub stuck: Span,
    /// From then on a human decides what becomes of it.
    pub escalate: Span,
    /// From then on it is given up.
    pub interrupt: Span,
    /// The steps in which a session is stuck sooner or later than elsewhere.
    pub steps: BTreeMap<String, Span>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            silence: Span::minutes(5),
            stuck: Span::minutes(10),
            escalate: Span::minutes(20),
            interrupt: Span::minutes(30),
            steps: BTreeMap::new(),
        }
    }
}

impl Patience {
    /// The least of all: whoever got on later than that is well.
    pub(crate) fn least(&self) -> Span {
        let own = self.steps.values().copied().min().unwrap_or(self.stuck);
        own.min(self.silence).min(self.stuck).min(Span::minutes(5))
    }

    /// How long a session may go without getting on in a step.
    pub fn in_step(&self, step: Option<&str>) -> Span {
        let own = step.and_then(|step| self.steps.get(step)).copied();
        own.unwrap_or_else(|| match step {
            Some("database") => Span::minutes(5),
            Some("tests") => Span::minutes(15),
            _ => self.stuck,
        })
    }
}

words!(
    /// What happens to a blocking question without a fallback when its time has passed.
    OnTimeout {
        /// It stays open, with reminders.
        Wait = "wait",
        /// Its item is blocked.
        Block = "block",
        /// Its item fails.
        Fail = "fail",
    }
);

words!(
    /// The questions that never expire unless the policy says so.
    Guarded {
        /// Their blocker is a security decision.
        SecurityDecision = "security_decision",
        /// They want leave to do what is not allowed.
        PermissionOverride = "permission_override",
        /// They want a risk acknowledged.
        RiskAck = "risk_ack",
    }
);

/// `[agents.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its place in the line: upstream ranks first.
    #[serde(default = "last")]
    pub rank: u32,
    /// How its questions to humans are judged.
    #[serde(default)]
    pub gate: Gate,
    /// How it is invoked: the name of a provider.
    #[serde(default)]
    pub provider: Option<String>,
    /// What it is told in every turn: who it is and how it works.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The events that it listens to; `alert.*` stands for all that begin so.
    #[serde(default)]
    pub on: Vec<String>,
    /// How long it may work on an item, all turns together.
    #[serde(default)]
    pub budget: Option<Span>,
}

impl Agent {
    /// One with this place in the line, whose questions to humans are judged so, and nothing else.
    pub fn new(rank: u32, gate: Gate) -> Self {
        Self { rank, gate, provider: None, instructions: None, on: Vec::new(), budget: None }
    }

    /// Whether it listens to an event.
    pub fn hears(&self, event: &EventName) -> bool {
        let is_meant = |wanted: &String| match wanted.strip_suffix('*') {
            Some(start) => event.as_str().starts_with(start),
            None => wanted == event.as_str(),
        };
        self.on.iter().any(is_meant)
    }
}

fn last() -> u32 {
    100
}

words!(
    /// How an agent's questions to humans are judged.
    #[derive(Default)]
    Gate {
        /// By scope alone.
        #[default]
        Open = "open",
        /// By the four conditions.
        Strict = "strict",
    }
);
