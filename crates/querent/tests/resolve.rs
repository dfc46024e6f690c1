use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn the_asker_settles_what_was_answered() {
    let project = Project::new();
    let id = project.asks_architect();
    project.refused(&["resolve", &id, "--by", "engineer"], "invalid_transition");
    project.ok(&["answer", &id, "--by", "architect", "--answer", "15 minutes"]);

    let reply = project.ok(&["resolve", &id, "--by", "engineer", "--note", "15 minutes it is"]);

    assert_eq!(keys(&reply), ["item_stage", "question_id", "status"]);
    assert_eq!(reply["status"], "resolved");
    assert!(project.run(&["show", &id]).stdout.ends_with("[RESOLVED] 15 minutes it is (by engineer)\n"));
}

#[test]
fn a_humans_note_settles_what_was_escalated() {
    let project = Project::new();
    let id = project.asks_architect();
    project.ok(&["escalate", &id]);

    let reply = project.ok(&["resolve", &id, "--by", "human:bo", "--note", "one hour"]);

    assert_eq!((&reply["status"], &reply["item_stage"]), (&json!("resolved"), &json!("implement")));
    assert_eq!(project.ok(&["show", &id])["question"]["answer"]["text"], "one hour");
}
