use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn a_beat_is_of_a_session_or_of_a_component_and_records_nothing() {
    let project = Project::new();
    project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"]);
    let events = project.run(&["events"]).stdout;

    let session = project.ok(&["beat", "engineer@42"]);
    let component = project.ok(&["beat", "build-runner"]);

    assert_eq!(keys(&session), ["at", "component", "session"]);
    assert_eq!((&session["session"], &component["session"]), (&json!("engineer@42"), &json!(null)));
    assert_eq!(project.run(&["events"]).stdout, events);
    assert_eq!(project.ok(&["monitor"]), json!({ "findings": [] }));
    assert_eq!(project.ok(&["beat", "build-runner", "--stop"])["at"], json!(null));
    project.refused(&["beat", "two words"], "invalid_input");
}
