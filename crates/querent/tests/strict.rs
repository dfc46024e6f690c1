//! An agent whose gate is strict, on the command line.

use serde_json::{Value, json};

use crate::common::{Output, Project};

/// A project in which the product manager asks people only under strict conditions, with items that are planned.
fn strict(items: &[&str]) -> Project {
    let project = Project::empty();
    let file = project.path().join(".querent/config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let changed = config.replacen("[agents.product-manager]\n", "[agents.product-manager]\ngate = \"strict\"\n", 1);
    assert_ne!(config, changed);
    std::fs::write(&file, changed).unwrap();
    for item in items {
        project.ok(&["item", "add", item, "--title", "Pay with Stripe"]);
    }
    project
}

fn ask(item: &str) -> Vec<&str> {
    vec![
        "ask",
        "--item",
        item,
        "--from",
        "product-manager",
        "--to",
        "human",
        "--topic",
        "Stripe environment",
        "--question",
        "Which Stripe environment is configured?",
        "--blocker",
        "missing_external_data",
        "--evidence",
        "codebase_search=No keys in config/, .env or secrets/",
        "--evidence",
        "similar_features=No payment is integrated yet",
        "--evidence",
        "attempted_inference=Nothing says whether this is for tests",
        "--option",
        "a=Test mode",
        "--option",
        "b=Production mode",
        "--option",
        "c=Both, by an environment variable",
        "--fallback",
        "a",
        "--because",
        "test mode charges nobody",
        "--fallback-risk",
        "low",
    ]
}

fn conditions(refusal: &Value) -> Vec<(String, bool)> {
    let listed = refusal["details"]["conditions"].as_array().unwrap();
    listed.iter().map(|it| (it["condition"].as_str().unwrap().to_owned(), it["met"] == true)).collect()
}

#[test]
fn a_question_that_meets_all_conditions_is_asked_and_says_what_happens_without_an_answer() {
    let project = strict(&["42"]);

    let reply = project.ok(&ask("42"));

    assert_eq!((&reply["status"], &reply["max_rounds"]), (&json!("open"), &json!(1)));
    let page = project.run(&["show", "CLR-42-001"]).stdout;
    assert!(page.contains("In the way: missing external data"), "{page}");
    assert!(page.contains("Tried:\n    attempted_inference: Nothing says"), "{page}");
    assert!(page.contains("Without an answer: uses (a) in 4m"), "{page}");
    assert!(page.contains("because test mode charges nobody (risk: low)"), "{page}");
    let answer = project.ok(&["answer", "CLR-42-001", "--answer", "c", "--by", "human:alice"]);
    assert_eq!((&answer["resumed"], &answer["item_stage"]), (&json!(true), &json!("requirements")));
}

#[test]
fn a_question_about_a_detail_is_refused_with_all_that_is_missing_and_what_to_do_instead() {
    let project = strict(&["42"]);
    let detail = ["ask", "--item", "42", "--from", "product-manager", "--to", "human", "--topic", "Tests"];
    let detail = [&detail[..], &["--question", "Which test framework?"]].concat();

    let refusal = project.refused(&detail, "conditions_not_met");
    let page = project.run(&detail).stderr;

    let expected = [("blocker", false), ("evidence", false), ("quota", true), ("planning", true), ("question", true)];
    assert_eq!(conditions(&refusal)[..5], expected.map(|(name, met)| (name.to_owned(), met)));
    assert!(page.contains("querent assume --item 42 --agent product-manager"), "{page}");
    assert_eq!(project.ok(&["questions", "--item", "42", "--status", "all"])["count"], 0);
}

#[test]
fn the_quota_holds_across_processes_and_whatever_is_written_later() {
    let project = strict(&["42", "43"]);
    project.ok(&ask("42"));
    project.ok(&["hook", "start", "--item", "43", "--agent", "product-manager"]);
    project.ok(&["doctor", "--repair"]);

    let other = project.refused(&ask("43"), "conditions_not_met");
    project.ok(&["answer", "CLR-42-001", "--answer", "a"]);
    let more = ["--question", "Which currency?", "--json"];
    let line: Vec<&str> = ask("42").into_iter().filter(|it| *it != "Which Stripe environment is configured?").collect();
    let line: Vec<&str> = line.into_iter().filter(|it| *it != "--question").chain(more).collect();
    let again = project.run(&line).error("conditions_not_met");
    let next = project.ok(&ask("43"));

    assert!(other["hint"].as_str().unwrap().contains("CLR-42-001 is open"), "{other}");
    assert!(again["hint"].as_str().unwrap().contains("has asked its one question, CLR-42-001"), "{again}");
    assert_eq!(next["question_id"], "CLR-43-001");
}

#[test]
fn of_many_processes_at_once_exactly_one_passes() {
    let items = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let project = strict(&items);
    let lines: Vec<Vec<&str>> = items.iter().map(|item| [&ask(item)[..], &["--json"]].concat()).collect();

    let started: Vec<_> = lines.iter().map(|line| Project::start(&mut project.querent(line))).collect();
    let ended: Vec<Output> = started.into_iter().map(|child| Output::of(child.wait_with_output().unwrap())).collect();

    assert_eq!(ended.iter().filter(|output| output.code == 0).count(), 1);
    for refused in ended.iter().filter(|output| output.code != 0) {
        let refusal = refused.error("conditions_not_met");
        let unmet: Vec<_> = conditions(&refusal).into_iter().filter(|(_, met)| !met).collect();
        assert_eq!(unmet, [("quota".to_owned(), false)]);
    }
    assert_eq!(project.ok(&["doctor"])["healthy"], true);
}

#[test]
fn a_complex_matter_needs_an_investigation() {
    let project = strict(&["42"]);
    let line = [&ask("42")[..], &["--complex"]].concat();

    let refusal = project.refused(&line, "conditions_not_met");

    assert!(refusal["hint"].as_str().unwrap().contains("--evidence investigation=…"), "{refusal}");
    project.ok(&[&line[..], &["--evidence", "investigation=Asked the vendor's docs"]].concat());
}
