use serde_json::{Value, json};

use crate::common::{Project, keys};

const FIELDS: [&str; 18] = [
    "assumptions_overturned",
    "auto_resolution_rate",
    "average_rounds",
    "by_category",
    "by_pair",
    "deadlocks",
    "escalation_rate",
    "fallbacks_used",
    "learned_used",
    "open",
    "settled",
    "since",
    "stale",
    "stuck",
    "time_to_answer",
    "topics",
    "total",
    "until",
];

/// Item 42: the architect answered one, a human another that was escalated, and a third is open.
fn after_three_questions() -> Project {
    let project = Project::new();
    let first = project.asks_architect();
    project.ok(&["answer", &first, "--by", "architect", "--answer", "15 minutes"]);
    project.ok(&["resolve", &first]);
    let second = ["ask", "--item", "42", "--from", "engineer", "--to", "architect", "--topic", "Tokens"];
    let second = project.ok(&[&second[..], &["--question", "How many?"]].concat());
    let second = second["question_id"].as_str().unwrap().to_owned();
    project.ok(&["escalate", &second]);
    project.ok(&["answer", &second, "--answer", "an hour"]);
    project.asks_human();
    project
}

#[test]
fn a_digest_counts_what_happened() {
    let project = after_three_questions();

    let digest = project.ok(&["digest"]);

    assert_eq!(keys(&digest), FIELDS);
    let counts = |fields: &[&str]| fields.iter().map(|field| digest[field].clone()).collect::<Vec<Value>>();
    assert_eq!(counts(&["total", "settled", "open"]), [3, 2, 1]);
    assert_eq!(counts(&["auto_resolution_rate", "escalation_rate", "average_rounds"]), [0.5, 0.5, 1.0]);
    assert!(digest["time_to_answer"]["agent"]["p50_seconds"].is_u64());
    assert!(digest["time_to_answer"]["human"]["p90_seconds"].is_u64());
    assert_eq!(
        digest["by_pair"],
        json!([
            { "from": "engineer", "to": "architect", "count": 2 },
            { "from": "engineer", "to": "human", "count": 1 },
        ])
    );
    assert_eq!(digest["by_category"], json!([{ "category": "clarification", "count": 3 }]));
    assert_eq!(digest["topics"], json!([{ "topic": "Tokens", "count": 2 }, { "topic": "Store", "count": 1 }]));
}

#[test]
fn a_rate_or_a_time_over_nothing_is_null() {
    let digest = Project::new().ok(&["digest"]);

    assert_eq!(keys(&digest), FIELDS);
    for field in ["auto_resolution_rate", "escalation_rate", "average_rounds"] {
        assert_eq!(digest[field], Value::Null, "{field}");
    }
    assert_eq!(digest["time_to_answer"]["human"], json!({ "p50_seconds": null, "p90_seconds": null }));
    assert_eq!((&digest["total"], &digest["topics"]), (&json!(0), &json!([])));
}

#[test]
fn a_digest_is_of_one_item_if_it_is_named() {
    let project = after_three_questions();
    project.ok(&["item", "add", "43", "--title", "Sign out"]);

    assert_eq!(project.ok(&["digest", "--item", "42"])["total"], 3);
    assert_eq!(project.ok(&["digest", "--item", "43"])["total"], 0);
}

#[test]
fn people_read_percentages_and_tables() {
    let project = after_three_questions();

    let text = project.run(&["digest", "--since", "24h"]).stdout;

    assert!(text.starts_with("The last 1d of all items\n  questions      3 asked, 2 settled, 1 open\n"), "{text}");
    assert!(text.contains("\n  auto-resolved  50%\n  escalated      50%\n  rounds         1.0 a question\n"), "{text}");
    assert!(
        text.contains("\n\nFROM      TO         QUESTIONS\nengineer  architect  2\nengineer  human      1\n\n"),
        "{text}"
    );
    assert!(text.contains("\nQUESTIONS  TOPIC\n2          Tokens\n1          Store\n"), "{text}");
}

#[test]
fn without_questions_it_says_so_and_has_no_tables() {
    let text = Project::new().run(&["digest"]).stdout;

    assert!(text.contains("\n  auto-resolved  nothing settled yet\n"), "{text}");
    assert!(text.contains("\n  humans answer  no answers yet\n"), "{text}");
    assert!(!text.contains("TOPIC"), "{text}");
}

#[test]
fn what_is_not_a_duration_or_an_item_is_refused() {
    let project = Project::new();

    project.refused(&["digest", "--since", "7"], "usage");
    project.refused(&["digest", "--since", "last week"], "usage");
    project.refused(&["digest", "--item", "nothing"], "item_not_found");
    project.refused(&["digest", "--item", "NOT AN ID"], "invalid_input");
}

#[test]
fn a_digest_comes_as_markdown_too_and_rates_over_nothing_say_so() {
    let project = Project::new();
    let empty = project.run(&["digest", "--format", "md"]).stdout;
    project.ok(&["ask", "--item", "42", "--from", "engineer", "--topic", "a|b <i>", "--question", "What?"]);

    let text = project.run(&["digest", "--format", "md"]).stdout;

    assert!(empty.contains("| escalated | nothing settled yet | under 20% |"), "{empty}");
    assert!(text.starts_with("# Questions of all items\n") && text.contains("| a\\|b \\<i\\> | 1 |"), "{text}");
    let (one, other) = (project.run(&["digest", "--format", "json"]).json(), project.ok(&["digest"]));
    assert_eq!((&one["data"]["total"], &one["ok"]), (&other["total"], &json!(true)));
}
