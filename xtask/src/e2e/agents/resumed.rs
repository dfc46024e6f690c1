//! `querent run` with a real agent that asks a person and ends its turn: it is called again with the answer, in its own
//! session.

use std::path::Path;

use serde_json::{Value, json};

use super::hired::Hired;
use super::model::Heard;
use super::programs::{CLAUDE, CODEX, Program};
use super::{FINAL, Model};
use crate::e2e::project::{hold, list, same, words};
use crate::e2e::team::Scene;

pub(in crate::e2e) fn claude(binary: &Path) -> Result<(), String> {
    resumes(binary, &CLAUDE)
}

pub(in crate::e2e) fn codex(binary: &Path) -> Result<(), String> {
    resumes(binary, &CODEX)
}

/// What the person says. It stands nowhere else.
const ANSWER: &str = "Cookies that last 41 hours";

fn resumes(binary: &Path, program: &Program) -> Result<(), String> {
    let question = json!({"item": "42", "to": "human", "topic": "Tokens", "prompt": "What is used for the tokens?",
        "blocking": true, "wait_seconds": 0});
    Hired::new(binary, Model::that_is_called_again(question)?, program, program)?.play(|hired| {
        // Given: it asked, and nothing of it runs any more.
        let ended = hired.run(&["--once"])?;
        hold(ended == "waiting", || format!("it asked, and the run ended {ended}"))?;
        waits_for_a_person(&hired.scene)?;
        let first = hired.model.heard();
        // When
        hired.scene.project.ok(&["answer", "CLR-42-001", "--answer", ANSWER])?;
        let ended = hired.run(&[])?;
        // Then
        hold(ended == "done", || format!("it was answered, and the run ended {ended}"))?;
        let second = hired.model.heard().split_off(first.len());
        in_one_session(&hired.scene, &first, &second)?;
        told_once(&first, &second)?;
        ended_with_the_answer(&hired.scene)
    })
}

fn waits_for_a_person(scene: &Scene) -> Result<(), String> {
    let item = scene.item("42")?;
    same(&item, "/stage", "awaiting_input")?;
    same(&item, "/resume_stage", "implement")?;
    let inbox = scene.project.ok(&["questions", "--to", "human"])?;
    hold(list(&inbox, "/questions")?.len() == 1, || format!("not one question to a human: {inbox}"))?;
    same(&inbox, "/questions/0/id", "CLR-42-001")?;
    let turns = scene.of("42", "turn_ended")?;
    let outcomes: Vec<&Value> = turns.iter().map(|turn| &turn["data"]["outcome"]).collect();
    hold(outcomes == ["asked"], || format!("its turns ended {outcomes:?}"))?;
    scene.nothing_runs()
}

/// The program named one session in all, and says so to its model in both turns; in the second it knows what it did in the
/// first.
fn in_one_session(scene: &Scene, first: &[Heard], second: &[Heard]) -> Result<(), String> {
    let mut named = scene.of("42", "turn_noted")?;
    named.retain(|record| record["data"]["handle"].is_string());
    hold(named.len() == 1, || format!("not one session of the program: {}", Value::from(named.clone())))?;
    let handle = words(&named[0], "/data/handle")?;
    for (turn, heard) in [("first", first), ("second", second)] {
        let at_work = || heard.iter().filter(|it| !it.conversation.tools.is_empty());
        let is_of_it = at_work().count() > 0 && at_work().all(|it| it.text.contains(handle));
        hold(is_of_it, || format!("the {turn} turn is of another session than {handle}"))?;
    }
    let knows = |it: &Heard| it.conversation.results.iter().any(|result| result.contains("CLR-42-001"));
    let is_new = first.first().is_some_and(|it| it.conversation.results.is_empty());
    hold(is_new && second.iter().any(knows), || "it does not know in its second turn what it asked".to_owned())
}

fn told_once(first: &[Heard], second: &[Heard]) -> Result<(), String> {
    let times = |heard: &[Heard]| heard.iter().map(|it| it.text.matches(ANSWER).count()).sum::<usize>();
    hold((times(first), times(second)) == (0, 1), || {
        format!(
            "the answer reached the model {} times before it was given and {} times after",
            times(first),
            times(second)
        )
    })
}

fn ended_with_the_answer(scene: &Scene) -> Result<(), String> {
    same(&scene.item("42")?, "/stage", "ready_to_merge")?;
    let turns = scene.of("42", "turn_ended")?;
    let last = turns.last().cloned().unwrap_or_default();
    hold(turns.len() == 2, || format!("not two turns: {}", Value::from(turns)))?;
    same(&last, "/data/outcome", "done")?;
    same(&last, "/data/number", 2)?;
    let said = words(&last, "/data/said")?.rsplit_once(FINAL).map(|(_, said)| said);
    hold(said.is_some_and(|said| said.contains(ANSWER)), || format!("it did not end with the answer: {last}"))?;
    scene.is_tidy()
}
