//! What a run tells where nobody watches: lines for people, or JSON lines for programs.

use std::path::Path;

use serde_json::Value;

use super::clarification::{ANSWERS, ASKS, RESOLVES};
use super::scene::Scene;
use crate::e2e::project::hold;

pub(super) fn run(binary: &Path) -> Result<(), String> {
    let script = [ASKS, ANSWERS, RESOLVES].concat();
    let scene = Scene::scripted(binary, &script)?;
    scene.add("42", "build")?;
    let output = scene.project.plain(&["run"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    hold(output.status.success() && output.stderr.is_empty(), || format!("it ended with {}: {text}", output.status))?;
    hold(!text.contains('\u{1b}') && !text.contains('\r'), || {
        format!("a terminal's codes without a terminal: {text}")
    })?;
    // When the asker's turn is over, its colleague may have been called already.
    let turn = "42         engineer waits for an answer";
    hold(text.lines().filter(|line| *line == turn).count() == 1, || format!("`{turn}` is not there once:\n{text}"))?;
    let mut others = text.lines().filter(|line| *line != turn && !line.starts_with("[Round 1] "));
    for wanted in [
        "42         engineer works on implement (turn 1)",
        "  Q: Where do they live?",
        "42         architect is called for CLR-42-001 (round 1)",
        "  A: In Redis.",
        "42         engineer works on implement (turn 2)",
        "[RESOLVED] CLR-42-001 Redis it is.",
        "42         engineer is done: Sessions live in Redis.",
        "42         implement -> ready_to_merge",
        "Nothing is left for agents to do.",
    ] {
        hold(others.next() == Some(wanted), || format!("`{wanted}` is not in its place:\n{text}"))?;
    }
    let scene = Scene::scripted(binary, &script)?;
    scene.add("42", "build")?;
    let output = scene.project.plain(&["run", "--json"])?;
    are_records(&String::from_utf8_lossy(&output.stdout))
}

/// Records, a JSON object a line, and at last the reply.
pub(super) fn are_records(text: &str) -> Result<(), String> {
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| format!("a line is no JSON: {error}: {text}"))?;
    let (last, records) = lines.split_last().ok_or("it told nothing")?;
    let is_told = ["turn_begun", "question_asked", "question_answered", "turn_ended", "item_moved"]
        .iter()
        .all(|kind| records.iter().any(|record| record["type"] == *kind));
    let are_all = records.iter().all(|record| record["seq"].is_u64() && record["type"].is_string());
    hold(is_told && are_all, || format!("not the records: {text}"))?;
    hold(last["ok"] == true && last["data"]["ended"] == "done", || format!("not the reply: {last}"))
}
