//! Resolving, escalating and taking back: by the asker or a human, from the right state.

use querent_core::{Code, Outcome, Party, Status};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, alice, architect, engineer, human};

fn asked() -> Scenario {
    given_implementing().and(engineer().asks("architect", "Which auth?"))
}

fn answered() -> Scenario {
    asked().and(architect().answers(Q1, "JWT"))
}

fn escalated() -> Scenario {
    asked().and(engineer().escalates(Q1))
}

#[test]
fn the_asker_resolves_what_was_answered() {
    answered()
        .when(engineer().resolves_saying(Q1, "JWT with RS256"))
        .then_events(["question_resolved"])
        .then_reply(&json!({ "question_id": Q1, "status": "resolved", "item_stage": "implement" }))
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!(question.answer.as_ref().unwrap().text, "JWT", "the answer stands");
            let last = question.thread.last().unwrap();
            assert_eq!((last.kind.as_str(), last.body.as_str()), ("resolution", "JWT with RS256"));
        });
}

#[test]
fn an_open_question_is_not_resolved_not_even_by_a_human() {
    asked()
        .when(engineer().resolves(Q1))
        .then_refused(Code::InvalidTransition)
        .then_hint("querent withdraw CLR-42-001")
        .when(human().resolves_saying(Q1, "JWT"))
        .then_refused(Code::InvalidTransition)
        .then_status(Q1, Status::Open);
}

#[test]
fn a_human_resolves_an_escalated_question_and_the_note_is_the_answer() {
    escalated()
        .when(alice().resolves_saying(Q1, "cookies"))
        .then_events(["question_resolved", "item_resumed"])
        .then_reply(&json!({ "status": "resolved", "item_stage": "implement" }))
        .then(|it| {
            let answer = it.question(Q1).answer.as_ref().unwrap();
            assert_eq!((answer.text.as_str(), answer.by.to_string()), ("cookies", "human:alice".to_owned()));
        });
}

#[test]
fn the_note_on_an_escalated_question_is_read_like_an_answer_where_it_is_one() {
    let asking = || engineer().asks("architect", "Which auth?").options([("jwt", "JWT"), ("cookie", "Cookie")]);
    let escalated = || given_implementing().and(asking()).and(engineer().escalates(Q1));
    escalated().and(human().resolves_saying(Q1, "COOKIE")).then(|it| {
        let answer = it.question(Q1).answer.as_ref().unwrap();
        assert_eq!((answer.value.clone(), answer.free_text), (json!("cookie"), false));
    });
    escalated().and(human().resolves_saying(Q1, "neither")).then(|it| {
        let answer = it.question(Q1).answer.as_ref().unwrap();
        assert_eq!((answer.value.clone(), answer.free_text), (json!("neither"), true));
    });
}

#[test]
fn a_human_who_resolves_an_escalated_question_says_what_holds() {
    escalated()
        .when(human().resolves(Q1))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "note" }))
        .then_stage("awaiting_input");
}

#[test]
fn the_asker_does_not_resolve_what_a_human_is_to_decide() {
    escalated().when(engineer().resolves_saying(Q1, "JWT")).then_refused(Code::InvalidTransition);
}

#[test]
fn only_the_asker_or_a_human_settles_a_question() {
    for command in [architect().resolves(Q1), architect().escalates(Q1), architect().withdraws(Q1)] {
        answered()
            .when(command)
            .then_refused(Code::NotAsker)
            .then_message("architect did not ask CLR-42-001; engineer did")
            .then_events([]);
    }
    answered().when(human().resolves(Q1)).then_accepted();
    asked().when(human().escalates(Q1)).then_accepted();
    asked().when(human().withdraws(Q1)).then_accepted();
}

#[test]
fn an_escalation_goes_to_a_human_and_pauses_the_item() {
    asked()
        .when(engineer().escalates_saying(Q1, "the architect is on leave"))
        .then_events(["question_escalated", "item_paused"])
        .then_reply(&json!({ "status": "escalated", "item_stage": "awaiting_input" }))
        .then_resumes_in("implement")
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!((&question.to, question.asked.to_string()), (&Party::HUMAN, "architect".to_owned()));
            assert_eq!(question.stale_at, None, "human questions do not go stale");
            assert!(question.thread.last().unwrap().body.contains("the architect is on leave"));
        });
}

#[test]
fn an_answered_question_may_still_be_escalated() {
    answered().when(engineer().escalates(Q1)).then_events(["question_escalated", "item_paused"]).then(|it| {
        assert_eq!(it.question(Q1).answer, None, "it waits for a human's answer now");
    });
}

#[test]
fn nothing_is_escalated_twice_or_to_the_human_who_has_it() {
    escalated()
        .when(engineer().escalates(Q1))
        .then_refused(Code::InvalidTransition)
        .then_message("a human has it already");
    given_implementing()
        .and(engineer().asks("human", "Which bank?"))
        .when(engineer().escalates(Q1))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn the_escalation_of_a_question_that_does_not_block_pauses_nothing() {
    given_implementing()
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .when(engineer().escalates(Q1))
        .then_events(["question_escalated"])
        .then_stage("implement")
        .then(|it| assert_eq!(it.question(Q1).resume_stage, None));
}

#[test]
fn only_an_open_question_is_withdrawn() {
    asked()
        .when(engineer().withdraws(Q1))
        .then_events(["question_withdrawn"])
        .then_reply(&json!({ "question_id": Q1, "status": "withdrawn", "item_stage": "implement" }))
        .when(engineer().withdraws(Q1))
        .then_refused(Code::InvalidTransition);
    answered()
        .when(engineer().withdraws(Q1))
        .then_refused(Code::InvalidTransition)
        .then_hint("querent resolve CLR-42-001");
}

#[test]
fn what_is_settled_stays_settled() {
    let ends: [fn() -> Scenario; 3] = [
        || answered().and(engineer().resolves(Q1)),
        || asked().and(engineer().withdraws(Q1)),
        || {
            let asking = engineer().asks("human", "Tabs?").without_blocking().expires_in("1m");
            given_implementing().and(asking).later("1m").when_looked_at()
        },
    ];
    for end in ends {
        let status = end().question(Q1).status;
        assert!(status.is_final());
        for command in [
            engineer().follows_up(Q1, "And?"),
            engineer().resolves(Q1),
            human().resolves_saying(Q1, "so"),
            engineer().escalates(Q1),
            engineer().withdraws(Q1),
        ] {
            end().when(command).then_refused(Code::InvalidTransition).then_events([]).then_status(Q1, status);
        }
    }
}

#[test]
fn no_round_and_no_escalation_begins_on_an_item_that_has_ended() {
    let ended = || answered().and(human().ends_as(Outcome::Merged));
    ended().when(engineer().follows_up(Q1, "And?")).then_refused(Code::ItemNotRunnable);
    ended().when(engineer().escalates(Q1)).then_refused(Code::ItemNotRunnable);
    ended().when(engineer().resolves(Q1)).then_events(["question_resolved"]);
}
