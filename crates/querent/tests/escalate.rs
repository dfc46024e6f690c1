use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn a_human_gets_the_question_and_the_item_waits() {
    let project = Project::new();
    let id = project.asks_architect();

    let reply = project.ok(&["escalate", &id, "--by", "engineer", "--summary", "They disagree."]);

    assert_eq!(keys(&reply), ["item_stage", "question_id", "status"]);
    assert_eq!((&reply["status"], &reply["item_stage"]), (&json!("escalated"), &json!("awaiting_input")));
    assert_eq!(project.ok(&["questions", "--to", "human"])["questions"][0]["id"], id);
    project.refused(&["escalate", &id], "invalid_transition");
}
