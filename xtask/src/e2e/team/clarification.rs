//! An agent asks another one, as the protocol has it: the happy path, rounds that run out, an agent that does not answer.

use std::path::Path;

use serde_json::Value;

use super::runner::Runner;
use super::scene::Scene;
use crate::e2e::project::{hold, list, same, words};

/// The engineer's first turn: it asks.
pub(super) const ASKS: &str = "
- when: {agent: engineer, turn: 1}
  emit: [{type: REQUEST, request: {action: ask, topic: Sessions, prompt: Where do they live?, blocking: true}}]
";

/// The architect's answer to everything.
pub(super) const ANSWERS: &str = "
- when: {agent: architect}
  emit: [{type: RESULT, result: {answer: In Redis., evidence: ADR-7, uncertainty: none}}]
";

/// The engineer is satisfied, in whatever turn.
pub(super) const RESOLVES: &str = "
- when: {agent: engineer}
  emit:
    - {type: REQUEST, request: {action: resolve, question: 'CLR-{item}-001', note: Redis it is.}}
    - {type: RESULT, result: {status: done, summary: Sessions live in Redis.}}
";

/// The engineer is not satisfied with any of the answers that five rounds bring.
const INSISTS: &str = "
- {when: {agent: engineer, turn: 2}, emit: [{type: REQUEST, request: {action: follow_up, question: CLR-42-001, prompt: On which port?}}]}
- {when: {agent: engineer, turn: 3}, emit: [{type: REQUEST, request: {action: follow_up, question: CLR-42-001, prompt: With which password?}}]}
- {when: {agent: engineer, turn: 4}, emit: [{type: REQUEST, request: {action: follow_up, question: CLR-42-001, prompt: Who may flush it?}}]}
- {when: {agent: engineer, turn: 5}, emit: [{type: REQUEST, request: {action: follow_up, question: CLR-42-001, prompt: Is it replicated?}}]}
- {when: {agent: engineer, turn: 6}, emit: [{type: REQUEST, request: {action: follow_up, question: CLR-42-001, prompt: And its backups?}}]}
";

const FAILS: &str = "
- {when: {agent: architect}, fail: its model cannot be reached}
";

/// Does what it was told only if it was told the answer.
const READS: &str = r#"
told=$(cat)
case "$told" in
*"In Redis."*) echo '{"type":"RESULT","result":{"status":"done","summary":"I was told: In Redis."}}' ;;
*) echo '{"type":"REQUEST","request":{"action":"ask","topic":"Sessions","prompt":"Where do they live?","blocking":true}}' ;;
esac
"#;

pub(super) fn happy(binary: &Path) -> Result<(), String> {
    let scene = scene(binary, &[ASKS, ANSWERS, RESOLVES])?;
    let (ended, _) = Runner::start(&scene, &[])?.finish()?;
    hold(ended == "done", || format!("it ended {ended}"))?;
    let kinds = ["turn_begun", "question_asked", "agent_called", "question_answered", "question_resolved"];
    let seen: Vec<Value> =
        scene.records()?.into_iter().filter(|it| kinds.iter().any(|kind| it["type"] == *kind)).collect();
    let seen: Vec<&str> = seen.iter().filter_map(|it| it["type"].as_str()).collect();
    let wanted = [kinds[0], kinds[1], kinds[2], kinds[3], kinds[0], kinds[4]];
    hold(seen == wanted, || format!("it went {seen:?}"))?;
    same(&scene.project.ok(&["show", "CLR-42-001"])?, "/question/status", "resolved")?;
    finished(&scene)
}

pub(super) fn in_context(binary: &Path) -> Result<(), String> {
    let scene = Scene::shell(binary, READS, "", ANSWERS)?;
    scene.add("42", "build")?;
    let (ended, _) = Runner::start(&scene, &[])?.finish()?;
    hold(ended == "done", || format!("it ended {ended}"))?;
    let turns = scene.of("42", "turn_ended")?;
    hold(turns.len() == 2, || format!("not two turns: {turns:?}"))?;
    same(&turns[1], "/data/said", "I was told: In Redis.")?;
    let answers = scene.of("42", "question_answered")?.len();
    hold(answers == 1, || format!("it was answered {answers} times"))?;
    finished(&scene)
}

pub(super) fn rounds(binary: &Path) -> Result<(), String> {
    let scene = scene(binary, &[ASKS, INSISTS, ANSWERS, RESOLVES])?;
    let mut runner = Runner::start(&scene, &[])?;
    runner.wait_for("42", "item_paused")?;
    let shown = scene.project.ok(&["show", "CLR-42-001"])?;
    same(&shown, "/question/status", "escalated")?;
    same(&shown, "/question/round", 5)?;
    let calls = scene.of("42", "agent_called")?.len();
    hold(calls == 5, || format!("the architect was called {calls} times"))?;
    a_human_decides(&scene, runner)
}

pub(super) fn fails(binary: &Path) -> Result<(), String> {
    let scene = scene(binary, &[ASKS, FAILS, RESOLVES])?;
    let mut runner = Runner::start(&scene, &[])?;
    runner.wait_for("42", "item_paused")?;
    let calls = scene.of("42", "agent_called")?;
    let attempts: Vec<&Value> = calls.iter().map(|call| &call["data"]["attempt"]).collect();
    hold(attempts == [1, 2], || format!("the architect was called {attempts:?}"))?;
    let thread = scene.project.ok(&["show", "CLR-42-001"])?;
    same(&thread, "/question/status", "escalated")?;
    hold(thread.to_string().contains("its model cannot be reached"), || format!("nobody says why: {thread}"))?;
    a_human_decides(&scene, runner)
}

/// The item waits for a person; the answer lets the run that waits come to its end.
fn a_human_decides(scene: &Scene, runner: Runner) -> Result<(), String> {
    let inbox = scene.project.ok(&["questions", "--to", "human"])?;
    hold(list(&inbox, "/questions")?.len() == 1, || format!("not one question to a human: {inbox}"))?;
    same(&inbox, "/questions/0/id", "CLR-42-001")?;
    scene.project.ok(&["answer", "CLR-42-001", "--answer", "Take Redis, without backups."])?;
    let (ended, _) = runner.finish()?;
    hold(ended == "done", || format!("it ended {ended}"))?;
    let shown = scene.project.ok(&["show", "CLR-42-001"])?;
    same(&shown, "/question/answer/value", "Take Redis, without backups.")?;
    same(&shown, "/question/answer/provenance", "human")?;
    finished(scene)
}

fn finished(scene: &Scene) -> Result<(), String> {
    same(&scene.item("42")?, "/stage", "ready_to_merge")?;
    let turns = scene.of("42", "turn_ended")?;
    let last = turns.last().cloned().unwrap_or_default();
    same(&last, "/data/outcome", "done")?;
    words(&last, "/data/said")?;
    scene.git(&["rev-parse", "--verify", "refs/heads/querent/42"])?;
    scene.is_tidy()
}

fn scene(binary: &Path, script: &[&str]) -> Result<Scene, String> {
    let scene = Scene::scripted(binary, &script.concat())?;
    scene.add("42", "build")?;
    Ok(scene)
}
