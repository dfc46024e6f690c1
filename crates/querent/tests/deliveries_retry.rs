use crate::common::Project;

#[test]
fn there_is_nothing_to_try_again_where_nothing_failed() {
    let project = Project::new();
    project.ok(&["ask", "--item", "42", "--from", "engineer", "--to", "human", "--topic", "T", "--question", "Q"]);

    let none = project.run(&["deliveries", "retry", "CLR-42-001"]);
    let unknown = project.run(&["deliveries", "retry", "CLR-42-001", "--channel", "pigeon"]);

    assert_eq!((none.code, unknown.code), (1, 1));
    assert!(none.stderr.contains("no notification of CLR-42-001 was given up"), "{}", none.stderr);
    assert!(unknown.stderr.contains("there is no channel `pigeon`"), "{}", unknown.stderr);
}
