//! Querent invokes the agent that was asked: by one at a time, once more if that fails, and then a human is to decide.

use querent_core::{Cause, Code, EntryKind, Outcome, Party, Status};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, architect, engineer, human, product_manager};
use crate::team::{calls, fails, given_team, process, reply};

fn given_asked() -> Scenario {
    given_team().and(engineer().asks("architect", "Which auth?"))
}

fn given_called() -> Scenario {
    given_asked().and(calls(Q1, 1, None))
}

#[test]
fn the_agent_that_was_asked_is_called_by_one_at_a_time() {
    given_asked()
        .later("1m")
        .when(calls(Q1, 1, None))
        .then_events(["agent_called"])
        .then(|it| {
            let call = it.question(Q1).call.as_ref().unwrap();
            assert_eq!((call.round, call.attempt, call.failures), (1, 1, 0));
            assert_eq!(call.claim.as_ref().unwrap().process, Some(process(1)));
        })
        .when(calls(Q1, 2, None))
        .then_refused(Code::Conflict)
        .then_message("architect is being asked CLR-42-001 since 2026-01-31T10:01")
        .then_events([]);
}

#[test]
fn a_call_whose_caller_is_gone_is_taken_over() {
    let it = given_called().later("1m");
    let over = it.call(Q1);

    it.when(calls(Q1, 2, Some(over.clone())))
        .then_events(["agent_called"])
        .then(|it| assert_eq!(it.question(Q1).call.as_ref().unwrap().attempt, 2))
        .when(fails(Q1, over, "too late"))
        .then_refused(Code::Conflict)
        .then_events([]);
}

#[test]
fn a_call_that_fails_once_is_made_again() {
    let it = given_called();
    let claim = it.call(Q1);

    it.when(fails(Q1, claim.clone(), "exit status 1"))
        .then_events(["agent_call_failed"])
        .then_status(Q1, Status::Open)
        .then(|it| {
            let call = it.question(Q1).call.as_ref().unwrap();
            assert_eq!((call.claim.as_ref(), call.failures, call.error.as_deref()), (None, 1, Some("exit status 1")));
        })
        .when(fails(Q1, claim, "exit status 1"))
        .then_refused(Code::Conflict)
        .when(calls(Q1, 1, None))
        .then_events(["agent_called"])
        .then(|it| assert_eq!(it.question(Q1).call.as_ref().unwrap().attempt, 2))
        .when(architect().replies(Q1, 1, reply("JWT")))
        .then_events(["question_answered"])
        .then(|it| assert_eq!(it.question(Q1).call, None));
}

#[test]
fn a_call_that_fails_twice_is_for_a_human_to_decide() {
    let it = given_called();
    let claim = it.call(Q1);
    let it = it.and(fails(Q1, claim, "exit status 1")).and(calls(Q1, 1, None));
    let claim = it.call(Q1);

    it.when(fails(Q1, claim, &format!("timed out {}", "x".repeat(900))))
        .then_events(["agent_call_failed", "question_escalated", "item_paused"])
        .then_status(Q1, Status::Escalated)
        .then_stage("awaiting_input")
        .then_resumes_in("implement")
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!(
                (question.cause, question.to.clone(), question.call.clone()),
                (Some(Cause::AgentError), Party::HUMAN, None)
            );
            let summary = &question.thread.last().unwrap().body;
            assert!(summary.starts_with("architect could not answer engineer: timed out xxx"), "{summary}");
            assert!(summary.ends_with("engineer asks: Which auth?") && summary.len() < 600, "{summary}");
        })
        .when(calls(Q1, 1, None))
        .then_refused(Code::InvalidTransition);
}

#[test]
fn failures_are_counted_in_each_round() {
    let fail = |it: Scenario| {
        let it = it.and(calls(Q1, 1, None));
        let claim = it.call(Q1);
        it.and(fails(Q1, claim, "no"))
    };

    fail(fail(given_asked()).and(architect().answers(Q1, "JWT")).and(engineer().follows_up(Q1, "Which algorithm?")))
        .then_status(Q1, Status::Open)
        .then(|it| assert_eq!(it.question(Q1).call.as_ref().unwrap().failures, 1));
}

#[test]
fn a_question_that_does_not_block_is_escalated_without_holding_the_item() {
    let it = given_team().and(engineer().asks("architect", "Tabs?").without_blocking());
    (0..2)
        .fold(it, |it, _| {
            let it = it.and(calls(Q1, 1, None));
            let claim = it.call(Q1);
            it.and(fails(Q1, claim, "no"))
        })
        .then_status(Q1, Status::Escalated)
        .then_stage("implement");
}

#[test]
fn nobody_is_called_who_is_not_asked_any_more() {
    let refused = |it: Scenario| it.when(calls(Q1, 1, None)).then_refused(Code::InvalidTransition).then_events([]);

    refused(given_asked().and(human().answers(Q1, "JWT")));
    refused(given_asked().and(architect().answers(Q1, "JWT")));
    refused(given_asked().and(engineer().withdraws(Q1)));
    refused(given_asked().and(engineer().escalates(Q1)));
    refused(given_asked().and(human().ends_as(Outcome::Merged)));
    refused(given_team().and(engineer().asks("human", "Which bank?")));
    let it = given_called();
    let claim = it.call(Q1);
    it.and(human().answers(Q1, "JWT")).when(fails(Q1, claim, "no")).then_refused(Code::InvalidTransition);
}

#[test]
fn what_is_settled_is_called_by_nobody() {
    for settle in [engineer().withdraws(Q1), human().answers(Q1, "JWT"), engineer().escalates(Q1)] {
        given_called().and(settle).then(|it| assert_eq!(it.question(Q1).call, None));
    }
    given_team()
        .and(engineer().asks("architect", "Which auth?").else_takes("JWT", "it is there").expires_in("5m"))
        .and(calls(Q1, 1, None))
        .later("5m")
        .when_looked_at()
        .then_status(Q1, Status::Expired)
        .then(|it| assert_eq!(it.question(Q1).call, None));
}

#[test]
fn an_agent_without_a_provider_is_not_called() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .when(calls(Q1, 1, None))
        .then_refused(Code::AgentError)
        .then_message("architect has no provider")
        .then_hint("[agents.architect] provider");
}

#[test]
fn a_call_is_made_while_a_human_is_to_answer_something_else() {
    given_asked()
        .and(product_manager().asks("human", "Which users?"))
        .when(calls(Q1, 1, None))
        .then_events(["agent_called"])
        .when(architect().replies(Q1, 1, reply("not sure")))
        .then_events(["question_answered", "question_followed_up"])
        .when(architect().replies(Q1, 2, reply("JWT")))
        .then_events(["question_answered"])
        .then_stage("awaiting_input");
}

#[test]
fn a_call_whose_time_is_over_may_still_be_answered() {
    given_called()
        .later("31m")
        .when_looked_at()
        .then_events(["question_stale", "question_retried"])
        .then(|it| assert_eq!(it.question(Q1).call.as_ref().unwrap().attempt, 1))
        .when(architect().replies(Q1, 1, reply("JWT")))
        .then_events(["question_answered"])
        .then(|it| {
            let kinds: Vec<EntryKind> = it.question(Q1).thread.iter().map(|entry| entry.kind).collect();
            assert_eq!(kinds, [EntryKind::Question, EntryKind::Retry, EntryKind::Answer]);
        })
        .then_reply(&json!({ "question_id": Q1, "status": "answered" }));
}
