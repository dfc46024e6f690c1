//! `querent run` with real agents: one asks through Querent's MCP server, which it is handed by flags alone, and Querent
//! calls the other one for the answer.

use std::path::Path;

use serde_json::Value;

use super::hired::Hired;
use super::programs::{CLAUDE, CODEX, GEMINI, OPENCODE, Program};
use super::{FINAL, Model, question};
use crate::e2e::project::{hold, list, same};
use crate::e2e::team::Scene;

pub(in crate::e2e) fn claude_asks_codex(binary: &Path) -> Result<(), String> {
    ask(binary, &CLAUDE, &CODEX)
}

pub(in crate::e2e) fn codex_asks_claude(binary: &Path) -> Result<(), String> {
    ask(binary, &CODEX, &CLAUDE)
}

/// Both speak the Agent Client Protocol.
pub(in crate::e2e) fn opencode_asks_gemini(binary: &Path) -> Result<(), String> {
    ask(binary, &OPENCODE, &GEMINI)
}

/// The same the other way round.
pub(in crate::e2e) fn gemini_asks_opencode(binary: &Path) -> Result<(), String> {
    ask(binary, &GEMINI, &OPENCODE)
}

/// What the one that is asked says.
const ANSWER: &str = r#"{"type":"RESULT","result":{"answer":"cookie","evidence":"ADR-7","uncertainty":"none"}}"#;

fn ask(binary: &Path, asks: &Program, answers: &Program) -> Result<(), String> {
    let model = Model::with_words(question("architect", 40), ANSWER)?;
    Hired::new(binary, model, asks, answers)?.play(|hired| check(&hired.scene, &hired.run(&[])?))
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
