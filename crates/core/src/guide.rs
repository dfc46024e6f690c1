//! How the agents of a project ask, told from its rules: a short text for their instructions.

use std::fmt::Write as _;

use serde::Serialize;

use crate::id::AgentName;
use crate::moment::Span;
use crate::policy::{Autonomy, Gate, Guarded, HumanInput, OnTimeout, Rules};
use crate::refusal::Refusal;
use crate::workflow::Step;

/// Everything that a guide tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guide {
    /// The project's name.
    pub project: String,
    /// The agent that it speaks to; none if it speaks to all.
    pub agent: Option<AgentName>,
    /// How readily agents ask.
    pub autonomy: Autonomy,
    /// What they may do, upstream first.
    pub agents: Vec<AgentGuide>,
    /// How humans are asked.
    pub human_input: HumanGuide,
}

/// What one agent may do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentGuide {
    /// The agent.
    pub agent: AgentName,
    /// Its place in the line.
    pub rank: u32,
    /// How its questions to humans are judged.
    pub gate: Gate,
    /// Its steps; none means that it may ask nobody.
    pub steps: Vec<StepGuide>,
}

/// What an agent may do in a step. Workflows whose steps are alike share one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepGuide {
    /// The workflows that have it.
    pub workflows: Vec<String>,
    /// The step.
    pub step: String,
    /// Whom the agent may ask; the first is asked where none is named.
    pub may_ask: Vec<String>,
    /// Whether it may wait for the answer.
    pub blocking_allowed: bool,
    /// The last round of a blocking question.
    pub max_rounds_blocking: u32,
    /// The last round of another.
    pub max_rounds: u32,
    /// How long an agent has for its answer.
    pub sla: Span,
    /// Whether it is planning, where alone strict questions are asked.
    pub planning: bool,
}

/// How humans are asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HumanGuide {
    /// Whether they are.
    pub enabled: bool,
    /// How long they have.
    pub timeout: Span,
    /// What happens then to a blocking question without a fallback.
    pub on_timeout: OnTimeout,
    /// How many blocking questions to humans may be open on an item.
    pub max_open_blocking: u32,
    /// The questions that wait for ever.
    pub never_expire: Vec<Guarded>,
}

/// The guide for one agent, or for all; an agent that is not declared is refused.
pub fn guide(rules: &Rules, agent: Option<&AgentName>) -> Result<Guide, Refusal> {
    agent.map(|name| rules.agent(name)).transpose()?;
    let mut agents: Vec<AgentGuide> = rules
        .config
        .agents
        .iter()
        .filter(|(name, _)| agent.is_none_or(|only| only == *name))
        .map(|(name, it)| AgentGuide { agent: name.clone(), rank: it.rank, gate: it.gate, steps: steps(rules, name) })
        .collect();
    agents.sort_by_key(|it| it.rank);
    Ok(Guide {
        project: rules.config.project.name.clone(),
        agent: agent.cloned(),
        autonomy: rules.config.project.autonomy,
        agents,
        human_input: human(&rules.config.human_input),
    })
}

fn steps(rules: &Rules, agent: &AgentName) -> Vec<StepGuide> {
    let mut found: Vec<StepGuide> = Vec::new();
    // The workflow that most items follow comes first.
    let default = rules.default_workflow();
    let (first, rest): (Vec<_>, Vec<_>) = rules.workflows.iter().partition(|(name, _)| *name == default);
    for (workflow, it) in first.into_iter().chain(rest) {
        for step in it.steps.iter().filter(|step| step.agent == *agent) {
            let new = StepGuide::of(workflow, step, rules);
            let alike = |old: &&mut StepGuide| StepGuide { workflows: new.workflows.clone(), ..(**old).clone() } == new;
            match found.iter_mut().find(alike) {
                Some(old) => old.workflows.push(workflow.clone()),
                None => found.push(new),
            }
        }
    }
    found
}

impl StepGuide {
    fn of(workflow: &str, step: &Step, rules: &Rules) -> Self {
        let human = step.can_ask_human && rules.config.human_input.enabled;
        let may_ask = step.can_clarify.iter().map(ToString::to_string).chain(human.then(|| "human".to_owned()));
        Self {
            workflows: vec![workflow.to_owned()],
            step: step.name.clone(),
            may_ask: may_ask.collect(),
            blocking_allowed: step.clarify_blocking_allowed,
            max_rounds_blocking: step.max_rounds(true),
            max_rounds: step.max_rounds(false),
            sla: step.sla(),
            planning: step.planning,
        }
    }
}

fn human(policy: &HumanInput) -> HumanGuide {
    let never = Guarded::ALL.iter().copied().filter(|it| !policy.allow_timeout_for.contains(it));
    HumanGuide {
        enabled: policy.enabled,
        timeout: policy.timeout,
        on_timeout: policy.on_timeout,
        max_open_blocking: policy.max_open_blocking.max(1),
        never_expire: never.collect(),
    }
}

/// What holds in every project.
const WHEN: &str = "\
Do not guess and do not stop: ask. Ask when two readings of the task lead to different work, when something is missing
that is not in the repository, or when the decision is not yours (security, law, money, taste). Look first in the code,
the documents and earlier answers (`querent questions --status all`). Do not ask what they say, what is easily undone,
what was asked before, or what you were told to decide yourself: decide, and record the assumption with
`querent assume --item ID --agent AGENT --decision \"…\" --reasoning \"…\" --confidence medium --risk low`.

| kind | for | waits |
|---|---|---|
| `blocking` | you cannot go on without the answer | yes |
| `clarifying` | the answer makes it better; you have a safe default | no |
| `confirming` | you are nearly sure | no |
| `preference` | a matter of taste, worth remembering | no |
| `educational`, `celebratory` | people should think ahead; something went well | no |
";

const HOW: &str = "\
```sh
querent ask --item ID --from AGENT --to WHO --topic \"…\" --question \"…\" --context \"…\" \\
  --option a=\"…\" --option b=\"…\" --recommend a --fallback a --because \"…\" --wait 10m --json
```

- Ask one thing, so that it stands alone: the reader has not seen your work. Name files, errors and values; give options.
- Add `--no-blocking` where you can go on. Without `--wait`, wait later: `querent await CLR-ID-001`.
- Enough: `querent resolve CLR-ID-001 --by AGENT`. Unclear: `querent follow-up CLR-ID-001 --from AGENT --question \"…\"`.
- An answer that people gave before comes back at once (`reused`, or `provenance: learned`): work with it.
- A refusal says in `hint` what to do; `advice` in a reply says how to ask better.
- Its MCP tools, where you have them: `question_create`, `await_answer`, `question_resolve`, `record_assumption`, `get_context`.
";

const STRICT: &str = "\
Ask a human only if all four hold; if one does not, decide and record an assumption.

1. A blocker: `--blocker` `mutually_exclusive_requirements`, `missing_external_data` or `security_decision`.
2. `--evidence` for `codebase_search=…`, `similar_features=…`, `attempted_inference=…`; with `--complex`, `investigation=…`.
3. Quota: the first such question of your session, and no other one active in the project.
4. The item stands in a planning step.

Ask one question, with two options or more and a `--fallback` that is one of them. There is one round, and 5m for the answer.
";

impl Guide {
    /// The guide as Markdown, for a system prompt or an instructions file.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let whom = self.agent.as_ref().map(|agent| format!(" for {agent}")).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = write!(text, "## Asking with Querent{whom}\n\n{WHEN}");
        let _ = write!(text, "\n### How\n\n{HOW}\n### Whom\n\n");
        if let Some(agent) = &self.agent {
            text = text.replace("AGENT", agent.as_str());
        }
        self.whom(&mut text);
        let asks = self.human_input.enabled && self.autonomy != Autonomy::NeverAsk;
        let strict = self.agents.iter().filter(|it| asks && it.gate == Gate::Strict);
        let strict: Vec<&str> = strict.map(|it| it.agent.as_str()).collect();
        if !strict.is_empty() {
            let _ = write!(text, "\n### Strict gate: {}\n\n{STRICT}", strict.join(", "));
        }
        let _ = write!(text, "\n### When nobody answers\n\n{}", self.silence());
        text
    }

    fn whom(&self, text: &mut String) {
        text.push_str("| agent | step | may ask | may wait | rounds | an agent has |\n|---|---|---|---|---|---|\n");
        for it in &self.agents {
            if it.steps.is_empty() {
                let _ = writeln!(text, "| {} | none | nobody | | | |", it.agent);
            }
            for step in &it.steps {
                let _ = writeln!(text, "{}", step.row(&it.agent));
            }
        }
        text.push_str("\nWithout `--to` the first is asked. ");
        let human = &self.human_input;
        if human.enabled {
            let questions = if human.max_open_blocking == 1 { "question" } else { "questions" };
            let most = human.max_open_blocking;
            let _ = write!(
                text,
                "`permission_override`, `external_decision` and `risk_ack` (`--category`) go to a human.\nAn item has at \
                 most {most} open blocking {questions} to a human.",
            );
        } else {
            text.push_str("Questions to humans are switched off in this project.");
        }
        text.push_str(match self.autonomy {
            Autonomy::Smart => "\n",
            Autonomy::AlwaysAsk => " This project wants everything asked.\n",
            Autonomy::NeverAsk => {
                " This project\nasks no human: your fallback is taken at once, and without one you are refused.\n"
            }
        });
    }

    fn silence(&self) -> String {
        let human = &self.human_input;
        let mut text =
            "- An agent that lets its time pass is called once more, then a human is asked. So it is after the \
                        last round.\n"
                .to_owned();
        if !human.enabled {
            return text;
        }
        let then = match human.on_timeout {
            OnTimeout::Wait => "waits on, with reminders".to_owned(),
            OnTimeout::Block => format!("blocks the item after {}", human.timeout),
            OnTimeout::Fail => format!("fails the item after {}", human.timeout),
        };
        let _ = writeln!(
            text,
            "- A human has {} (`--expires-in` sets another time). Then your fallback is taken and recorded as an \
             assumption.\n- A blocking question without a fallback {then}. A later answer still counts.",
            human.timeout
        );
        let never: Vec<String> = human.never_expire.iter().map(|it| format!("`{it}`")).collect();
        if !never.is_empty() {
            let _ = writeln!(text, "- Never decided by silence: {}.", never.join(", "));
        }
        text
    }
}

impl StepGuide {
    fn row(&self, agent: &AgentName) -> String {
        let whom = if self.may_ask.is_empty() { "nobody".to_owned() } else { self.may_ask.join(", ") };
        let planning = if self.planning { "; planning" } else { "" };
        let (waits, rounds) = match (self.blocking_allowed, self.max_rounds_blocking, self.max_rounds) {
            (false, _, other) => ("no", other.to_string()),
            (true, blocking, other) if blocking == other => ("yes", other.to_string()),
            (true, blocking, other) => ("yes", format!("{blocking} waiting, {other} else")),
        };
        let (step, workflows, sla) = (cell(&self.step), cell(&self.workflows.join(", ")), self.sla);
        format!("| {agent} | {step} ({workflows}{planning}) | {whom} | {waits} | {rounds} | {sla} |")
    }
}

/// A name that people chose, so that it stays in its cell.
fn cell(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
