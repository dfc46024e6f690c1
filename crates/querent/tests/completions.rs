use crate::common::Project;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let project = Project::none();

    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project.run(&["completions", shell]);
        assert_eq!(script.code, 0, "{}", script.stderr);
        assert!(script.stdout.contains("follow-up"), "{shell}");
    }
    assert!(project.ok(&["completions", "bash"])["script"].as_str().unwrap().contains("follow-up"));
    project.refused(&["completions", "csh"], "usage");
}
