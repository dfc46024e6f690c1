use serde_json::json;

use crate::common::Project;

#[test]
fn an_overturned_one_marks_its_item_and_stands_first_in_the_context() {
    let project = Project::new();
    project.assumes("Tokens live for an hour", "low", "high");
    project.assumes("No passwords", "high", "medium");

    project.refused(&["assumptions", "review", "ASM-42-001", "--confirm", "--by", "engineer"], "human_only");
    let text =
        project.run(&["assumptions", "review", "ASM-42-002", "--overturn", "--note", "some have no e-mail"]).stdout;
    project.ok(&["assumptions", "review", "ASM-42-001", "--confirm"]);

    assert!(
        text.contains("ASM-42-002 is overturned: No passwords") && text.contains("Item 42 needs rework."),
        "{text}"
    );
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["needs_rework"], true);
    let confirmed = project.ok(&["assumptions", "--status", "confirmed"]);
    assert_eq!(confirmed["assumptions"].as_array().unwrap().len(), 1);
    let told = project.ok(&["context", "--item", "42", "--agent", "engineer"]);
    assert_eq!(told["overturned"][0]["decision"], "No passwords");
    assert_eq!(told["overturned"][0]["reviewed"]["note"], "some have no e-mail");
    assert_eq!(told["assumptions"][0]["id"], json!("ASM-42-001"));
}

#[test]
fn a_review_says_one_of_two_things() {
    let project = Project::new();
    project.assumes("Tokens live for an hour", "low", "high");

    for wrong in [
        &["assumptions", "review", "ASM-42-001"][..],
        &["assumptions", "review", "ASM-42-001", "--confirm", "--overturn"],
    ] {
        assert_eq!(project.run(wrong).code, 2);
    }
    project.refused(&["assumptions", "review", "ASM-42-009", "--confirm"], "invalid_input");
    project.refused(&["assumptions", "review", "CLR-42-001", "--confirm"], "invalid_input");
}
