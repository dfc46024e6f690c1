use serde_json::json;

use crate::common::{Project, keys};

/// A project in which a process that worked on an item is gone.
fn with_an_alert() -> Project {
    let project = Project::new();
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id().to_string();
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42", "--pid", &pid]);
    child.kill().unwrap();
    child.wait().unwrap();
    project.ok(&["ready"]);
    project
}

#[test]
fn an_alert_that_was_seen_leaves_the_list_and_is_not_raised_again_at_once() {
    let project = with_an_alert();
    let listed = project.ok(&["alerts"])["alerts"][0].clone();
    assert_eq!(
        keys(&listed),
        [
            "acknowledged",
            "acknowledged_at",
            "acknowledged_by",
            "context",
            "created_at",
            "id",
            "message",
            "severity",
            "source",
            "type"
        ]
    );
    assert_eq!((&listed["type"], &listed["source"]), (&json!("component_down"), &json!("engineer@42")));

    let reply = project.ok(&["alerts", "ack", "ALR-001", "--by", "human:alice"]);

    assert_eq!(reply["alert"]["acknowledged_by"], "human:alice");
    assert_eq!(project.ok(&["alerts"]), json!({ "alerts": [] }));
    assert_eq!(project.ok(&["alerts", "--all"])["alerts"][0]["acknowledged"], true);
    project.ok(&["monitor"]);
    assert_eq!(project.ok(&["alerts"]), json!({ "alerts": [] }));
}

#[test]
fn only_a_person_acknowledges_and_only_once() {
    let project = with_an_alert();

    project.refused(&["alerts", "ack", "ALR-001", "--by", "engineer"], "human_only");
    project.refused(&["alerts", "ack", "ALR-002"], "invalid_input");
    project.refused(&["alerts", "ack", "1"], "invalid_input");
    let line = ["alerts", "ack", "ALR-001", "--operation-id", "op-1"];
    assert_eq!(project.ok(&line), project.ok(&line));
    project.refused(&["alerts", "ack", "ALR-001"], "invalid_transition");
}

#[test]
fn the_session_of_a_process_that_is_gone_is_given_up() {
    let project = with_an_alert();

    assert_eq!(project.ok(&["state"])["sessions"][0]["status"], "stuck");
    assert!(project.run(&["events"]).stdout.contains("\"type\":\"session_lost\""));
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"]);
    assert_eq!(project.ok(&["state"])["sessions"][0]["status"], "working");
    project.refused(&["hook", "start", "--agent", "engineer", "--item", "42", "--pid", "4294967295"], "invalid_input");
}
