//! How long an agent has. No daemon: whoever touches the item next makes the deadline happen.

use querent_core::{EffectKind, Party, Status, due, outstanding};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, architect, engineer, human, name};

fn asked() -> Scenario {
    given_implementing().and(engineer().asks("architect", "Which auth?"))
}

#[test]
fn nothing_is_due_before_the_sla_has_passed() {
    asked().later("1799s").when_looked_at().then_events([]).then_status(Q1, Status::Open);
}

#[test]
fn with_the_sla_passed_the_question_is_stale_and_the_addressee_is_called_again() {
    asked()
        .later("30m")
        .when_looked_at()
        .then_events(["question_stale", "question_retried"])
        .then_status(Q1, Status::Stale)
        .then(|it| {
            let entry = it.question(Q1).thread.last().unwrap();
            assert_eq!((entry.kind.as_str(), &entry.from), ("retry", &Party::Querent));
            assert_eq!(entry.body, "no answer in time; architect is called again");
            let call = EffectKind::CallAgent { agent: name("architect"), attempt: 2 };
            assert_eq!(outstanding(&it.state, &it.rules)[0].kind, call);
        });
}

#[test]
fn any_command_on_the_item_makes_the_deadline_happen_first() {
    asked().later("31m").when(engineer().starts()).then_events([
        "question_stale",
        "question_retried",
        "session_started",
    ]);
}

#[test]
fn a_refused_command_makes_it_happen_too() {
    asked()
        .later("31m")
        .when(human().opens("Again"))
        .then_refused(querent_core::Code::Conflict)
        .then_events(["question_stale", "question_retried"]);
}

#[test]
fn the_second_sla_runs_from_the_moment_that_stale_was_recorded() {
    asked()
        .later("100m")
        .when_looked_at()
        .then_events(["question_stale", "question_retried"])
        .later("29m")
        .when_looked_at()
        .then_events([])
        .later("1m")
        .when_looked_at()
        .then_events(["question_escalated", "item_paused"])
        .then_status(Q1, Status::Escalated)
        .then_stage("awaiting_input")
        .then_resumes_in("implement")
        .then(|it| {
            assert_eq!(it.question(Q1).to, Party::HUMAN);
            let body = &it.question(Q1).thread.last().unwrap().body;
            assert!(body.starts_with("architect did not answer engineer in time, twice"), "{body}");
        });
}

#[test]
fn a_stale_question_is_answered_like_an_open_one() {
    asked()
        .later("30m")
        .when_looked_at()
        .when(architect().answers(Q1, "JWT"))
        .then_reply(&json!({ "status": "answered" }))
        .later("10h")
        .when_looked_at()
        .then_events([]);
}

#[test]
fn an_answer_that_comes_with_the_deadline_finds_it_stale_and_is_taken() {
    asked()
        .later("30m")
        .when(architect().answers(Q1, "JWT"))
        .then_events(["question_stale", "question_retried", "question_answered"])
        .then_status(Q1, Status::Answered);
}

#[test]
fn the_answer_of_an_agent_that_missed_both_is_refused_because_a_human_has_it_now() {
    asked()
        .later("30m")
        .when_looked_at()
        .later("30m")
        .when(architect().answers(Q1, "JWT"))
        .then_events(["question_escalated", "item_paused"])
        .then_refused(querent_core::Code::HumanOnly);
}

#[test]
fn a_step_sets_its_own_sla() {
    given_implementing()
        .workflow(|feature| feature.steps[2].clarify_sla_minutes = 5)
        .and(engineer().asks("architect", "Which auth?"))
        .later("5m")
        .when_looked_at()
        .then_status(Q1, Status::Stale)
        .later("5m")
        .when_looked_at()
        .then_status(Q1, Status::Escalated);
}

#[test]
fn a_round_after_a_stale_one_begins_afresh() {
    asked()
        .later("30m")
        .and(architect().answers(Q1, "JWT"))
        .and(engineer().follows_up(Q1, "Which algorithm?"))
        .then_status(Q1, Status::Open)
        .later("30m")
        .when_looked_at()
        .then_events(["question_stale", "question_retried"]);
}

#[test]
fn a_question_that_does_not_block_goes_stale_too_but_pauses_nothing() {
    given_implementing()
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .later("30m")
        .when_looked_at()
        .later("30m")
        .when_looked_at()
        .then_events(["question_escalated"])
        .then_stage("implement");
}

#[test]
fn a_human_question_does_not_go_stale() {
    given_implementing().and(engineer().asks("human", "Which bank?")).then(|it| {
        assert_eq!(it.question(Q1).stale_at, None);
    });
}

#[test]
fn several_deadlines_pass_in_one_look_and_nothing_is_left_due() {
    asked()
        .and(engineer().asks("product-manager", "Which users?"))
        .and(engineer().asks("human", "Which bank?"))
        .later("7d")
        .when_looked_at()
        .then_events(["question_stale", "question_retried", "question_stale", "question_retried", "question_reminded"])
        .then(|it| assert_eq!(due(&it.state, it.now), []));
}

#[test]
fn the_item_knows_when_its_questions_are_due_without_reading_them() {
    asked().then(|it| {
        let item = it.the_item();
        assert_eq!(querent_core::needs_of_tick(item, it.at("29m")).questions, []);
        assert_eq!(querent_core::needs_of_tick(item, it.at("30m")).questions, [Q1.parse().unwrap()]);
    });
}
