use crate::common::Project;

#[test]
fn an_answered_question_gets_another_round_from_its_asker() {
    let project = Project::new();
    let id = project.asks_architect();
    project.refused(&["follow-up", &id, "--from", "engineer", "--question", "Now?"], "invalid_transition");
    project.ok(&["answer", &id, "--by", "architect", "--answer", "15 minutes"]);
    project.refused(&["follow-up", &id, "--from", "reviewer", "--question", "Why?"], "not_asker");

    let mut command = project.querent(&["follow-up", &id, "--question", "And guests?", "--json"]);
    let reply = command.env("QUERENT_AGENT", "engineer").output().unwrap();

    assert!(String::from_utf8_lossy(&reply.stdout).contains(r#""status":"open","to":"architect","round":2"#));
}

#[test]
fn a_follow_up_without_a_caller_is_refused() {
    let project = Project::new();

    let error = project.refused(&["follow-up", "CLR-42-001", "--question", "Q"], "invalid_input");

    assert_eq!(error["details"]["field"], "from");
}

#[test]
fn a_follow_up_gets_advice_on_its_own_prompt() {
    let project = Project::new();
    let id = project.asks_architect();
    project.ok(&["answer", &id, "--by", "architect", "--answer", "15 minutes"]);

    let reply = project.ok(&["follow-up", &id, "--from", "engineer", "--question", "For guests? For admins?"]);

    assert_eq!((&reply["status"], reply["advice"].as_array().unwrap().len()), (&"open".into(), 1), "{reply}");
}
