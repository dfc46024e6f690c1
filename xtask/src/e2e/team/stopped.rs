//! A run that is told to stop, and two at once.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::runner::Runner;
use super::scene::Scene;
use crate::e2e::project::{hold, same};

pub(super) fn terminated(binary: &Path) -> Result<(), String> {
    told_to_stop(binary, "-TERM")
}

pub(super) fn interrupted(binary: &Path) -> Result<(), String> {
    told_to_stop(binary, "-INT")
}

/// Its agent works for ever the first time, and says when it is called again.
const SLEEPS: &str = r#"
here=$(dirname "$0")
echo '{"type":"NOTE","text":"I am at work."}'
test -e "$here/again" || exec sleep 3600
echo '{"type":"RESULT","result":{"status":"done","summary":"It is done."}}'
"#;

fn told_to_stop(binary: &Path, signal: &str) -> Result<(), String> {
    let scene = Scene::shell(binary, SLEEPS, "", "")?;
    scene.add("1", "build")?;
    scene.add("2", "build")?;
    let mut runner = Runner::start(&scene, &["--parallel", "1"])?;
    let said = runner.wait_for("1", "turn_said")?;
    hold(said["data"].to_string().contains("I am at work."), || format!("it said {said}"))?;
    runner.signal(signal)?;
    let (ended, _) = runner.finish()?;
    hold(ended == "stopped", || format!("told to stop, it ended {ended}"))?;
    scene.nothing_runs()?;
    same(&scene.item("1")?, "/stage", "implement")?;
    scene.write("again", "")?;
    let (ended, _) = Runner::start(&scene, &["--parallel", "1"])?.finish()?;
    hold(ended == "done", || format!("the next run ended {ended}"))?;
    let done: Vec<Value> = scene.records()?.into_iter().filter(|it| it["data"]["outcome"] == "done").collect();
    hold(done.len() == 2, || format!("not each item was done once: {done:?}"))?;
    for item in ["1", "2"] {
        same(&scene.item(item)?, "/stage", "ready_to_merge")?;
    }
    scene.is_tidy()
}

/// How many items two runners share.
const ITEMS: usize = 40;

pub(super) fn doubled(binary: &Path) -> Result<(), String> {
    let scene = Scene::scripted(binary, super::killed::SCRIPT)?;
    for item in 1..=ITEMS {
        scene.add(&item.to_string(), "build")?;
    }
    let one = Runner::start(&scene, &["--parallel", "5"])?;
    let other = Runner::start(&scene, &["--parallel", "5"])?;
    let (one, _) = one.finish()?;
    let (other, _) = other.finish()?;
    hold(one == "done" && other == "done", || format!("they ended {one} and {other}"))?;
    let records = scene.records()?;
    let mut drivers = BTreeMap::new();
    let mut begun = BTreeMap::new();
    for record in records.iter().filter(|it| it["type"] == "turn_begun" || it["type"] == "agent_called") {
        let data = &record["data"];
        let which = format!("{} {} {} {}", record["type"], data["session"], data["number"], data["question"]);
        *begun.entry(which).or_insert(0_u32) += 1;
        *drivers.entry(data["process"]["pid"].to_string()).or_insert(0_u32) += 1;
    }
    let twice: Vec<_> = begun.iter().filter(|(_, times)| **times != 1).collect();
    hold(twice.is_empty(), || format!("done twice: {twice:?}"))?;
    hold(begun.len() == 3 * ITEMS, || format!("{} turns and calls, and not three an item", begun.len()))?;
    hold(drivers.len() == 2, || format!("not both of them worked: {drivers:?}"))?;
    super::killed::each_once(&scene, ITEMS)
}
