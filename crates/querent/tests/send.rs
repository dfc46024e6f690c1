use crate::common::Project;

#[test]
fn a_message_is_kept_for_the_agents_and_answers_nothing() {
    let project = Project::new();
    let id = project.asks_human();

    let item = project.ok(&["send", "42", "The deadline moved to Friday"])["item"].clone();

    assert_eq!(item["stage"], "awaiting_input");
    assert_eq!(project.ok(&["show", &id])["question"]["status"], "open");
    assert!(project.run(&["events"]).stdout.contains("\"message_sent\""));
}

#[test]
fn a_message_to_nobody_or_of_nothing_is_refused() {
    let project = Project::new();

    let error = project.refused(&["send", "42", "--to", "enginer", "Hurry"], "unknown_agent");
    assert!(error["hint"].as_str().unwrap().contains("`engineer`"), "{error}");
    project.refused(&["send", "42", " "], "invalid_input");
    project.ok(&["item", "end", "42", "--as", "merged"]);
    project.refused(&["send", "42", "Thank you"], "item_not_runnable");
}
