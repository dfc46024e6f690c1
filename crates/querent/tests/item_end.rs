use crate::common::Project;

#[test]
fn the_end_of_an_item_withdraws_what_is_open_and_keeps_it() {
    let project = Project::new();
    let id = project.asks_architect();

    assert_eq!(project.ok(&["item", "end", "42", "--as", "merged"])["item"]["stage"], "merged");

    let question = &project.ok(&["show", &id])["question"];
    assert_eq!(question["status"], "withdrawn");
    assert_eq!(question["thread"].as_array().unwrap().len(), 2);
    project.refused(&["answer", &id, "--answer", "x"], "question_answer_not_allowed_in_terminal_state");
}

#[test]
fn an_item_ends_once_and_in_one_of_two_ways() {
    let project = Project::new();

    let error = project.refused(&["item", "end", "42", "--as", "done"], "usage");
    project.ok(&["item", "end", "42", "--as", "failed"]);

    assert!(error["hint"].as_str().unwrap().contains("merged, failed"), "{error}");
    project.refused(&["item", "end", "42", "--as", "merged"], "invalid_transition");
}
