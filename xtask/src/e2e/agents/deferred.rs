//! Claude Code pauses and costs nothing: the session ends at its question, and goes on with the answer.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::run::Run;
use super::{CLAUDE, FINAL, PROMPT, Scene};
use crate::e2e::project::{hold, same, words};

pub(super) fn run(binary: &Path) -> Result<(), String> {
    let scene = Scene::new(&CLAUDE, binary, 0)?;
    scene.project.ok(&["connect", "claude", "--agent", "engineer"])?;
    scene.play(|scene| pauses_and_goes_on(scene, binary))
}

fn pauses_and_goes_on(scene: &Scene, binary: &Path) -> Result<(), String> {
    let paused = json_of(scene, scene.agent(&["--output-format", "json", PROMPT]))?;
    same(&paused, "/stop_reason", "tool_deferred")?;
    let session = words(&paused, "/session_id")?;
    let open = resume(scene, binary)?;
    same(&open, "/data/waiting/0", "CLR-42-001")?;
    scene.answer("cookie")?;
    let resumed = resume(scene, binary)?;
    same(&resumed, "/data/resumed/0/exit_code", 0)?;
    hold(resumed["data"]["resumed"][0]["handle"].to_string().contains(session), || {
        format!("another session: {resumed}")
    })?;
    let said = words(&resumed, "/data/resumed/0/output")?;
    hold(said.contains(&format!("{FINAL}cookie")), || format!("it went on without the answer: {resumed}"))?;
    let again = resume(scene, binary)?;
    same(&again, "/data/resumed", Value::Array(Vec::new()))?;
    scene.was_asked_once()
}

fn resume(scene: &Scene, binary: &Path) -> Result<Value, String> {
    let mut command = Command::new(binary);
    command.args(["resume", "--json"]);
    scene.confine(&mut command);
    json_of(scene, command)
}

/// What a command prints that ends well.
fn json_of(scene: &Scene, command: Command) -> Result<Value, String> {
    let finished = Run::start(command, scene.home.path(), &scene.project, &scene.queue)?.finish()?;
    let (status, out, err) = (finished.status, &finished.stdout, &finished.stderr);
    hold(status.success(), || format!("it ended with {status}: {out}\n{err}"))?;
    serde_json::from_str(out).map_err(|error| format!("no JSON ({error}): {out}\n{err}"))
}
