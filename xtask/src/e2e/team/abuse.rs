//! Programs that misbehave: what they cost is bounded, and somebody is told.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::runner::Runner;
use super::scene::Scene;
use crate::e2e::project::{hold, list, same};

/// The most memory that a runner may have, in KiB, whatever its agents print.
const MEMORY: u64 = 128 << 10;

/// Somebody who waits for a person, so that the run goes on until it is told to stop.
pub(super) const WAITS: &str = "
- when: {agent: architect, step: design}
  emit: [{type: REQUEST, request: {action: ask_user_input, topic: Tea, prompt: Green or black?, blocking: true}}]
";

const DONE: &str = r#"echo '{"type":"RESULT","result":{"status":"done","summary":"It is done."}}'"#;

pub(super) fn hangs(binary: &Path) -> Result<(), String> {
    blocked(binary, "exec sleep 3600", "timeout = \"1s\"", "not done within 1s")
}

pub(super) fn ignores(binary: &Path) -> Result<(), String> {
    blocked(binary, "trap '' TERM INT HUP\nwhile :; do sleep 3600; done", "timeout = \"1s\"", "not done within 1s")
}

pub(super) fn floods(binary: &Path) -> Result<(), String> {
    blocked(binary, "head -c 1000000000 /dev/zero", "", "printed more than 67108864 bytes")
}

pub(super) fn dies(binary: &Path) -> Result<(), String> {
    blocked(binary, "echo no more memory >&2\nexit 137", "", "killed by signal 9: no more memory")
}

pub(super) fn floods_as_it_may(binary: &Path) -> Result<(), String> {
    let act = "head -c 500000000 /dev/zero\necho\nyes 'A line of text, and nothing that anybody waits for.' | head -c 500000000\necho";
    goes_on(binary, &format!("{act}\n{DONE}"), "max_output = 2000000000").map(drop)
}

pub(super) fn babbles(binary: &Path) -> Result<(), String> {
    let act = r#"echo '{"type":"RESULT","result":{"sta'
echo '{"type":"REQUEST","request":"what"}'
echo '{"type":["RESULT"]}'
echo '}{][ \ud800'
printf '\377\376\000\n'"#;
    let scene = goes_on(binary, &format!("{act}\n{DONE}"), "")?;
    let said = scene.of("bad", "turn_ended")?;
    same(&said[0], "/data/said", "It is done.")
}

pub(super) fn leaves_children(binary: &Path) -> Result<(), String> {
    goes_on(binary, &format!("sleep 3600 & (sleep 3600 & sleep 3600) &\n{DONE}"), "").map(drop)
}

/// The item is blocked with the reason, there is an alert, and nothing is left.
fn blocked(binary: &Path, act: &str, settings: &str, why: &str) -> Result<(), String> {
    let scene = scene(binary, act, settings)?;
    watched(&scene, "blocked")?;
    let item = scene.item("bad")?;
    let reason = item["status_reason"].as_str().unwrap_or_default();
    hold(reason.contains(why), || format!("the reason is not `{why}`: {item}"))?;
    let alerts = scene.project.ok(&["alerts"])?;
    let told = list(&alerts, "/alerts")?.iter().any(|alert| alert.to_string().contains(why));
    hold(told, || format!("no alert says `{why}`: {alerts}"))?;
    let turns = scene.of("bad", "turn_ended")?;
    let outcomes: Vec<&Value> = turns.iter().map(|turn| &turn["data"]["outcome"]).collect();
    hold(outcomes == ["failed", "failed"], || format!("it was not tried twice: {outcomes:?}"))
}

/// The item goes on to its end, after one turn.
fn goes_on(binary: &Path, act: &str, settings: &str) -> Result<Scene, String> {
    let scene = scene(binary, act, settings)?;
    watched(&scene, "ready_to_merge")?;
    let turns = scene.of("bad", "turn_ended")?;
    hold(turns.len() == 1, || format!("it took more than one turn: {turns:?}"))?;
    Ok(scene)
}

fn scene(binary: &Path, act: &str, settings: &str) -> Result<Scene, String> {
    let scene = Scene::shell(binary, &format!("{act}\n"), settings, WAITS)?;
    scene.add("bad", "build")?;
    scene.add("calm", "plan")?;
    Ok(scene)
}

/// Runs until the item is there and measures what it took. The other item is not disturbed.
fn watched(scene: &Scene, stage: &str) -> Result<(), String> {
    let mut runner = Runner::start(scene, &[])?;
    runner.wait_for_move("bad", stage)?;
    let is_paused = |line: &String| line.contains("\"item_paused\"");
    if !runner.told.iter().any(is_paused) {
        runner.wait_for("calm", "item_paused")?;
    }
    let memory = runner.memory()?;
    runner.signal("-TERM")?;
    let (ended, _) = runner.finish()?;
    hold(ended == "stopped", || format!("it ended {ended}"))?;
    println!("          the runner took {memory} KiB");
    hold(memory < MEMORY, || format!("the runner took {memory} KiB"))?;
    same(&scene.item("calm")?, "/stage", "awaiting_input")?;
    scene.nothing_runs()
}

/// Two variables: one that its program is given, and one that it is not.
const GIVEN: (&str, &str) = ("TEAM_API_KEY", "given-5f1b9c0e7d");
const KEPT: (&str, &str) = ("TEAM_PASSWORD", "kept-8a44c2e610");

pub(super) fn tells_secrets(binary: &Path) -> Result<(), String> {
    let act = r#"
secrets="$TEAM_API_KEY $TEAM_PASSWORD"
echo "It cannot log in with $secrets" >&2
echo "{\"type\":\"NOTE\",\"text\":\"I use $secrets\"}"
echo "{\"type\":\"PLAN\",\"plan\":{\"key\":\"$secrets\"}}"
echo "{\"type\":\"NOTHING $secrets\"}"
echo "{\"type\":\"REQUEST\",\"request\":{\"action\":\"assume\",\"decision\":\"$secrets\",\"reasoning\":\"r\",\"confidence\":0.5,\"risk_if_wrong\":\"low\"}}"
test "$QUERENT_ITEM" = bad && exit 1
echo "{\"type\":\"RESULT\",\"result\":{\"status\":\"done\",\"summary\":\"Logged in with $secrets\"}}"
"#;
    let scene = scene(binary, act, "env = [\"TEAM_API_KEY\"]")?;
    scene.add("good", "build")?;
    let with_secrets = |mut command: Command| {
        command.envs([GIVEN, KEPT]);
        command
    };
    let mut runner = Runner::of(with_secrets(scene.project.command(&["run", "--json", "--items", "bad,good"])))?;
    runner.wait_for_move("bad", "blocked")?;
    let (ended, told) = runner.finish()?;
    hold(ended == "done", || format!("it ended {ended}"))?;
    let reason = scene.item("bad")?["status_reason"].to_string();
    hold(reason.contains("It cannot log in with"), || format!("the reason is not said: {reason}"))?;
    let mut places = vec![("the output".to_owned(), told.join("\n"))];
    for arguments in [&["events"][..], &["alerts"], &["status"], &["item", "show", "bad"]] {
        let output = with_secrets(scene.project.command(arguments)).output().map_err(|error| error.to_string())?;
        places.push((arguments.join(" "), String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    files(&scene.project.folder().join(".querent"), &mut places)?;
    for (place, text) in places {
        for secret in [GIVEN.1, KEPT.1] {
            hold(!text.contains(secret), || format!("the secret `{secret}` is in {place}"))?;
        }
    }
    Ok(())
}

/// Every file below a folder, with what is in it.
fn files(folder: &Path, found: &mut Vec<(String, String)>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files(&path, found)?;
        } else if let Ok(bytes) = fs::read(&path) {
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(())
}
