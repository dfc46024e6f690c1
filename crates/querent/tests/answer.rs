use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn an_option_is_given_by_id_label_or_text_in_any_case() {
    for given in ["redis", "REDIS", "the sql DATABASE"] {
        let project = Project::new();
        let id = project.asks_human();

        let reply = project.ok(&["answer", &id, "--answer", given, "--by", "human:alice"]);

        assert_eq!(keys(&reply), ["answer", "item_stage", "question_id", "resumed", "status"]);
        let value = if given.contains("sql") { "sql" } else { "redis" };
        assert_eq!((&reply["answer"]["value"], &reply["answer"]["by"]), (&json!(value), &json!("human:alice")));
        assert_eq!((&reply["resumed"], &reply["item_stage"]), (&json!(true), &json!("implement")));
    }
}

#[test]
fn a_wrong_answer_is_told_what_is_accepted_and_a_second_one_what_was_answered() {
    let project = Project::new();
    let id = project.asks_human();

    let wrong = project.refused(&["answer", &id, "--answer", "mysql"], "question_invalid_answer");
    project.ok(&["answer", &id, "--answer", "sql"]);
    let second = project.refused(&["answer", &id, "--answer", "redis"], "question_already_answered");

    assert!(wrong["hint"].as_str().unwrap().contains("redis (Redis), sql (The SQL database)"), "{wrong}");
    assert!(second["message"].as_str().unwrap().contains("The SQL database"), "{second}");
}

#[test]
fn an_answer_comes_from_a_file_from_standard_input_or_is_negative() {
    let project = Project::new();
    let (from_file, from_pipe) = (project.asks_architect(), project.asks_architect());
    std::fs::write(project.path().join("a.md"), "Two\nlines\n").unwrap();
    let number =
        project.ok(&["ask", "--from", "engineer", "--topic", "T", "--question", "Q?", "--expect", "number"])["question_id"].clone();

    let read = project.ok(&["answer", &from_file, "--answer", "@a.md", "--by", "architect"]);
    let piped = project.run_with_input(&["answer", &from_pipe, "--answer", "-", "--json"], "from a pipe\n").json();
    let negative = project.ok(&["answer", number.as_str().unwrap(), "--answer", "-1.5"]);

    assert_eq!(read["answer"]["text"], "Two\nlines");
    assert_eq!(piped["data"]["answer"]["text"], "from a pipe");
    assert_eq!(negative["answer"]["value"], json!(-1.5));
    project.refused(&["answer", &from_file, "--answer", "@missing.md"], "usage");
}

#[test]
fn only_the_addressee_or_a_human_answers() {
    let project = Project::new();
    let (to_architect, to_human) = (project.asks_architect(), project.asks_human());

    project.refused(&["answer", &to_architect, "--by", "reviewer", "--answer", "x"], "not_addressee");
    project.refused(&["answer", &to_human, "--by", "architect", "--answer", "redis"], "human_only");
    project.refused(&["answer", &to_human, "--by", "alice", "--answer", "redis"], "unknown_agent");
}
