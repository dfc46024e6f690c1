use crate::common::Project;

#[test]
fn without_a_command_the_help_is_shown_and_nothing_is_done() {
    let project = Project::none();

    let shown = project.run(&["item"]);

    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains("Usage: querent item") && shown.stdout.is_empty(), "{}", shown.stderr);
    project.refused(&["item"], "usage");
}
