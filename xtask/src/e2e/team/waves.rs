//! The workflow `waves` as it is shipped: one orchestrator, which is the runner, and a planner, a builder and a QA for each item.

use std::collections::BTreeSet;
use std::path::Path;

use super::runner::Runner;
use super::scene::Scene;
use crate::e2e::project::{hold, list, same};

/// The builder asks the planner, whose step is over; everybody else just works.
const SCRIPT: &str = "
- when: {agent: builder, turn: 1}
  emit: [{type: REQUEST, request: {action: ask, to: planner, topic: API, prompt: REST or RPC?, blocking: true}}]
- when: {agent: planner, question: API}
  emit: [{type: RESULT, result: {answer: REST., evidence: the plan, uncertainty: none}}]
- emit: [{type: RESULT, result: {status: done, summary: It is done.}}]
";

pub(super) fn run(binary: &Path) -> Result<(), String> {
    of_items(binary, 2)?;
    of_items(binary, 3)
}

fn of_items(binary: &Path, items: usize) -> Result<(), String> {
    // Given
    let scene = Scene::waves(binary, SCRIPT)?;
    let items: Vec<String> = (1..=items).map(|item| item.to_string()).collect();
    for item in &items {
        scene.add(item, "waves")?;
    }
    // When
    let (ended, _) = Runner::start(&scene, &[])?.finish()?;
    // Then
    hold(ended == "done", || format!("it ended {ended}"))?;
    let wanted: BTreeSet<String> =
        items.iter().flat_map(|item| ["planner", "builder", "qa"].map(|agent| format!("{agent}@{item}"))).collect();
    let records = scene.records()?;
    let begun: Vec<_> = records.iter().filter(|it| it["type"] == "session_started").collect();
    let named: BTreeSet<String> =
        begun.iter().filter_map(|it| it["data"]["session"].as_str().map(str::to_owned)).collect();
    hold(begun.len() == 3 * items.len() && named == wanted, || format!("{} sessions: {named:?}", begun.len()))?;
    let driven = records.iter().filter(|it| it["type"] == "turn_begun" || it["type"] == "agent_called");
    let runners: BTreeSet<String> = driven.map(|it| it["data"]["process"]["pid"].to_string()).collect();
    hold(runners.len() == 1, || format!("not one runner: {runners:?}"))?;
    let state = scene.project.ok(&["state"])?;
    let sessions = list(&state, "/sessions")?;
    let are_done = sessions.iter().all(|it| it["status"] == "done");
    hold(sessions.len() == 3 * items.len() && are_done, || {
        format!("not all sessions are done, and no other: {state}")
    })?;
    for item in &items {
        same(&scene.item(item)?, "/stage", "ready_to_merge")?;
    }
    scene.is_tidy()
}
