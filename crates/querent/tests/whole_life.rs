//! Questions from their first word to their last, as the shells of agents and people see them.

use serde_json::json;

use crate::common::Project;

fn stage(project: &Project) -> String {
    project.ok(&["item", "show", "42"])["item"]["stage"].as_str().unwrap().to_owned()
}

#[test]
fn engineer_and_architect_talk_until_the_rounds_are_used_up_and_a_human_decides() {
    let project = Project::new();
    project.ok(&["hook", "start", "--agent", "engineer"]);
    let id = project.asks_architect();
    let session = || {
        project.ok(&["state"])["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["agent"] == "engineer")
            .unwrap()
            .clone()
    };
    assert_eq!((&session()["status"], &session()["clarification_id"]), (&json!("blocked-clarification"), &json!(id)));

    for round in 1..=5 {
        let reply = project.ok(&["answer", &id, "--by", "architect", "--answer", &format!("answer {round}")]);
        assert_eq!((&reply["status"], &session()["status"]), (&json!("answered"), &json!("working")));
        if round < 5 {
            let reply = project.ok(&["follow-up", &id, "--from", "engineer", "--question", "But why?"]);
            assert_eq!(reply["round"], round + 1);
        }
    }
    let error =
        project.refused(&["follow-up", &id, "--from", "engineer", "--question", "Still?"], "max_rounds_exceeded");

    assert_eq!(
        (&error["details"]["status"], &error["details"]["item_stage"]),
        (&json!("escalated"), &json!("awaiting_input"))
    );
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["resume_stage"], "implement");
    project.refused(&["answer", &id, "--by", "architect", "--answer", "mine"], "human_only");
    let reply = project.ok(&["answer", &id, "--answer", "Because."]);
    assert_eq!((&reply["status"], &reply["resumed"]), (&json!("resolved"), &json!(true)));
    assert_eq!(stage(&project), "implement");
}

#[test]
fn one_blocking_human_question_pauses_the_item_and_others_may_still_be_asked() {
    let project = Project::new();
    let first = project.asks_human();
    let ask = |more: &[&'static str]| {
        let base = ["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question", "Another?"];
        base.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()
    };

    let conflict = project.refused(&ask(&["--to", "human"]), "question_conflict_open");
    let aside = project.ok(&ask(&["--to", "human", "--no-blocking"]));
    project.ok(&ask(&["--to", "architect"]));

    assert_eq!(conflict["details"]["question_id"], first);
    assert_eq!((stage(&project).as_str(), &aside["status"]), ("awaiting_input", &json!("open")));
    project.ok(&["answer", &first, "--answer", "redis"]);
    assert_eq!(stage(&project), "implement");
}

#[test]
fn an_ask_out_of_scope_says_who_is_allowed() {
    let project = Project::new();

    let error = project.refused(
        &["ask", "--item", "42", "--from", "engineer", "--to", "reviewer", "--topic", "T", "--question", "Q?"],
        "scope_violation",
    );

    assert_eq!(error["details"]["allowed"], json!(["architect", "product-manager", "human"]));
    assert!(error["hint"].as_str().unwrap().contains("architect, product-manager, human"), "{error}");
}

#[test]
fn an_item_whose_step_is_gone_goes_back_to_the_first_one_and_says_why() {
    let project = Project::new();
    let id = project.asks_human();
    let path = project.path().join(".querent/workflows/feature.toml");
    let workflow = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, workflow.replace("name = \"implement\"", "name = \"build\"")).unwrap();

    let reply = project.ok(&["answer", &id, "--answer", "sql"]);

    assert_eq!((&reply["item_stage"], &reply["resumed"]), (&json!("requirements"), &json!(true)));
    let page = project.run(&["item", "show", "42"]).stdout;
    assert!(page.contains("because") && page.contains("`implement`"), "{page}");
    assert!(project.run(&["events"]).stdout.lines().last().unwrap().contains("no longer has the step"));
}

#[test]
fn the_same_operation_from_many_processes_at_once_has_one_effect_and_one_reply() {
    let project = Project::new();
    let args = [
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--topic",
        "T",
        "--question",
        "Once?",
        "--operation-id",
        "op-1",
        "--json",
    ];

    let children: Vec<_> = (0..8).map(|_| Project::start(&mut project.querent(&args))).collect();
    let replies: Vec<Vec<u8>> = children.into_iter().map(|child| child.wait_with_output().unwrap().stdout).collect();

    assert!(replies.iter().all(|reply| *reply == replies[0] && !reply.is_empty()));
    assert_eq!(project.ok(&["questions"])["count"], 1);
}

#[test]
fn a_passed_deadline_is_seen_by_the_next_command_without_any_daemon() {
    let project = Project::new().without_patience();
    project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "human",
        "--topic",
        "T",
        "--question",
        "Q?",
        "--option",
        "a=A",
        "--option",
        "b=B",
        "--fallback",
        "b",
        "--because",
        "safe",
    ]);

    let question = project.ok(&["await", "CLR-42-001"]);

    assert_eq!((&question["status"], &question["answer"]["provenance"]), (&json!("expired"), &json!("fallback")));
    assert_eq!((question["answer"]["value"].clone(), stage(&project).as_str()), (json!("b"), "implement"));
    assert!(project.run(&["show", "CLR-42-001"]).stdout.contains("[EXPIRED]"));
}

#[test]
fn words_of_every_script_come_back_as_they_were_written() {
    let project = Project::new();
    let text = "naïve 日本語 \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{301}e\u{301} «quotes» \\n \"x\"";
    project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "architect",
        "--topic",
        text,
        "--question",
        text,
    ]);

    let question = &project.ok(&["show", "CLR-42-001"])["question"];

    assert_eq!((&question["topic"], &question["prompt"]), (&json!(text), &json!(text)));
}
