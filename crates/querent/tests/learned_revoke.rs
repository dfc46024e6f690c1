use serde_json::json;

use crate::common::Project;

#[test]
fn what_is_taken_back_is_asked_again() {
    let project = Project::with_a_preference();
    project.asks_preference("43");

    let text = project.run(&["learned", "revoke", "LRN-001", "--note", "only for the old shop"]).stdout;

    assert!(text.starts_with("LRN-001 is revoked: its question is asked again."), "{text}");
    assert_eq!(project.asks_preference("44")["answer"], json!(null));
    assert_eq!(project.ok(&["learned"])["learned"][0]["status"], "revoked");
    assert_eq!(project.ok(&["questions", "--item", "43", "--status", "all"])["count"], 1, "what was decided stays");
    assert_eq!(project.ok(&["doctor"])["healthy"], true);
}

#[test]
fn it_happens_once_for_each_operation_and_only_by_a_human() {
    let project = Project::with_a_preference();
    project.refused(&["learned", "revoke", "LRN-001", "--by", "engineer"], "human_only");

    let line = ["learned", "revoke", "LRN-001", "--operation-id", "op-1"];
    let (first, again) = (project.ok(&line), project.ok(&line));

    assert_eq!(first, again);
    project.refused(&["learned", "revoke", "LRN-001"], "invalid_transition");
    project.refused(&["learned", "revoke", "LRN-002"], "invalid_input");
    project.refused(&["learned", "revoke", "LRN-001", "--note", "x", "--operation-id", "op-1"], "operation_conflict");
}
