use serde_json::json;

use crate::common::Project;

#[test]
fn a_question_that_is_taken_back_is_kept_and_lets_its_item_go_on() {
    let project = Project::new();
    let id = project.asks_human();
    project.refused(&["withdraw", &id, "--by", "architect"], "not_asker");

    let reply = project.ok(&["withdraw", &id, "--by", "engineer", "--reason", "found it"]);

    assert_eq!((&reply["status"], &reply["item_stage"]), (&json!("withdrawn"), &json!("implement")));
    assert!(project.run(&["show", &id]).stdout.contains("[WITHDRAWN] found it (by engineer)"));
    project.refused(&["answer", &id, "--answer", "redis"], "invalid_transition");
}
