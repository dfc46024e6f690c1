use crate::common::Project;

#[test]
fn it_says_where_it_comes_from_and_how_often_it_was_used() {
    let project = Project::with_a_preference();
    let unused = project.run(&["learned", "show", "LRN-001"]).stdout;
    project.asks_preference("43");
    project.ok(&["answer", "CLR-43-001", "--answer", "tabs"]);

    let text = project.run(&["learned", "show", "LRN-001"]).stdout;

    assert!(unused.contains("It was not used yet."), "{unused}");
    let lines = ["LRN-001 is active (confidence 0.6)", "Q: Tabs or spaces?", "A: spaces", "Used once"];
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");
    assert!(text.contains("from CLR-42-001, a preference, given by human:alice."), "{text}");
    assert!(text.contains("A human said otherwise once."), "{text}");
    assert_eq!(project.ok(&["learned", "show", "LRN-001"])["learned"]["overruled"], 1);
}

#[test]
fn what_is_not_there_is_named() {
    let project = Project::with_a_preference();

    let unknown = project.refused(&["learned", "show", "LRN-009"], "invalid_input");

    assert!(unknown["message"].as_str().unwrap().contains("LRN-009"));
    project.refused(&["learned", "show", "LRN-1"], "invalid_input");
}
