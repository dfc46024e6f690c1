//! Many processes on one item at once, each of them the real binary.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use crate::common::{Output, Project};

const ASKERS: usize = 32;
const ASKS: usize = 10;
const REPEATS: usize = 100;

/// Starts all command lines, waits for all, and returns how each ended, in the order of the lines.
fn at_once(project: &Project, lines: &[Vec<&str>]) -> Vec<Output> {
    let started: Vec<_> = lines.iter().map(|line| Project::start(&mut project.querent(line))).collect();
    started.into_iter().map(|child| Output::of(child.wait_with_output().unwrap())).collect()
}

fn ask<'a>(question: &'a str, operation: &'a str) -> Vec<&'a str> {
    let ask = ["ask", "--item", "42", "--from", "engineer", "--no-blocking", "--topic", "T", "--json"];
    ask.into_iter().chain(["--question", question, "--operation-id", operation]).collect()
}

/// Nothing that is stored contradicts the journal, and its numbers have no gap.
fn is_sound(project: &Project) {
    assert_eq!(project.ok(&["doctor"]), json!({ "healthy": true, "findings": [] }));
    let events = project.run(&["events"]).stdout;
    let seqs: Vec<Value> =
        events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].take()).collect();
    assert_eq!(seqs, (1..=seqs.len()).map(|seq| json!(seq)).collect::<Vec<_>>());
}

#[test]
fn every_acknowledged_word_of_many_processes_is_there_and_ids_are_dense() {
    let project = Project::new();

    let said: Vec<(String, String)> = thread::scope(|scope| {
        let talk = |asker: usize| {
            let project = &project;
            move || {
                let one = |turn: usize| {
                    let words = format!("{asker} says {turn}");
                    let line = ["ask", "--item", "42", "--from", "engineer", "--no-blocking", "--topic", "T"];
                    let line: Vec<&str> = line.into_iter().chain(["--question", &words]).collect();
                    let id = project.ok(&line)["question_id"].as_str().unwrap().to_owned();
                    let reply = project.ok(&["answer", &id, "--by", "architect", "--answer", &words]);
                    assert_eq!(reply["status"], "answered");
                    (id, words)
                };
                (0..ASKS).map(one).collect::<Vec<_>>()
            }
        };
        let askers: Vec<_> = (0..ASKERS).map(|asker| scope.spawn(talk(asker))).collect();
        askers.into_iter().flat_map(|asker| asker.join().unwrap()).collect()
    });

    let ids: BTreeSet<&str> = said.iter().map(|(id, _)| id.as_str()).collect();
    let dense: Vec<String> = (1..=ASKERS * ASKS).map(|number| format!("CLR-42-{number:03}")).collect();
    assert_eq!(ids, dense.iter().map(String::as_str).collect::<BTreeSet<_>>());
    let stored = project.ok(&["questions", "--status", "all"]);
    assert_eq!(stored["count"], ASKERS * ASKS);
    for (id, words) in &said {
        let question = stored["questions"].as_array().unwrap().iter().find(|it| it["id"] == **id).unwrap();
        assert_eq!((&question["prompt"], &question["answer"]["value"]), (&json!(words), &json!(words)));
    }
    is_sound(&project);
}

#[test]
fn the_same_operation_from_two_processes_at_once_has_one_effect_and_one_reply_every_time() {
    let project = Project::new();

    for repeat in 1..=REPEATS {
        let operation = format!("op-{repeat}");
        let line = ask("Once?", &operation);
        let replies = at_once(&project, &[line.clone(), line]);

        assert_eq!(replies[0].stdout, replies[1].stdout);
        assert_eq!(replies[0].json()["data"]["question_id"], format!("CLR-42-{repeat:03}"));
    }
    assert_eq!(project.ok(&["questions"])["count"], REPEATS);
    is_sound(&project);
}

#[test]
fn the_same_operation_id_for_two_things_at_once_is_granted_to_one_of_them() {
    let project = Project::new();

    for repeat in 1..=10 {
        let operation = format!("op-{repeat}");
        let mut replies = at_once(&project, &[ask("This?", &operation), ask("That?", &operation)]);

        replies.sort_by_key(|reply| reply.code);
        assert_eq!(replies[0].json()["data"]["question_id"], format!("CLR-42-{repeat:03}"));
        replies[1].error("operation_conflict");
    }
    is_sound(&project);
}

#[test]
fn of_many_answers_at_once_the_first_wins_and_the_others_are_told_what_it_was() {
    let project = Project::new();
    let id = project.asks_human();
    let names: Vec<String> = (0..12).map(|number| format!("human:p{number}")).collect();
    let answer = |name| vec!["answer", id.as_str(), "--answer", "sql", "--json", "--by", name];

    let mut replies = at_once(&project, &names.iter().map(|name| answer(name.as_str())).collect::<Vec<_>>());

    replies.sort_by_key(|reply| reply.code);
    let winner = replies[0].json()["data"]["answer"]["by"].clone();
    for reply in &replies[1..] {
        assert_eq!(reply.error("question_already_answered")["details"]["answer"]["by"], winner);
    }
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["stage"], "implement");
    is_sound(&project);
}
