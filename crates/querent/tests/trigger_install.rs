use crate::common::Project;

#[test]
fn a_set_becomes_a_file_once() {
    let project = Project::empty();

    let first = project.ok(&["trigger", "install", "ux"]);
    let second = project.ok(&["trigger", "install", "ux"]);

    assert_eq!(first["created"], serde_json::json!([".querent/questions/ux.yaml"]));
    assert_eq!(second["created"], serde_json::json!([]));
    assert!(project.path().join(".querent/questions/ux.yaml").exists());
}

#[test]
fn an_edited_file_is_left_as_it_is() {
    let project = Project::empty();
    project.ok(&["trigger", "install", "ux"]);
    let file = project.path().join(".querent/questions/ux.yaml");
    std::fs::write(&file, "# mine\n").unwrap();

    let error = project.refused(&["trigger", "install", "ux"], "conflict");

    assert!(error["hint"].as_str().unwrap().contains("rename"), "{error}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "# mine\n");
}

#[test]
fn a_set_that_is_not_shipped_is_a_usage_error_that_names_the_nearest() {
    let project = Project::empty();

    let error = project.refused(&["trigger", "install", "idea"], "usage");

    assert!(error["hint"].as_str().unwrap().contains("`ideation`"), "{error}");
}
