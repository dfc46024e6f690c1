use serde_json::json;

use crate::common::Project;

#[test]
fn an_agent_is_told_what_is_open_and_what_was_answered_newest_first() {
    let project = Project::new();
    for number in 1..=4 {
        let prompt = format!("Question {number}?");
        let asked = project.ok(&[
            "ask",
            "--item",
            "42",
            "--from",
            "engineer",
            "--to",
            "architect",
            "--topic",
            "Things",
            "--question",
            &prompt,
        ]);
        let answer = format!("Answer {number}");
        project.ok(&["answer", asked["question_id"].as_str().unwrap(), "--by", "architect", "--answer", &answer]);
    }
    let open = project.asks_human();

    let told = project.ok(&["context", "--item", "42", "--agent", "engineer"]);
    let text = project.run(&["context", "--item", "42", "--agent", "engineer"]).stdout;

    assert_eq!((&told["item"], &told["agent"]), (&json!("42"), &json!("engineer")));
    assert_eq!(told["open_questions"][0]["id"], json!(open));
    let answers: Vec<&str> =
        told["answers"].as_array().unwrap().iter().map(|it| it["answer"]["text"].as_str().unwrap()).collect();
    assert_eq!(answers, ["Answer 4", "Answer 3", "Answer 2"]);
    assert_eq!(told["answers"][0]["answer"]["provenance"], "agent");
    for field in ["overturned", "assumptions", "learned"] {
        assert_eq!(told[field], json!([]), "{field}");
    }
    assert!(text.starts_with("# Item 42: Sign in by e-mail\n"), "{text}");
    assert!(text.contains("- CLR-42-004: Question 4? -> Answer 4 (agent, by architect)"), "{text}");
    assert!(!text.contains("## Overturned"), "{text}");
}

#[test]
fn the_context_is_an_envelope_where_json_is_wanted_and_for_agents_only() {
    let project = Project::new();

    let asked = project.run(&["context", "--item", "42", "--agent", "engineer", "--format", "json"]);

    assert!(asked.stdout.starts_with("{\"ok\":true,\"data\":{\"item\":\"42\""), "{}", asked.stdout);
    project.refused(&["context", "--item", "42", "--agent", "human"], "invalid_input");
    project.refused(&["context", "--item", "42", "--agent", "enginer"], "unknown_agent");
}
