use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn an_item_is_ready_for_its_agent_or_says_why_not() {
    let project = Project::new();
    let free = project.ok(&["ready"])["items"][0].clone();
    let id = project.asks_human();

    let blocked = project.ok(&["ready"])["items"][0].clone();
    let table = project.run(&["ready"]).stdout;

    assert_eq!(keys(&free), ["agent", "blocked", "id", "reason", "stage", "title"]);
    assert_eq!((&free["agent"], &free["blocked"], &free["reason"]), (&json!("engineer"), &json!(false), &json!(null)));
    assert_eq!(blocked["blocked"], true);
    assert!(table.contains(&format!("BLOCKED: clarification pending ({id}")), "{table}");
}

#[test]
fn nothing_ready_is_a_sentence() {
    assert!(Project::empty().run(&["ready"]).stdout.starts_with("Nothing is ready"));
}
