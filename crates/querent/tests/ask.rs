use serde_json::{Value, json};

use crate::common::{Project, keys};

fn ask<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let base = ["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question", "Q?"];
    base.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn the_reply_has_the_shape_that_callers_rely_on() {
    let project = Project::new();

    let reply = project.ok(&ask(&[]));

    let fields = [
        "advice",
        "answer",
        "item_stage",
        "max_rounds",
        "question_id",
        "resume_stage",
        "reused",
        "round",
        "status",
        "to",
    ];
    assert_eq!(keys(&reply), fields);
    assert_eq!(reply["question_id"], "CLR-42-001");
    assert_eq!(reply["to"], "architect", "the first that the step allows");
    assert_eq!((&reply["round"], &reply["max_rounds"], &reply["answer"]), (&json!(1), &json!(5), &Value::Null));
}

#[test]
fn every_option_reaches_the_question() {
    let project = Project::new();
    std::fs::write(project.path().join("details.json"), r#"{"file": "src/a.rs"}"#).unwrap();

    project.ok(&ask(&[
        "--to",
        "human",
        "--kind",
        "confirming",
        "--category",
        "risk_ack",
        "--blocker",
        "security_decision",
        "--option",
        "a=Yes = yes",
        "--option",
        "b=No",
        "--recommend",
        "b",
        "--allow-free-text",
        "--no-blocking",
        "--fallback",
        "b",
        "--because",
        "safe",
        "--fallback-risk",
        "low",
        "--evidence",
        "searched=rg token",
        "--context",
        "Read this.",
        "--tag",
        "auth",
        "--tag",
        "ux",
        "--details",
        "@details.json",
        "--max-rounds",
        "2",
        "--session",
        "s-9",
    ]));

    let question = &project.ok(&["show", "CLR-42-001"])["question"];
    assert_eq!(question["from"], json!({ "agent": "engineer", "session": "s-9" }));
    for (field, value) in [
        ("to", json!("human")),
        ("kind", json!("confirming")),
        ("category", json!("risk_ack")),
        ("blocker", json!("security_decision")),
        ("blocking", json!(false)),
        ("allow_free_text", json!(true)),
        ("expected", json!({ "kind": "single_choice" })),
        ("fallback", json!({ "answer": "b", "reason": "safe", "risk": "low" })),
        ("evidence", json!({ "searched": "rg token" })),
        ("context", json!("Read this.")),
        ("tags", json!(["auth", "ux"])),
        ("details", json!({ "file": "src/a.rs" })),
        ("max_rounds", json!(2)),
    ] {
        assert_eq!(question[field], value, "{field}");
    }
    assert_eq!(
        (&question["options"][0]["label"], &question["options"][0]["recommended"]),
        (&json!("Yes = yes"), &json!(false))
    );
    assert_eq!(question["options"][1]["recommended"], true);
}

#[test]
fn options_in_full_are_json_with_known_fields_only() {
    let project = Project::new();

    project.ok(&ask(&[
        "--options",
        r#"[{"id":"a","label":"A","implications":"more work"}]"#,
        "--expect",
        "multi_choice",
    ]));
    let unknown = project.refused(&ask(&["--options", r#"[{"id":"a","lable":"A"}]"#]), "invalid_input");
    project.refused(&ask(&["--options", r#"[{"id":"#]), "usage");
    let nobody = project.refused(&ask(&["--option", "a=A", "--recommend", "z"]), "invalid_input");

    assert!(unknown["message"].as_str().unwrap().contains("`lable`"), "{unknown}");
    assert_eq!((&unknown["details"]["field"], &nobody["details"]["field"]), (&json!("options"), &json!("recommend")));
    assert_eq!(project.ok(&["show", "CLR-42-001"])["question"]["options"][0]["implications"], "more work");
}

#[test]
fn an_expected_form_is_a_word_or_a_schema() {
    let project = Project::new();
    std::fs::write(project.path().join("s.json"), r#"{"type": "object", "required": ["n"]}"#).unwrap();

    project.ok(&ask(&["--expect", "json:@s.json"]));
    let wrong = project.refused(&ask(&["--expect", "bolean"]), "usage");
    project.refused(&ask(&["--expect", "json:@missing.json"]), "usage");

    let expected = &project.ok(&["show", "CLR-42-001"])["question"]["expected"];
    assert_eq!(*expected, json!({ "kind": "json", "schema": { "type": "object", "required": ["n"] } }));
    assert!(wrong["hint"].as_str().unwrap().contains("`boolean`"), "{wrong}");
}

#[test]
fn the_item_and_the_agent_come_from_the_environment_or_are_the_only_ones() {
    let project = Project::new();
    let plain = ["ask", "--topic", "T", "--question", "Q?", "--json"];

    let only = project.querent(&plain).env("QUERENT_AGENT", "engineer").output().unwrap();
    project.ok(&["item", "add", "7", "--title", "Seven"]);
    let several = project.querent(&plain).env("QUERENT_AGENT", "engineer").output().unwrap();
    let named = project.querent(&plain).env("QUERENT_AGENT", "engineer").env("QUERENT_ITEM", "7").output().unwrap();

    assert!(only.status.success() && named.status.success());
    assert_eq!(several.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&several.stdout).contains(r#""field":"item""#));
    project.refused(&plain[..5], "invalid_input");
    assert_eq!(project.ok(&["questions"])["count"], 2);
}

#[test]
fn a_wait_that_runs_out_is_no_failure() {
    let project = Project::new();

    let reply = project.ok(&ask(&["--wait", "1ms", "--operation-id", "op"]));

    assert_eq!((&reply["status"], &reply["answer"]), (&json!("open"), &Value::Null));
    assert_eq!(keys(&reply).len(), 10);
}

#[test]
fn a_wait_ends_with_the_answer_and_reports_the_question_as_it_is() {
    let project = Project::new();
    project.ok(&ask(&["--operation-id", "op"]));
    let args = ask(&["--operation-id", "op", "--wait", "1h", "--json"]);
    let waiting = Project::start(&mut project.querent(&args));

    project.ok(&["answer", "CLR-42-001", "--by", "architect", "--answer", "15 minutes"]);

    let reply: Value = serde_json::from_slice(&waiting.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&reply["data"]["status"], &reply["data"]["answer"]["text"]),
        (&json!("answered"), &json!("15 minutes"))
    );
    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 1, "the replay opened no second question");
}

#[test]
fn people_read_what_happened_and_what_to_do_next() {
    let project = Project::new();

    let asked = project.run(&ask(&["--to", "human"])).stdout;

    assert!(asked.contains("CLR-42-001 to human is open (round 1 of 5)."), "{asked}");
    assert!(asked.contains("Item 42 waits for a human and then goes on in implement."), "{asked}");
    assert!(asked.contains("next: ") && asked.contains("querent answer CLR-42-001"), "{asked}");
}

#[test]
fn a_question_that_does_not_stand_alone_is_asked_all_the_same_with_advice() {
    let project = Project::new();
    let bad = ["ask", "--item", "42", "--from", "engineer", "--topic", "T", "--question", "Do it as above?"];

    let reply = project.ok(&bad);
    let told = project.run(&bad);
    let waited = project.ok(&bad.into_iter().chain(["--wait", "1ms"]).collect::<Vec<_>>());

    assert_eq!(reply["status"], "open");
    assert_eq!(reply["advice"].as_array().unwrap().len(), 1, "{reply}");
    assert_eq!(waited["advice"], reply["advice"]);
    assert!(told.stdout.contains("\nadvice: \"as above\" points at"), "{}", told.stdout);
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
}

#[test]
fn a_question_that_stands_alone_gets_no_advice() {
    let project = Project::new();

    let reply = project.ok(&ask(&["--to", "human", "--context", "Sessions must survive a restart."]));

    assert_eq!(reply["advice"], json!([]));
}
