//! `querent run` with real agents: one asks through Querent's MCP server, which it is handed by flags alone, and Querent
//! calls the other one for the answer.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::{CLAUDE, CODEX, Program};
use super::{FINAL, Model, PACKAGES, question, surroundings};
use crate::cache::Cache;
use crate::e2e::project::{hold, list, same};
use crate::e2e::team::{Runner, Scene};

pub(in crate::e2e) fn claude_asks_codex(binary: &Path) -> Result<(), String> {
    ask(binary, &CLAUDE, &CODEX)
}

pub(in crate::e2e) fn codex_asks_claude(binary: &Path) -> Result<(), String> {
    ask(binary, &CODEX, &CLAUDE)
}

/// What the one that is asked says.
const ANSWER: &str = r#"{"type":"RESULT","result":{"answer":"cookie","evidence":"ADR-7","uncertainty":"none"}}"#;

fn ask(binary: &Path, asks: &Program, answers: &Program) -> Result<(), String> {
    let cache = Cache::of_user()?;
    let home = TempDir::with_prefix("querent-home-").map_err(|error| error.to_string())?;
    let model = Model::with_words(question("architect", 40), ANSWER, |_| ())?;
    let path = PACKAGES.path(&cache, binary.parent().unwrap_or(binary).to_owned())?;
    let mut environment = surroundings(home.path(), &path, &model.url());
    for program in [asks, answers] {
        (program.settle)(home.path(), home.path(), &model.url())?;
        environment
            .extend((program.environment)(&model.url()).into_iter().map(|(name, it)| (name.to_owned(), it.into())));
    }
    let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
    let provider = |name: &str, program: &Program| {
        let command = json!([program.name]);
        format!("[providers.{name}]\nkind = \"command\"\ncommand = {command}\nenv = {}\n\n", json!(names))
    };
    let scene = Scene::new(binary, |_| provider("engineer", asks) + &provider("architect", answers))?;
    scene.add("42", "build")?;
    let before = files(scene.project.folder());
    let mut command = scene.project.command(&["run", "--json"]);
    command.env_clear().envs(environment);
    let ended = Runner::of(command)?.finish();
    let outcome = ended.and_then(|(ended, told)| {
        let told = told.join("\n");
        check(&scene, &ended).map_err(|why| format!("{why}\nthe run told: {told}"))
    });
    outcome.map_err(|why| format!("{why}\nthe model saw: {}", model.seen().join("\n")))?;
    let strangers = model.strangers();
    hold(strangers.is_empty(), || format!("they wanted more than their model: {strangers:?}"))?;
    let after = files(scene.project.folder());
    hold(before == after, || format!("the repository has other files now: {after}"))
}

/// The engineer asked, the architect was called once, and the engineer ended with its answer.
fn check(scene: &Scene, ended: &str) -> Result<(), String> {
    hold(ended == "done", || format!("it ended {ended}"))?;
    same(&scene.item("42")?, "/stage", "ready_to_merge")?;
    let all = scene.project.ok(&["questions", "--status", "all"])?;
    hold(list(&all, "/questions")?.len() == 1, || format!("not one question: {all}"))?;
    same(&all, "/questions/0/from/agent", "engineer")?;
    same(&all, "/questions/0/to", "architect")?;
    same(&all, "/questions/0/answer/value", "cookie")?;
    same(&all, "/questions/0/answer/by", "architect")?;
    let calls = scene.of("42", "agent_called")?.len();
    hold(calls == 1, || format!("the architect was called {calls} times"))?;
    let turns = scene.of("42", "turn_ended")?;
    let said = turns.last().map(|turn| turn["data"]["said"].clone()).unwrap_or_default();
    let told = said.as_str().and_then(|said| said.rsplit_once(FINAL)).map(|(_, answer)| answer);
    let is_right = turns.len() == 1 && told.is_some_and(|told| told.contains("cookie") && !told.contains("error"));
    hold(is_right, || format!("the engineer did not end with the answer: {}", Value::from(turns)))?;
    scene.is_tidy()
}

/// The names of what is in the project's folder, but for what is Querent's or git's own.
fn files(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names.iter().fold(String::new(), |mut all, name| {
        let _ = writeln!(all, "{name}");
        all
    })
}
