use crate::common::{Project, keys};

#[test]
fn the_secret_is_shown_once_and_stands_nowhere() {
    let project = Project::empty();

    let made = project.ok(&["token", "create", "--role", "human", "--name", "alice", "--expires", "7d"]);

    assert_eq!(keys(&made), ["expires_at", "id", "name", "role", "token"]);
    assert_eq!((&made["id"], &made["role"]), (&"TOK-001".into(), &"human".into()));
    let secret = made["token"].as_str().unwrap();
    assert!(secret.len() > 40 && secret.starts_with("qrt_"), "{secret}");
    let grep =
        std::process::Command::new("grep").args(["-r", secret, "."]).current_dir(project.path()).output().unwrap();
    assert!(grep.stdout.is_empty());
    assert!(!project.run(&["events"]).stdout.contains(secret));
}

#[test]
fn a_replay_does_not_show_it_again_and_bad_wishes_make_nothing() {
    let project = Project::empty();
    let line = ["token", "create", "--role", "observer", "--operation-id", "op-1"];
    project.ok(&line);

    project.refused(&line, "operation_conflict");
    project.refused(&["token", "create", "--role", "admin"], "invalid_input");
    project.refused(&["token", "create", "--role", "agent:nobody"], "unknown_agent");
    project.refused(&["token", "create", "--role", "human", "--name", " "], "invalid_input");
    assert_eq!(project.ok(&["token", "list"])["tokens"].as_array().unwrap().len(), 1);
}
