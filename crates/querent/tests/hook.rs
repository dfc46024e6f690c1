use crate::common::Project;

#[test]
fn a_hook_without_a_moment_shows_the_help() {
    let shown = Project::none().run(&["hook"]);

    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains("start") && shown.stderr.contains("finish"), "{}", shown.stderr);
}

#[test]
fn the_environment_names_the_agent_and_the_item() {
    let project = Project::new();
    project.ok(&["item", "add", "43", "--title", "Another"]);
    project.refused(&["hook", "start", "--agent", "engineer"], "invalid_input");
    project.refused(&["hook", "start", "--item", "42"], "invalid_input");

    let mut command = project.querent(&["hook", "start", "--json"]);
    let output = command.env("QUERENT_AGENT", "engineer").env("QUERENT_ITEM", "42").output().unwrap();

    assert!(output.status.success());
    assert_eq!(project.ok(&["state"])["sessions"][0]["session"], "engineer@42");
}

#[test]
fn a_deadline_that_passed_on_another_item_comes_true() {
    for hook in ["start", "finish"] {
        let project = Project::new().without_patience();
        project.ok(&["item", "add", "7", "--title", "Another"]);
        project.asks_human_with(&["--fallback", "sql", "--because", "safe"]);

        project.ok(&["hook", hook, "--agent", "engineer", "--item", "7"]);

        assert!(project.run(&["events"]).stdout.contains("\"question_expired\""), "hook {hook}");
    }
}
