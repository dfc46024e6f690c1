use serde_json::json;

use crate::common::Project;

#[test]
fn the_items_say_which_question_holds_them_and_since_when() {
    let project = Project::new();
    let id = project.asks_human();

    let item = project.ok(&["status"])["items"][0].clone();
    let table = project.run(&["status"]).stdout;

    assert_eq!((&item["open_question_id"], &item["open_question_count"]), (&json!(id), &json!(1)));
    assert_eq!((&item["stage"], &item["resume_stage"]), (&json!("awaiting_input"), &json!("implement")));
    assert!(item["awaiting_since"].as_str().unwrap().ends_with('Z'));
    assert!(
        table.starts_with("ID  STAGE           QUESTION    WAITS  GOES ON IN  TITLE\n42  awaiting_input  CLR-42-001  "),
        "{table}"
    );
    assert!(Project::empty().run(&["status"]).stdout.contains("querent item add"));
}
