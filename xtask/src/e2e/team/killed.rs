//! A runner that is killed again and again: whatever was begun is done, once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::runner::Runner;
use super::scene::Scene;
use crate::e2e::project::{hold, same};

/// How many items, and how many at a time.
const ITEMS: usize = 500;
const PARALLEL: &str = "20";
/// How often the runner is killed, and after how long each time.
const KILLS: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// Two turns with a question between them. The pauses make the work last about as long as the killing.
pub(super) const SCRIPT: &str = "
- when: {agent: engineer, turn: 1}
  after: 800ms
  emit: [{type: REQUEST, request: {action: ask, topic: Sessions, prompt: Where do they live?, blocking: true}}]
- when: {agent: architect}
  after: 50ms
  emit: [{type: RESULT, result: {answer: 'In Redis, {item}.', evidence: ADR-7, uncertainty: none}}]
- when: {agent: engineer}
  after: 800ms
  emit:
    - {type: REQUEST, request: {action: resolve, question: 'CLR-{item}-001', note: Redis it is.}}
    - {type: RESULT, result: {status: done, summary: It is done.}}
";

pub(super) fn run(binary: &Path) -> Result<(), String> {
    let scene = Scene::scripted(binary, SCRIPT)?;
    for item in 1..=ITEMS {
        scene.add(&item.to_string(), "build")?;
    }
    let begun = Instant::now();
    let kills = kill(&scene)?;
    let killing = begun.elapsed();
    let moved = moves(&scene.records()?).len();
    let begun = Instant::now();
    let (ended, _) = Runner::start(&scene, &["--parallel", PARALLEL])?.finish()?;
    println!(
        "          {kills} kills in {:.1} s, in which {moved} items ended; the rest took {:.1} s",
        killing.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
    hold(ended == "done", || format!("it ended {ended}"))?;
    hold(kills >= KILLS / 2 && moved > 0, || format!("{kills} kills, {moved} items: too little was interrupted"))?;
    each_once(&scene, ITEMS)
}

/// Kills the runner until that was often enough, or it is done. Says how often it was killed at work.
fn kill(scene: &Scene) -> Result<usize, String> {
    for kill in 0..KILLS {
        let mut command = scene.project.command(&["run", "--parallel", PARALLEL]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|error| error.to_string())?;
        thread::sleep(PAUSE);
        let ended = child.try_wait().map_err(|error| error.to_string())?;
        if let Some(status) = ended {
            hold(status.success(), || format!("the runner ended with {status}"))?;
            return Ok(kill);
        }
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    }
    Ok(KILLS)
}

/// Each item ended once, each turn and each question was done with once, and nothing else is left.
pub(super) fn each_once(scene: &Scene, items: usize) -> Result<(), String> {
    let records = scene.records()?;
    hold(moves(&records).len() == items, || "not every item came to its end".to_owned())?;
    only_once("item_moved", &moves(&records))?;
    let ended = |data: &Value| format!("{} {}", data["session"], data["number"]);
    let turns = count(&records, "turn_ended", ended);
    only_once("turn_ended", &turns)?;
    let done = count(&records, "turn_ended", |data| format!("{} {}", data["session"], data["outcome"]));
    let done: BTreeMap<String, usize> = done.into_iter().filter(|(it, _)| it.ends_with("\"done\"")).collect();
    hold(done.len() == items, || format!("{} items were done", done.len()))?;
    only_once("a done turn", &done)?;
    for kind in ["question_asked", "question_answered", "question_resolved"] {
        let settled = count(&records, kind, |data| {
            let id = if kind == "question_asked" { &data["question"]["id"] } else { &data["question"] };
            id.to_string()
        });
        hold(settled.len() == items, || format!("{kind} of {} questions", settled.len()))?;
        only_once(kind, &settled)?;
    }
    let alerts = scene.project.ok(&["alerts"])?;
    same(&alerts, "/alerts", Value::Array(Vec::new()))?;
    let branches = scene.git(&["for-each-ref", "--format=%(refname)", "refs/heads/querent/"])?.lines().count();
    hold(branches == items, || format!("{branches} branches are there"))?;
    scene.is_tidy()
}

fn moves(records: &[Value]) -> BTreeMap<String, usize> {
    let to_merge = records.iter().filter(|it| it["type"] == "item_moved" && it["data"]["to"] == "ready_to_merge");
    to_merge.fold(BTreeMap::new(), |mut counts, record| {
        *counts.entry(record["stream"].to_string()).or_default() += 1;
        counts
    })
}

fn count(records: &[Value], kind: &str, key: impl Fn(&Value) -> String) -> BTreeMap<String, usize> {
    records.iter().filter(|it| it["type"] == kind).fold(BTreeMap::new(), |mut counts, record| {
        *counts.entry(key(&record["data"])).or_default() += 1;
        counts
    })
}

fn only_once(what: &str, counts: &BTreeMap<String, usize>) -> Result<(), String> {
    let twice: Vec<_> = counts.iter().filter(|(_, times)| **times != 1).collect();
    hold(twice.is_empty(), || format!("{what} more than once: {twice:?}"))
}
