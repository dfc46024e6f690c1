//! Who takes part: the agents, the workflow and the policy of one run, made from its seed.

use fastrand::Rng;
use querent_core::{
    Agent, AgentName, Autonomy, Config, Faults, Gate, HumanInput, OnTimeout, Patience, ProjectConfig, Refusal, Rules,
    Run, Serve, Span, Step, Workflow,
};

/// Who there may be.
const NAMES: [&str; 6] = ["architect", "designer", "engineer", "tester", "writer", "planner"];

/// The rules of a run: three agents or more, one step each, and rights to ask each other that may well form rings.
pub(crate) fn rules(dice: &mut Rng, faults: Faults) -> Result<Rules, Refusal> {
    let mut names: Vec<AgentName> = NAMES.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    dice.shuffle(&mut names);
    names.truncate(dice.usize(3..=NAMES.len()));
    let strict = dice.usize(0..names.len() * 2);
    let agents = names.iter().enumerate().map(|(place, name)| {
        let gate = if place == strict { Gate::Strict } else { Gate::Open };
        let rank = if dice.u8(0..4) == 0 { 100 } else { dice.u32(1..10) };
        (name.clone(), Agent::new(rank, gate))
    });
    let agents = agents.collect();
    let steps = (0..names.len()).map(|place| step(dice, &names, place)).collect();
    let workflow = Workflow { name: "simulated".to_owned(), steps };
    let autonomy = *one_of(dice, &[Autonomy::Smart, Autonomy::Smart, Autonomy::AlwaysAsk, Autonomy::NeverAsk]);
    let config = Config {
        project: ProjectConfig { name: "simulated".to_owned(), workflow: None, autonomy },
        human_input: human_input(dice, faults),
        monitor: Patience::default(),
        agents,
        serve: Serve::default(),
        notify: Vec::new(),
        run: Run::default(),
        providers: std::collections::BTreeMap::new(),
    };
    Ok(Rules { config, workflows: [(workflow.name.clone(), workflow)].into() })
}

/// Somebody edits them: a step goes, steps come back in another order, or people get other deadlines.
pub(crate) fn edit(dice: &mut Rng, rules: &mut Rules) {
    let names: Vec<AgentName> = rules.config.agents.keys().cloned().collect();
    let faults = rules.config.human_input.faults;
    for workflow in rules.workflows.values_mut() {
        match dice.u8(0..3) {
            0 if workflow.steps.len() > 1 => drop(workflow.steps.remove(dice.usize(0..workflow.steps.len()))),
            1 => workflow.steps = (0..names.len()).map(|place| step(dice, &names, place)).collect(),
            _ => rules.config.human_input = human_input(dice, faults),
        }
    }
}

/// Each agent may ask the next one, and perhaps others: a ring.
fn step(dice: &mut Rng, names: &[AgentName], place: usize) -> Step {
    let next = &names[(place + 1) % names.len()];
    let others = names.iter().enumerate().filter(|(other, name)| *other != place && *name != next && dice.bool());
    let can_clarify = [next].into_iter().chain(others.map(|(_, name)| name)).cloned().collect();
    Step {
        can_clarify,
        clarify_max_rounds: (dice.u8(0..3) == 0).then(|| dice.u32(1..4)),
        clarify_sla_minutes: dice.u32(5..90),
        clarify_blocking_allowed: dice.u8(0..8) > 0,
        can_ask_human: dice.u8(0..8) > 0,
        planning: dice.bool(),
        ..Step::new(format!("step-{place}"), names[place].clone())
    }
}

fn human_input(dice: &mut Rng, faults: Faults) -> HumanInput {
    HumanInput {
        timeout: Span::minutes(dice.u64(1..120)),
        on_timeout: *one_of(dice, &[OnTimeout::Wait, OnTimeout::Wait, OnTimeout::Block, OnTimeout::Fail]),
        max_open_blocking: dice.u32(1..3),
        cooldown: Span::minutes(dice.u64(1..600)),
        faults,
        ..HumanInput::default()
    }
}

/// One of these.
pub(crate) fn one_of<'a, T>(dice: &mut Rng, all: &'a [T]) -> &'a T {
    &all[dice.usize(0..all.len())]
}
