use crate::common::Project;

#[test]
fn the_riskiest_and_least_certain_that_nobody_judged_comes_first() {
    let project = Project::new();
    assert!(project.run(&["assumptions"]).stdout.contains("Nothing was assumed yet."));
    project.assumes("Tokens live for an hour", "low", "high");
    project.assumes("No passwords", "high", "medium");
    project.assumes("One region", "high", "low");

    let shown = project.run(&["assumptions"]).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("ID") && lines[0].ends_with("DECISION"), "{shown}");
    assert!(lines[1].contains("One region") && lines[2].contains("No passwords"), "{shown}");
    assert!(shown.contains("querent assumptions review ID"), "{shown}");
}
