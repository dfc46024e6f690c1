use crate::common::{Project, keys};

#[test]
fn a_directory_becomes_a_project_and_the_reply_says_how_to_go_on() {
    let project = Project::none();

    let reply = project.ok(&["init", "--workflow", "waves", "--name", "shop"]);

    assert_eq!(keys(&reply), ["created", "next"]);
    let created: Vec<&str> = reply["created"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(created.contains(&".querent/config.toml") && created.contains(&".gitignore"), "{created:?}");
    assert!(created.iter().all(|path| project.path().join(path).exists()), "{created:?}");
    let next = reply["next"].to_string();
    assert!(
        next.contains("querent ask --item 42 --from builder "),
        "the example's agent is one of the project: {next}"
    );
    assert!(next.contains("querent connect claude --agent builder "), "{next}");
    for name in ["codex", "opencode", "gemini", "vscode"] {
        assert!(next.contains(name), "how to connect {name}: {next}");
    }
    assert_eq!(project.ok(&["item", "list"])["items"], serde_json::json!([]));
}

#[test]
fn a_second_init_says_that_nothing_was_changed() {
    let project = Project::empty();
    let before = project.files();

    let again = project.run(&["init"]);

    assert_eq!(again.code, 0);
    assert!(again.stdout.contains("already; nothing was changed"), "{}", again.stdout);
    assert_eq!(project.files(), before);
}

#[test]
fn a_set_that_is_not_shipped_is_a_usage_error_that_names_the_nearest() {
    let project = Project::none();

    let error = project.refused(&["init", "--workflow", "featur"], "usage");

    assert!(error["hint"].as_str().unwrap().contains("`feature`"), "{error}");
    assert!(project.files().is_empty());
}

#[test]
fn git_sees_only_what_people_edit() {
    let project = Project::new();
    let id = project.asks_architect();
    project.ok(&["answer", &id, "--by", "architect", "--answer", "x"]);
    project.ok(&["doctor", "--repair"]);
    let ignored = std::fs::read_to_string(project.path().join(".gitignore")).unwrap();
    let is_ignored = |path: &str| {
        ignored.lines().any(|line| format!("{path}/").starts_with(&format!("{}/", line.trim_end_matches('/'))))
    };

    let seen: Vec<String> = project.files().into_iter().filter(|path| !is_ignored(path)).collect();

    let workflows = ["bug", "epic", "feature", "story"].map(|name| format!(".querent/workflows/{name}.toml"));
    let expected = [".gitignore", ".querent", ".querent/config.toml", ".querent/workflows"].map(str::to_owned);
    assert_eq!(seen, expected.into_iter().chain(workflows).collect::<Vec<_>>());
}

#[test]
fn the_guide_is_offered_and_written_on_demand() {
    let project = Project::none();
    let block = || std::fs::read_to_string(project.path().join("AGENTS.md")).ok();

    let plain = project.ok(&["init", "--name", "shop"]);
    let before = block();
    let guided = project.ok(&["init", "--guide"]);

    assert!(plain["next"].to_string().contains("querent init --guide"), "{plain}");
    assert_eq!((before, &guided["created"]), (None, &serde_json::json!(["AGENTS.md"])));
    assert!(!guided["next"].to_string().contains("--guide"), "{guided}");
    assert!(block().unwrap().contains("| engineer | implement (feature, "));
}

#[test]
fn damaged_marks_are_found_before_anything_is_made() {
    let project = Project::none();
    std::fs::write(project.path().join("AGENTS.md"), "<!-- querent:guide:end -->\n").unwrap();

    project.refused(&["init", "--guide"], "conflict");

    assert_eq!(project.files(), ["AGENTS.md"]);
}
