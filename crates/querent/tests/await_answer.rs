use serde_json::{Value, json};

use crate::common::{Project, keys};

#[test]
fn the_answer_of_another_process_ends_the_wait() {
    let project = Project::new();
    let id = project.asks_human();
    let waiting = Project::start(&mut project.querent(&["await", &id, "--json"]));

    project.ok(&["answer", &id, "--answer", "sql"]);

    let output = waiting.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(keys(&reply["data"]), ["answer", "item_stage", "question_id", "resumed", "status"]);
    assert_eq!((&reply["data"]["answer"]["value"], &reply["data"]["status"]), (&json!("sql"), &json!("resolved")));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_settled_question_is_returned_at_once_and_a_wait_that_runs_out_says_so() {
    let project = Project::new();
    let (answered, open) = (project.asks_architect(), project.asks_human());
    project.ok(&["answer", &answered, "--by", "architect", "--answer", "x"]);

    assert_eq!(project.ok(&["await", &answered])["status"], "answered");
    let reply = project.ok(&["await", &open, "--timeout", "1ms"]);
    assert_eq!(reply, json!({ "question_id": open, "status": "open", "timed_out": true }));
    project.refused(&["await", "CLR-42-999"], "question_not_found");
    project.refused(&["await", &open, "--timeout", "soon"], "usage");
    assert_eq!(project.ok(&["await", &answered, "--timeout", "99999999999d"])["status"], "answered");
}
