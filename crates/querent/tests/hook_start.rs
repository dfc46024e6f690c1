use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn a_session_begins_and_the_item_stays_where_it_is() {
    let project = Project::new();

    let reply = project.ok(&["hook", "start", "--agent", "engineer", "--item", "42", "--session", "s-1"]);

    assert_eq!(keys(&reply), ["item", "session"]);
    assert_eq!((&reply["session"]["session"], &reply["session"]["status"]), (&json!("s-1"), &json!("working")));
    assert_eq!(reply["item"]["stage"], "implement");
}

#[test]
fn no_session_begins_while_the_item_waits_for_a_human() {
    let project = Project::new();
    let id = project.asks_human();

    let error = project.refused(&["hook", "start", "--agent", "engineer", "--item", "42"], "item_not_runnable");

    assert!(error.to_string().contains(&id), "{error}");
}
