use crate::common::Project;

#[test]
fn an_item_that_waits_says_for_what_and_where_it_goes_on() {
    let project = Project::new();
    let id = project.asks_human();

    let page = project.run(&["item", "show", "42"]).stdout;
    let item = &project.ok(&["item", "show", "42"])["item"];

    assert!(page.contains("stage     awaiting_input") && page.contains("goes on   in implement"), "{page}");
    assert!(page.contains(&format!("querent show {id}")), "{page}");
    assert_eq!((&item["open_question_id"], &item["resume_stage"]), (&id.into(), &"implement".into()));
}

#[test]
fn an_item_that_is_not_there_is_refused_with_the_nearest() {
    let project = Project::empty();
    project.ok(&["item", "add", "login-page", "--title", "t"]);

    let error = project.refused(&["item", "show", "login-pge"], "item_not_found");

    assert!(error["hint"].as_str().unwrap().contains("`login-page`"), "{error}");
}
