//! An answer after the end is kept. It leaves the status as it is, and may bring the item back.

use querent_core::{Code, OnTimeout, Outcome, Party, Provenance, Status};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, alice, architect, engineer, human};

/// A question to a human whose fallback `jwt` was taken.
fn fallback_taken() -> Scenario {
    let options = [("jwt", "JSON Web Tokens"), ("cookie", "Cookie")];
    given_implementing()
        .and(engineer().asks("human", "Which auth?").options(options).else_takes("jwt", "it is stateless"))
        .later("15m")
        .when_looked_at()
}

fn blocked_by_expiry() -> Scenario {
    given_implementing()
        .on_timeout(OnTimeout::Block)
        .and(engineer().asks("human", "Which bank?"))
        .later("15m")
        .when_looked_at()
        .then_stage("blocked")
}

#[test]
fn a_late_answer_that_differs_from_the_fallback_marks_the_item_for_rework() {
    fallback_taken()
        .later("5m")
        .when(alice().answers(Q1, "cookie"))
        .then_events(["late_answer_recorded", "assumption_overturned"])
        .then_reply(&json!({
            "status": "expired", "item_stage": "implement", "resumed": false,
            "answer": { "value": "cookie", "by": "human:alice", "provenance": "human" },
        }))
        .then_status(Q1, Status::Expired)
        .then(|it| {
            assert!(it.item_view().needs_rework);
            let entry = it.question(Q1).thread.last().unwrap();
            assert_eq!((entry.kind.as_str(), &entry.value), ("late_answer", &Some(json!("cookie"))));
        });
}

#[test]
fn a_late_answer_that_agrees_changes_nothing_but_who_said_it() {
    fallback_taken().and(human().answers(Q1, "JSON web tokens")).then(|it| {
        assert!(!it.item_view().needs_rework);
        let answer = it.question(Q1).answer.as_ref().unwrap();
        assert_eq!((answer.provenance, &answer.by), (Provenance::Human, &Party::HUMAN));
    });
}

#[test]
fn there_is_one_late_answer() {
    fallback_taken()
        .and(human().answers(Q1, "cookie"))
        .when(human().answers(Q1, "jwt"))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn a_late_answer_must_be_one_that_the_question_accepts() {
    fallback_taken().when(human().answers(Q1, "saml")).then_refused(Code::QuestionInvalidAnswer);
}

#[test]
fn a_late_answer_to_a_human_question_is_still_for_humans_only() {
    fallback_taken().when(architect().answers(Q1, "cookie")).then_refused(Code::HumanOnly);
}

#[test]
fn a_late_answer_resumes_an_item_that_the_expiry_blocked() {
    blocked_by_expiry()
        .when(human().answers(Q1, "any"))
        .then_events(["late_answer_recorded", "item_resumed"])
        .then_reply(&json!({ "status": "expired", "item_stage": "implement", "resumed": true }))
        .then_stage("implement")
        .then(|it| {
            assert!(!it.item_view().needs_rework, "nothing was built without it");
            assert_eq!(it.item_view().status_reason.as_deref(), Some("CLR-42-001 was answered late"));
            assert_eq!(it.item_view().resume_stage, None);
        });
}

#[test]
fn a_late_answer_resumes_into_the_first_step_where_the_workflow_lost_the_other() {
    blocked_by_expiry()
        .workflow(|feature| feature.steps.retain(|step| step.name != "implement"))
        .and(human().answers(Q1, "any"))
        .then_stage("requirements")
        .then(|it| assert!(it.item_view().status_reason.unwrap().contains("no longer has the step `implement`")));
}

#[test]
fn a_late_answer_moves_nothing_once_a_person_moved_the_item_on() {
    blocked_by_expiry()
        .and(human().moves_to("review"))
        .when(human().answers(Q1, "any"))
        .then_events(["late_answer_recorded"])
        .then_stage("review");
}

#[test]
fn a_late_answer_to_a_question_that_just_ended_is_kept() {
    given_implementing()
        .and(engineer().asks("architect", "Tabs?").without_blocking().expires_in("1m"))
        .later("1m")
        .when_looked_at()
        .then_status(Q1, Status::Expired)
        .when(architect().answers(Q1, "no"))
        .then_events(["late_answer_recorded"])
        .then_status(Q1, Status::Expired)
        .then(|it| {
            assert!(!it.item_view().needs_rework);
            assert_eq!(it.question(Q1).answer.as_ref().unwrap().provenance, Provenance::Agent);
        });
}

#[test]
fn no_late_answer_is_taken_once_the_item_has_ended() {
    fallback_taken()
        .and(human().ends_as(Outcome::Merged))
        .when(human().answers(Q1, "cookie"))
        .then_refused(Code::QuestionAnswerNotAllowedInTerminalState)
        .then_status(Q1, Status::Expired);
    given_implementing()
        .on_timeout(OnTimeout::Fail)
        .and(engineer().asks("human", "Which bank?"))
        .later("15m")
        .when(human().answers(Q1, "any"))
        .then_refused(Code::QuestionAnswerNotAllowedInTerminalState)
        .then_details(&json!({ "item_stage": "failed" }));
}
