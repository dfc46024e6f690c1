use crate::common::Project;

#[test]
fn an_event_is_kept_with_those_who_listen_to_it() {
    let project = Project::new().with_config("[agents.sia]\nrank = 9\non = [\"spec.*\"]\n");

    project.ok(&["emit", "spec.approved", "--item", "42", "--data", "{\"spec\": \"docs/spec.md\"}"]);

    let events = project.run(&["events"]).stdout;
    let emitted: serde_json::Value =
        serde_json::from_str(events.lines().find(|line| line.contains("event_emitted")).unwrap()).unwrap();
    assert_eq!(emitted["data"]["to"][0], "sia");
    assert_eq!(emitted["data"]["data"]["spec"], "docs/spec.md");
}

#[test]
fn an_event_without_a_proper_name_or_data_is_refused() {
    let project = Project::new();

    project.refused(&["emit", "Spec Approved", "--item", "42"], "invalid_input");
    assert_eq!(project.run(&["emit", "spec.approved", "--item", "42", "--data", "[1]", "--json"]).code, 1);
}
