//! One agent asks another: who waits, who composes, and what an answer frees.

use querent_core::{Code, Party, Provenance, SessionStatus, Status};
use serde_json::json;

use crate::scenario::given_implementing;
use crate::speech::{Q1, Q2, architect, engineer, human, name};

#[test]
fn a_blocking_question_to_an_agent_blocks_the_asking_session_and_not_the_item() {
    given_implementing()
        .and(engineer().starts())
        .when(engineer().asks("architect", "Which auth?"))
        .then_events(["question_asked"])
        .then_reply(&json!({ "item_stage": "implement", "resume_stage": null }))
        .then_stage("implement")
        .then(|it| {
            let session = it.session("engineer@42");
            assert_eq!(session.status, SessionStatus::BlockedClarification);
            assert_eq!(session.status.as_str(), "blocked-clarification");
            assert_eq!(session.waiting_on, Some(Party::Agent(name("architect"))));
            assert_eq!(session.clarification_id.unwrap().to_string(), Q1);
            assert_eq!(session.responding_to, None);
        });
}

#[test]
fn the_agent_that_is_asked_is_clarifying_while_it_composes() {
    given_implementing().and(architect().starts()).and(engineer().asks("architect", "Which auth?")).then(|it| {
        let session = it.session("architect@42");
        assert_eq!(session.status, SessionStatus::Clarifying);
        assert_eq!(session.clarification_id.unwrap().to_string(), Q1);
        assert_eq!(session.responding_to, Some(name("engineer")));
        assert_eq!(session.waiting_on, None);
    });
}

#[test]
fn an_agent_that_is_asked_without_a_session_appears_with_the_one_it_would_have() {
    given_implementing().and(engineer().asks("architect", "Which auth?")).then(|it| {
        assert_eq!(it.session("architect@42").status, SessionStatus::Clarifying);
        assert!(!it.the_item().sessions.contains_key(&"architect@42".parse().unwrap()), "it is a view, not a fact");
    });
}

#[test]
fn asking_is_a_sign_of_life_of_a_session_that_was_never_started() {
    given_implementing().and(engineer().asks("architect", "Which auth?").without_blocking()).then(|it| {
        assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
        assert_eq!(it.session("engineer@42").last_activity, it.now);
    });
}

#[test]
fn of_two_sessions_of_an_agent_the_one_that_asked_is_blocked_and_was_active() {
    given_implementing()
        .and(engineer().starts_as("a"))
        .and(engineer().starts_as("b"))
        .later("5m")
        .and(engineer().asks("architect", "Which auth?").session("b"))
        .then(|it| {
            assert_eq!(it.session("a").status, SessionStatus::Working);
            assert_eq!(it.session("a").last_activity, it.at("0s"));
            assert_eq!(it.session("b").status, SessionStatus::BlockedClarification);
            assert_eq!(it.session("b").last_activity, it.at("5m"));
        });
}

#[test]
fn the_answer_of_the_agent_makes_it_answered_and_frees_both_sessions() {
    given_implementing()
        .and(engineer().starts())
        .and(architect().starts())
        .and(engineer().asks("architect", "Which auth?"))
        .later("1m")
        .when(architect().answers(Q1, "JWT"))
        .then_events(["question_answered"])
        .then_reply(&json!({
            "question_id": Q1,
            "status": "answered",
            "item_stage": "implement",
            "resumed": false,
            "answer": { "value": "JWT", "text": "JWT", "by": "architect", "via": "cli", "provenance": "agent" },
        }))
        .then(|it| {
            assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
            assert_eq!(it.session("engineer@42").clarification_id, None);
            assert_eq!(it.session("engineer@42").waiting_on, None);
            assert_eq!(it.session("architect@42").status, SessionStatus::Working);
        });
}

#[test]
fn a_follow_up_blocks_the_session_again() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(architect().answers(Q1, "JWT"))
        .and(engineer().follows_up(Q1, "Which algorithm?"))
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::BlockedClarification));
}

#[test]
fn a_question_that_does_not_block_leaves_the_session_at_work() {
    given_implementing()
        .and(engineer().starts())
        .when(engineer().asks("architect", "Tabs?").without_blocking())
        .then_events(["question_asked"])
        .then(|it| {
            assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
            assert_eq!(it.session("engineer@42").clarification_id, None);
        });
}

#[test]
fn a_session_that_waits_itself_is_shown_waiting_even_if_it_is_asked() {
    given_implementing()
        .and(architect().asks("product-manager", "Which budget?"))
        .and(engineer().asks("architect", "Which auth?"))
        .then(|it| {
            let session = it.session("architect@42");
            assert_eq!(session.status, SessionStatus::BlockedClarification);
            assert_eq!(session.clarification_id.unwrap().to_string(), Q1);
        });
}

#[test]
fn a_human_may_answer_for_the_agent_and_that_settles_it() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .when(human().answers(Q1, "cookies"))
        .then_events(["question_answered"])
        .then_reply(&json!({ "status": "resolved", "answer": { "provenance": "human", "by": "human" } }))
        .when(architect().answers(Q1, "JWT"))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn no_agent_answers_for_another() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .when(crate::speech::product_manager().answers(Q1, "JWT"))
        .then_refused(Code::NotAddressee)
        .then_message("addressed to architect, not to product-manager")
        .then_details(&json!({ "question_id": Q1, "to": "architect" }))
        .when(engineer().answers(Q1, "JWT"))
        .then_refused(Code::NotAddressee)
        .then_status(Q1, Status::Open);
}

#[test]
fn each_question_of_an_item_is_answered_on_its_own() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(engineer().asks("product-manager", "Which users?"))
        .and(architect().answers(Q1, "JWT"))
        .then_status(Q1, Status::Answered)
        .then_status(Q2, Status::Open)
        .then(|it| {
            let session = it.session("engineer@42");
            assert_eq!(session.clarification_id.unwrap().to_string(), Q2, "it still waits for the other");
            assert_eq!(it.question(Q1).answer.as_ref().unwrap().provenance, Provenance::Agent);
        });
}
