use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn a_new_item_stands_in_the_first_step_of_its_workflow() {
    let project = Project::empty();

    let item = &project.ok(&["item", "add", "42", "--title", "Grüße \u{1f44b}"])["item"];

    assert_eq!(item["title"], "Grüße \u{1f44b}");
    assert_eq!((&item["workflow"], &item["stage"]), (&json!("feature"), &json!("requirements")));
    assert_eq!((&item["resume_stage"], &item["open_question_count"]), (&json!(null), &json!(0)));
    let fields =
        ["id", "title", "workflow", "stage", "resume_stage", "open_question_id", "awaiting_since", "needs_rework"];
    assert!(fields.iter().all(|field| keys(item).contains(field)), "{item}");
}

#[test]
fn an_item_is_added_once() {
    let project = Project::new();

    project.refused(&["item", "add", "42", "--title", "Again"], "conflict");
    let error = project.refused(&["item", "add", "A B", "--title", "t"], "invalid_input");

    assert_eq!(error["details"]["field"], "item");
}

#[test]
fn an_operation_id_makes_it_happen_once_and_reply_the_same_bytes() {
    let project = Project::empty();
    let add = ["item", "add", "7", "--title", "Seven", "--operation-id", "op-7", "--json"];

    let (first, second) = (project.run(&add), project.run(&add));

    assert_eq!((first.code, &first.stdout), (0, &second.stdout));
    project.refused(&["item", "add", "8", "--title", "Eight", "--operation-id", "op-7"], "operation_conflict");
    assert_eq!(project.ok(&["item", "list"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn an_item_that_asks_nobody_takes_fallbacks_at_once() {
    let project = Project::empty();
    project.ok(&["item", "add", "42", "--title", "T", "--autonomy", "never_ask"]);
    project.ok(&["item", "move", "42", "--to", "implement"]);
    let id = project.asks_human_with(&["--fallback", "sql", "--because", "it is there"]);

    assert!(project.run(&["show", &id]).stdout.contains("[EXPIRED]"));
    assert_eq!(project.ok(&["assumptions"])["assumptions"][0]["source"], "autonomy");
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["stage"], "implement");
}
