use crate::common::{Project, keys};

#[test]
fn the_demo_tells_the_whole_story() {
    let project = Project::none();

    let told = project.run(&["demo", "--dir", "shop"]);

    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    for part in [
        "blocked-clarification",
        "[Round 2] architect -> engineer",
        "[RESOLVED] 15 minutes, once, the latest only (by engineer)",
        "BLOCKED: clarification pending (CLR-42-002 waits for human)",
        "Item 42 goes on in implement.",
        "Try next:",
    ] {
        assert!(told.stdout.contains(part), "{part} is missing in {}", told.stdout);
    }
    assert_eq!(project.ok(&["questions", "--status", "all", "--project", "shop"])["count"], 2);
}

#[test]
fn the_demo_for_programs_is_one_envelope() {
    let project = Project::none();

    let reply = project.ok(&["demo", "--dir", "shop"]);

    assert_eq!(keys(&reply), ["dir", "items", "questions"]);
    assert_eq!(reply["items"][0]["stage"], "review");
    assert!(reply["questions"].as_array().unwrap().iter().all(|question| question["status"] == "resolved"));
}

#[test]
fn the_demo_never_touches_what_is_there() {
    let project = Project::new();
    std::fs::create_dir(project.path().join("full")).unwrap();
    std::fs::write(project.path().join("full/file"), "mine").unwrap();
    let before = project.files();

    project.refused(&["demo", "--dir", "."], "conflict");
    project.refused(&["demo", "--dir", "full"], "conflict");

    assert_eq!(project.files(), before);
}
