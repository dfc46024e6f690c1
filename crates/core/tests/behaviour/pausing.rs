//! A blocking question to a human holds the item; when the last one settles, the item goes on where it stood.

use querent_core::{Code, OnTimeout, Outcome, SessionStatus, Status};
use serde_json::json;

use crate::scenario::{Scenario, given, given_implementing};
use crate::speech::{Q1, Q2, Q3, architect, engineer, human, product_manager};

fn waiting_for_a_human() -> Scenario {
    given_implementing().and(engineer().asks("human", "Which bank?"))
}

#[test]
fn a_blocking_question_to_a_human_pauses_the_item_and_records_where_it_resumes() {
    given_implementing()
        .later("3m")
        .when(engineer().asks("human", "Which bank?"))
        .then_events(["question_asked", "item_paused"])
        .then_reply(&json!({ "item_stage": "awaiting_input", "resume_stage": "implement", "to": "human" }))
        .then(|it| {
            let item = it.item_view();
            assert_eq!(item.open_question_id.unwrap().to_string(), Q1);
            assert_eq!((item.open_question_count, item.awaiting_since), (1, Some(it.at("3m"))));
            assert_eq!(it.question(Q1).resume_stage, item.resume_stage);
            assert_eq!(it.session("engineer@42").status, SessionStatus::BlockedClarification);
        });
}

#[test]
fn no_work_starts_on_an_item_that_waits_and_the_refusal_names_the_question() {
    waiting_for_a_human()
        .when(engineer().starts())
        .then_refused(Code::ItemNotRunnable)
        .then_message("item `42` is awaiting_input")
        .then_hint("querent answer CLR-42-001")
        .then_details(&json!({ "item": "42", "item_stage": "awaiting_input", "question_id": Q1 }));
}

#[test]
fn an_item_that_waits_is_not_moved_by_hand_or_by_a_session_that_finishes() {
    waiting_for_a_human()
        .when(human().moves_to("review"))
        .then_refused(Code::ItemNotRunnable)
        .then_details(&json!({ "question_id": Q1 }))
        .when(engineer().finishes())
        .then_events(["session_finished"])
        .then_stage("awaiting_input");
}

#[test]
fn a_second_blocking_question_to_a_human_is_a_conflict() {
    waiting_for_a_human()
        .when(architect().asks("human", "Which cloud?"))
        .then_refused(Code::QuestionConflictOpen)
        .then_message("CLR-42-001 already waits for a human")
        .then_hint("--no-blocking")
        .then_details(&json!({ "question_id": Q1, "open": [Q1] }))
        .then_events([]);
}

#[test]
fn the_project_may_allow_more_than_one() {
    waiting_for_a_human()
        .rules(|rules| rules.config.human_input.max_open_blocking = 2)
        .and(architect().asks("human", "Which cloud?"))
        .when(product_manager().asks("human", "Which users?"))
        .then_refused(Code::QuestionConflictOpen)
        .then_details(&json!({ "open": [Q1, Q2] }));
}

#[test]
fn a_non_blocking_question_to_a_human_pauses_nothing() {
    given_implementing()
        .when(engineer().asks("human", "Which colour?").without_blocking())
        .then_events(["question_asked"])
        .then_reply(&json!({ "item_stage": "implement", "resume_stage": null }))
        .then(|it| {
            assert_eq!(it.item_view().open_question_id, None);
            assert_eq!(it.item_view().open_question_count, 0);
        })
        .when(engineer().starts())
        .then_accepted()
        .when(human().answers(Q1, "blue"))
        .then_events(["question_answered"])
        .then_reply(&json!({ "status": "resolved", "resumed": false }));
}

#[test]
fn a_humans_answer_resolves_the_question_and_resumes_the_item_in_one_commit() {
    waiting_for_a_human()
        .later("2m")
        .when(human().answers(Q1, "any"))
        .then_events(["question_answered", "item_resumed"])
        .then_reply(&json!({
            "question_id": Q1, "status": "resolved", "item_stage": "implement", "resumed": true,
            "answer": { "value": "any", "by": "human", "provenance": "human" },
        }))
        .then(|it| {
            assert_eq!((it.item_view().resume_stage, it.item_view().awaiting_since), (None, None));
            assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
        })
        .when(engineer().starts())
        .then_accepted();
}

#[test]
fn a_withdrawn_question_lets_the_item_go_on() {
    waiting_for_a_human()
        .when(engineer().withdraws(Q1))
        .then_events(["question_withdrawn", "item_resumed"])
        .then_reply(&json!({ "status": "withdrawn", "item_stage": "implement" }))
        .then_stage("implement");
}

#[test]
fn escalations_queue_behind_an_asked_question_and_the_last_to_settle_resumes_the_item() {
    given_implementing()
        .and(architect().asks("product-manager", "Which budget?"))
        .and(engineer().asks("human", "Which bank?"))
        .when(architect().escalates(Q1))
        .then_events(["question_escalated"])
        .then_reply(&json!({ "status": "escalated", "item_stage": "awaiting_input" }))
        .then_resumes_in("implement")
        .then(|it| {
            assert_eq!(it.item_view().open_question_count, 2);
            assert_eq!(it.item_view().open_question_id.unwrap().to_string(), Q1, "the oldest comes first");
        })
        .when(human().answers(Q2, "any"))
        .then_events(["question_answered"])
        .then_reply(&json!({ "resumed": false, "item_stage": "awaiting_input" }))
        .when(human().answers(Q1, "10k"))
        .then_events(["question_answered", "item_resumed"])
        .then_stage("implement");
}

#[test]
fn an_open_escalation_counts_against_asking() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(engineer().escalates(Q1))
        .when(engineer().asks("human", "Which bank?"))
        .then_refused(Code::QuestionConflictOpen)
        .then_details(&json!({ "question_id": Q1 }));
}

#[test]
fn an_item_resumes_in_the_stage_it_paused_in_whatever_that_was() {
    given_implementing()
        .and(human().moves_to("ready_to_merge"))
        .and(engineer().asks("human", "Merge now?"))
        .then_resumes_in("ready_to_merge")
        .and(human().answers(Q1, "yes"))
        .then_stage("ready_to_merge");
}

#[test]
fn a_workflow_that_lost_the_resume_step_sends_the_item_to_its_first_with_the_reason() {
    waiting_for_a_human()
        .workflow(|feature| feature.steps.retain(|step| step.name != "implement"))
        .when(human().answers(Q1, "any"))
        .then_reply(&json!({ "item_stage": "requirements", "resumed": true }))
        .then_stage("requirements")
        .then(|it| {
            let reason = it.item_view().status_reason.unwrap();
            assert_eq!(
                reason,
                "CLR-42-001 was answered; workflow `feature` no longer has the step `implement`, so back to `requirements`"
            );
        });
}

#[test]
fn a_workflow_that_is_gone_altogether_leaves_the_item_its_stage() {
    waiting_for_a_human()
        .rules(|rules| rules.workflows.clear())
        .and(human().answers(Q1, "any"))
        .then_stage("implement");
}

#[test]
fn a_blocking_question_of_a_planning_step_pauses_there() {
    given()
        .item("42")
        .and(product_manager().asks("human", "For whom?"))
        .then_resumes_in("requirements")
        .and(human().answers(Q1, "for banks"))
        .then_stage("requirements");
}

#[test]
fn settling_one_of_several_agent_questions_moves_nothing() {
    waiting_for_a_human()
        .and(architect().asks("product-manager", "Which budget?"))
        .when(product_manager().answers(Q2, "10k"))
        .then_events(["question_answered"])
        .when(architect().resolves(Q2))
        .then_events(["question_resolved"])
        .then_stage("awaiting_input");
}

#[test]
fn an_item_that_expiry_blocked_stays_blocked_while_another_question_is_escalated() {
    given_implementing()
        .on_timeout(OnTimeout::Block)
        .and(architect().asks("product-manager", "Which budget?"))
        .and(engineer().asks("human", "Which bank?"))
        .later("15m")
        .when_looked_at()
        .then_stage("blocked")
        .then_resumes_in("implement")
        .when(architect().escalates(Q1))
        .then_events(["question_escalated"])
        .then_stage("blocked")
        .when(human().moves_to("implement"))
        .then_refused(Code::ItemNotRunnable)
        .then_details(&json!({ "question_id": Q1 }))
        .when(human().answers(Q2, "any"))
        .then_events(["late_answer_recorded", "item_paused"])
        .then_stage("awaiting_input")
        .then_resumes_in("implement")
        .when(human().answers(Q1, "10k"))
        .then_stage("implement");
}

#[test]
fn a_question_on_an_item_that_a_person_blocked_pauses_it_and_leaves_it_blocked_again() {
    given_implementing()
        .and(human().moves_to("blocked"))
        .and(engineer().asks("human", "May I go on?"))
        .then_stage("awaiting_input")
        .then_resumes_in("blocked")
        .and(human().answers(Q1, "not yet"))
        .then_stage("blocked");
}

#[test]
fn an_ended_item_waits_for_nobody() {
    waiting_for_a_human()
        .and(architect().asks("product-manager", "Which budget?"))
        .and(engineer().asks("human", "Which colour?").without_blocking())
        .when(human().ends_as(Outcome::Failed))
        .then_events(["question_withdrawn", "question_withdrawn", "question_withdrawn", "item_ended"])
        .then_stage("failed")
        .then_status(Q1, Status::Withdrawn)
        .then_status(Q3, Status::Withdrawn)
        .then(|it| assert_eq!((it.item_view().awaiting_since, it.item_view().resume_stage), (None, None)));
}
