//! Follow-ups open rounds; the one after the last brings a human in.

use querent_core::{Code, Event, OnTimeout, Party, Status};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, architect, engineer, human};

/// A question to the architect that has been answered in every round up to `round`.
fn answered_in_round(round: u32) -> Scenario {
    let first =
        given_implementing().and(engineer().asks("architect", "Which auth?")).and(architect().answers(Q1, "answer 1"));
    (2..=round).fold(first, |scenario, round| {
        scenario
            .later("1m")
            .when(engineer().follows_up(Q1, &format!("and in round {round}?")))
            .then_events(["question_followed_up"])
            .then_reply(&json!({ "question_id": Q1, "status": "open", "round": round, "answer": null }))
            .when(architect().answers(Q1, format!("answer {round}")))
            .then_reply(&json!({ "status": "answered" }))
    })
}

#[test]
fn follow_ups_open_rounds_2_to_5() {
    answered_in_round(5).then_status(Q1, Status::Answered).then(|it| {
        let rounds: Vec<u32> = it.question(Q1).thread.iter().map(|entry| entry.round).collect();
        assert_eq!(rounds, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    });
}

#[test]
fn the_follow_up_after_the_last_round_escalates_and_says_so() {
    answered_in_round(5)
        .when(engineer().follows_up(Q1, "Really?"))
        .then_events(["question_escalated", "item_paused"])
        .then_refused(Code::MaxRoundsExceeded)
        .then_message("had its 5 rounds")
        .then_hint("querent await CLR-42-001")
        .then_details(&json!({ "question_id": Q1, "status": "escalated", "item_stage": "awaiting_input" }))
        .then_stage("awaiting_input")
        .then_resumes_in("implement")
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!((question.to.clone(), question.answer.clone()), (Party::HUMAN, None));
            assert_eq!(question.resume_stage.as_ref().unwrap().as_str(), "implement");
            assert_eq!(question.round, 5, "an escalation is no round");
        });
}

#[test]
fn an_escalation_tells_the_human_where_both_sides_stand() {
    answered_in_round(5).when(engineer().follows_up(Q1, "Really?")).then(|it| {
        insta::assert_snapshot!(it.question(Q1).thread.last().unwrap().body, @r"
        engineer and architect did not agree in 5 rounds
        architect says: answer 5
        engineer still asks: Really?
        ");
    });
}

#[test]
fn a_humans_answer_to_the_escalated_question_resolves_it_and_the_item_goes_back() {
    answered_in_round(5)
        .when(engineer().follows_up(Q1, "Really?"))
        .when(architect().answers(Q1, "answer 6"))
        .then_refused(Code::HumanOnly)
        .when(human().answers(Q1, "JWT it is"))
        .then_events(["question_answered", "item_resumed"])
        .then_reply(&json!({ "status": "resolved", "item_stage": "implement", "resumed": true }))
        .then_stage("implement")
        .then(|it| {
            assert_eq!(it.the_item().resume_stage, None);
            assert_eq!(it.the_item().awaiting_since, None);
            assert_eq!(it.the_item().status_reason.as_deref(), Some("CLR-42-001 was answered"));
        });
}

#[test]
fn the_refusal_of_the_last_follow_up_is_remembered_like_any_reply() {
    answered_in_round(5).when(engineer().follows_up(Q1, "Really?")).then(|it| {
        let operation = it.operations.last().unwrap();
        let again = operation.replay(&engineer().follows_up(Q1, "Really?").fingerprint()).unwrap();
        assert_eq!(again.as_str(), it.reply().as_str());
        assert!(again.as_str().contains("max_rounds_exceeded"));
    });
}

#[test]
fn a_non_blocking_question_has_six_rounds_and_its_escalation_pauses_nothing() {
    let asked = given_implementing()
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .and(architect().answers(Q1, "no"));
    let answered = (2..=6).fold(asked, |scenario, _| {
        scenario.and(engineer().follows_up(Q1, "sure?")).and(architect().answers(Q1, "yes"))
    });
    answered
        .when(engineer().follows_up(Q1, "Really?"))
        .then_refused(Code::MaxRoundsExceeded)
        .then_events(["question_escalated"])
        .then_stage("implement");
}

#[test]
fn a_question_may_ask_for_fewer_rounds() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?").max_rounds(1))
        .and(architect().answers(Q1, "JWT"))
        .when(engineer().follows_up(Q1, "Why?"))
        .then_refused(Code::MaxRoundsExceeded);
}

#[test]
fn a_follow_up_waits_for_the_answer() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .when(engineer().follows_up(Q1, "Well?"))
        .then_refused(Code::InvalidTransition)
        .then_hint("wait for the answer first")
        .then_details(&json!({ "status": "open" }));
}

#[test]
fn only_the_asker_or_a_human_follows_up() {
    answered_in_round(1)
        .when(architect().follows_up(Q1, "Clear?"))
        .then_refused(Code::NotAsker)
        .then_details(&json!({ "question_id": Q1, "asker": "engineer" }))
        .when(human().follows_up(Q1, "What about mobile?"))
        .then_events(["question_followed_up"])
        .then(|it| assert_eq!(it.question(Q1).thread.last().unwrap().from, Party::HUMAN));
}

#[test]
fn each_round_gives_the_addressee_its_whole_time() {
    answered_in_round(1).later("29m").and(engineer().follows_up(Q1, "And?")).then(|it| {
        assert_eq!(it.question(Q1).stale_at, Some(it.now.plus("30m".parse().unwrap())));
    });
}

#[test]
fn a_round_that_begins_after_the_first_ones_end_is_not_born_dead() {
    let asked = engineer().asks("architect", "Which auth?").expires_in("10m").else_takes("JWT", "it is safe");
    given_implementing()
        .on_timeout(OnTimeout::Block)
        .and(asked)
        .and(architect().answers(Q1, "cookies"))
        .later("11m")
        .and(engineer().follows_up(Q1, "Signed?"))
        .when_looked_at()
        .then_events([])
        .then_status(Q1, Status::Open)
        .and(architect().answers(Q1, "signed"))
        .when(engineer().escalates(Q1))
        .then_events(["question_escalated", "item_paused"])
        .when_looked_at()
        .then_status(Q1, Status::Escalated)
        .then(|it| assert_eq!(it.question(Q1).expires_at, Some(it.now.plus("15m".parse().unwrap()))));
}

#[test]
fn a_round_within_the_first_ones_end_keeps_that_end() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?").expires_in("10m").without_blocking())
        .and(architect().answers(Q1, "cookies"))
        .and(engineer().follows_up(Q1, "Signed?"))
        .later("10m")
        .when_looked_at()
        .then_status(Q1, Status::Expired)
        .then(|it| assert!(matches!(it.records.last().unwrap().event, Event::QuestionExpired(_))));
}
