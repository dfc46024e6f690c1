use crate::common::Project;

#[test]
fn it_says_what_can_be_done() {
    let output = Project::empty().run(&["notify"]);

    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("test"), "{}", output.stderr);
}
