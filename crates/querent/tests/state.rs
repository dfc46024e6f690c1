use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn a_session_that_waits_says_for_whom_and_the_asked_one_says_for_whom_it_answers() {
    let project = Project::new();
    project.ok(&["hook", "start", "--agent", "engineer"]);
    let id = project.asks_architect();

    let sessions = &project.ok(&["state"])["sessions"];

    let fields =
        ["agent", "clarification_id", "item", "last_activity", "responding_to", "session", "status", "waiting_on"];
    assert_eq!(keys(&sessions[0]), fields);
    let find = |agent: &str| sessions.as_array().unwrap().iter().find(|it| it["agent"] == agent).unwrap().clone();
    let (engineer, architect) = (find("engineer"), find("architect"));
    assert_eq!((&engineer["status"], &engineer["waiting_on"]), (&json!("blocked-clarification"), &json!("architect")));
    assert_eq!(engineer["clarification_id"], id);
    assert_eq!((&architect["status"], &architect["responding_to"]), (&json!("clarifying"), &json!("engineer")));
}

#[test]
fn nobody_at_work_is_a_sentence() {
    assert!(Project::empty().run(&["state"]).stdout.contains("querent hook start"));
}
