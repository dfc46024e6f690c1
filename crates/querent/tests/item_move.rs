use crate::common::Project;

#[test]
fn a_person_moves_an_item_within_its_workflow() {
    let project = Project::new();

    assert_eq!(project.ok(&["item", "move", "42", "--to", "review"])["item"]["stage"], "review");

    let error = project.refused(&["item", "move", "42", "--to", "implemnt"], "invalid_input");
    assert!(error["hint"].as_str().unwrap().contains("`implement`"), "{error}");
}

#[test]
fn an_item_that_waits_for_a_human_is_moved_by_the_answer_only() {
    let project = Project::new();
    let id = project.asks_human();

    let error = project.refused(&["item", "move", "42", "--to", "review"], "item_not_runnable");

    assert!(error["hint"].as_str().unwrap().contains(&id), "{error}");
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["stage"], "awaiting_input");
}
