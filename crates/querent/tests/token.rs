use crate::common::Project;

#[test]
fn without_a_subcommand_it_says_what_there_is() {
    let output = Project::empty().run(&["token"]);

    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("create"), "{}", output.stderr);
}
