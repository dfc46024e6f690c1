use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn what_people_prefer_is_asked_once() {
    let project = Project::with_a_preference();

    let asked = project.asks_preference("43");

    assert_eq!((&asked["status"], &asked["answer"]["provenance"]), (&json!("resolved"), &json!("learned")));
    assert_eq!(asked["answer"]["learned"], json!({ "id": "LRN-001", "question_id": "CLR-42-001" }));
    let thread = project.run(&["show", "CLR-43-001"]).stdout;
    assert!(thread.contains("spaces (LRN-001, learned from CLR-42-001)"), "{thread}");
    assert!(thread.contains("[Round 1] querent -> engineer"), "{thread}");
    let list = project.run(&["questions", "--item", "43", "--status", "all"]).stdout;
    assert!(list.contains("resolved (learned)"), "{list}");
    let learned = &project.ok(&["learned"])["learned"][0];
    let fields = ["answer", "category", "confidence", "id", "pattern", "source", "status", "tags", "uses"];
    assert!(fields.iter().all(|field| keys(learned).contains(field)), "{learned}");
    assert_eq!((&learned["uses"], &learned["confidence"]), (&json!(1), &json!(0.9)));
    assert_eq!(learned["source"], json!({ "why": "preference", "questions": ["CLR-42-001"] }));
    assert_eq!(project.ok(&["digest"])["learned_used"], 1);
    let told = project.ok(&["context", "--item", "44", "--agent", "engineer"]);
    assert_eq!(told["learned"][0]["id"], "LRN-001");
    assert_eq!(project.ok(&["doctor"])["healthy"], true);
}

#[test]
fn a_question_asked_again_has_its_answer() {
    let project = Project::new();
    let id = project.asks_human();
    project.ok(&["answer", &id, "--answer", "sql"]);
    let ask = ["ask", "--item", "42", "--from", "engineer", "--to", "human", "--topic", "Store"];
    let ask =
        [&ask[..], &["--question", "WHERE?", "--option", "redis=Redis", "--option", "sql=The SQL database"]].concat();

    let text = project.run(&ask).stdout;
    let again = project.ok(&ask);

    assert!(text.contains("the same was asked before, and the answer stands"), "{text}");
    assert_eq!((&again["question_id"], &again["reused"]), (&json!(id), &json!(true)));
    assert_eq!(again["answer"]["value"], "sql");
}

#[test]
fn the_list_reads_well_with_and_without_anything_in_it() {
    assert_eq!(Project::new().run(&["learned"]).stdout, "Nothing was learned yet.\n");
    let project = Project::with_a_preference();

    let text = project.run(&["learned"]).stdout;

    assert!(text.starts_with("ID       STATUS  CONFIDENCE  USES  ANSWER  QUESTION\n"), "{text}");
    assert!(text.contains("LRN-001  active  0.9         0     spaces  Tabs or spaces?\n"), "{text}");
    assert!(text.contains("querent learned revoke ID"), "{text}");
    assert_eq!(project.run(&["learned", "--status", "revoked"]).stdout, "No learned answer is revoked.\n");
}

#[test]
fn nothing_is_learned_in_one_project_for_another() {
    let (taught, other) = (Project::with_a_preference(), Project::new());

    assert_eq!(taught.asks_preference("43")["answer"]["provenance"], "learned");
    assert_eq!(other.asks_preference("42")["answer"], json!(null));
}
