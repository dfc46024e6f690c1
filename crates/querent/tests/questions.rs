use crate::common::{Project, keys};

fn ids(project: &Project, more: &[&str]) -> Vec<String> {
    let reply = project.ok(&["questions"].into_iter().chain(more.iter().copied()).collect::<Vec<_>>());
    assert_eq!(keys(&reply), ["count", "questions"]);
    let found = reply["questions"].as_array().unwrap();
    assert_eq!(reply["count"], found.len());
    found.iter().map(|question| question["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_shows_what_is_active_unless_it_is_asked_for_more() {
    let project = Project::new();
    let [settled, answered, human] = ["CLR-42-001", "CLR-42-002", "CLR-42-003"];
    project.asks_architect();
    project.asks_architect();
    project.asks_human();
    for id in [settled, answered] {
        project.ok(&["answer", id, "--by", "architect", "--answer", "x"]);
    }
    project.ok(&["resolve", settled]);

    assert_eq!(ids(&project, &[]), [answered, human]);
    assert_eq!(ids(&project, &["--to", "human"]), [human]);
    assert_eq!(ids(&project, &["--status", "resolved"]), [settled]);
    assert_eq!(ids(&project, &["--item", "42", "--status", "all", "--to", "architect"]), [settled, answered]);
    assert!(ids(&project, &["--status", "stuck"]).is_empty());
}

#[test]
fn a_question_in_a_list_has_all_its_fields_but_its_thread() {
    let project = Project::new();
    project.asks_human();

    let question = &project.ok(&["questions"])["questions"][0];

    let fields = [
        "id",
        "item",
        "from",
        "to",
        "kind",
        "category",
        "blocker",
        "topic",
        "prompt",
        "context",
        "details",
        "options",
        "expected",
        "allow_free_text",
        "blocking",
        "fallback",
        "evidence",
        "tags",
        "round",
        "max_rounds",
        "status",
        "created_at",
        "stale_at",
        "remind_at",
        "expires_at",
        "resume_stage",
        "answer",
    ];
    assert!(fields.iter().all(|field| keys(question).contains(field)), "{question}");
    assert!(!keys(question).contains(&"thread"));
}

#[test]
fn people_see_an_aligned_table_or_a_sentence() {
    let project = Project::new();
    assert!(project.run(&["questions"]).stdout.starts_with("Nothing is open.\n"));
    project.asks_architect();
    project.asks_human();

    let table = project.run(&["questions"]).stdout;

    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["ID", "STATUS", "FROM", "TO", "AGE", "BLOCKS", "TOPIC"]
    );
    let column = |line: &str, word: &str| line.find(word);
    assert_eq!(column(lines[0], "TOPIC"), column(lines[1], "Tokens"));
    assert_eq!(column(lines[0], "TOPIC"), column(lines[2], "Store"));
}

#[test]
fn a_filter_that_names_nobody_is_refused() {
    let project = Project::new();

    project.refused(&["questions", "--to", "architec"], "unknown_agent");
    project.refused(&["questions", "--item", "nothing"], "item_not_found");
    project.refused(&["questions", "--status", "opened"], "usage");
}
