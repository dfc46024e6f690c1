use serde_json::json;

use crate::common::{Output, Project};

/// Engineer and architect are at work on item 42.
pub(crate) fn at_work() -> Project {
    let project = Project::new();
    for agent in ["engineer", "architect"] {
        project.ok(&["hook", "start", "--agent", agent, "--item", "42"]);
    }
    project
}

#[test]
fn files_are_locked_together_and_what_another_holds_is_refused_with_the_holder() {
    let project = at_work();

    let reply = project.ok(&["lock", "src/b.rs", "./src//a.rs", "--session", "engineer@42"]);

    assert_eq!(reply, json!({ "granted": ["src/a.rs", "src/b.rs"], "waiting": [] }));
    let error = project.refused(&["lock", "docs", "src/*.rs", "--session", "architect@42"], "file_locked");
    assert_eq!(error["details"]["holder"]["session"], "engineer@42");
    assert!(error["details"].as_object().unwrap().contains_key("owner"), "{error}");
    assert_eq!(project.ok(&["locks"])["locks"].as_array().unwrap().len(), 2, "all or none");
}

#[test]
fn what_leads_out_of_the_project_is_refused_and_nothing_is_locked() {
    let project = at_work();
    std::os::unix::fs::symlink("/etc", project.path().join("out")).unwrap();

    for path in ["../x", "/etc/passwd", "out/passwd", "src/../../x", ""] {
        let error = project.refused(&["lock", path, "--session", "engineer@42"], "invalid_input");
        assert_eq!(error["details"]["field"], "path", "{path}");
    }
    project.refused(&["lock", "src", "--session", "nobody@42"], "invalid_input");
    project.refused(&["lock", "src", "--session", "engineer@42", "--ttl", "999ms"], "invalid_input");
    project.refused(&["lock", "src", "--session", "engineer@42", "--ttl", "0s"], "invalid_input");
    let absolute = project.path().join("src/a.rs").display().to_string();
    assert_eq!(project.ok(&["lock", &absolute, "--session", "engineer@42"])["granted"], json!(["src/a.rs"]));
}

#[test]
fn a_path_is_meant_from_where_the_call_is_made() {
    let project = at_work();
    std::fs::create_dir_all(project.path().join("src/auth")).unwrap();

    let mut command = project.querent(&["lock", "token.rs", "../b.rs", "--session", "engineer@42", "--json"]);
    let output = Output::of(command.current_dir(project.path().join("src/auth")).output().unwrap());

    assert!(output.stdout.contains("[\"src/auth/token.rs\",\"src/b.rs\"]"), "{}", output.stdout);
}

#[test]
fn whoever_waits_has_the_files_as_soon_as_they_are_free() {
    let project = at_work();
    project.ok(&["lock", "src", "--session", "engineer@42"]);

    let waiter = ["lock", "src/a.rs", "--session", "architect@42", "--wait", "1m", "--json"];
    let child = Project::start(&mut project.querent(&waiter));
    // The wait is on record; that is what is waited for here.
    while project.ok(&["locks"])["locks"][0]["waiting"] != json!(["architect@42"]) {
        std::thread::yield_now();
    }
    project.ok(&["unlock", "--session", "engineer@42"]);

    let output = Output::of(child.wait_with_output().unwrap());
    assert_eq!(output.json()["data"], json!({ "granted": ["src/a.rs"], "waiting": [] }));
    assert_eq!(project.ok(&["locks"])["locks"][0]["waiting"], json!([]));
}

#[test]
fn whoever_waits_has_the_files_when_the_lock_of_another_expires() {
    let project = at_work();
    project.ok(&["lock", "src", "--session", "engineer@42", "--ttl", "1s"]);

    let reply = project.ok(&["lock", "src/a.rs", "--session", "architect@42", "--wait", "1m"]);

    assert_eq!(reply["granted"], json!(["src/a.rs"]));
}

#[test]
fn a_wait_that_runs_out_is_refused_and_leaves_nothing_behind() {
    let project = at_work();
    project.ok(&["lock", "src", "--session", "engineer@42"]);

    let error = project.refused(&["lock", "src", "--session", "architect@42", "--wait", "0s"], "file_locked");

    assert_eq!(error["details"]["holder"]["agent"], "engineer");
    assert_eq!(project.ok(&["locks"])["locks"][0]["waiting"], json!([]));
    assert!(project.run(&["events"]).stdout.contains("\"type\":\"lock_wait_ended\""));
}

#[test]
fn the_same_operation_is_carried_out_once() {
    let project = at_work();
    let line = ["lock", "src", "--session", "engineer@42", "--operation-id", "op-1"];

    let first = project.ok(&line);
    project.ok(&["unlock", "--session", "engineer@42"]);

    assert_eq!(project.ok(&line), first);
    assert_eq!(project.ok(&["locks"])["locks"], json!([]), "a replay takes nothing");
}
