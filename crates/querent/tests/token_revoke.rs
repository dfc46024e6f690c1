use crate::common::Project;

#[test]
fn the_last_one_that_goes_leaves_the_door_open_and_it_is_said() {
    let project = Project::empty();
    project.ok(&["token", "create", "--role", "human"]);
    project.ok(&["token", "create", "--role", "observer"]);

    let first = project.run(&["token", "revoke", "TOK-001"]).stdout;
    let last = project.run(&["token", "revoke", "TOK-002"]).stdout;

    assert_eq!(first, "TOK-001 is revoked.\n");
    assert!(last.contains("lets everybody on it in"), "{last}");
    project.refused(&["token", "revoke", "TOK-002"], "invalid_transition");
    project.refused(&["token", "revoke", "TOK-009"], "invalid_input");
}
