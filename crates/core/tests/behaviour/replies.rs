//! What an agent says that was invoked for an answer: it answers, or it is asked on, and in the end a human is to decide.

use querent_core::{AgentReply, Cause, Code, Expected, Party, Provenance, Status, Via};
use serde_json::json;

use crate::scenario::Scenario;
use crate::speech::{Q1, architect, engineer, human, product_manager};
use crate::team::{calls, given_team, reply};

fn given_called() -> Scenario {
    given_team().and(engineer().asks("architect", "Which auth?")).and(calls(Q1, 1, None))
}

fn given_choice() -> Scenario {
    let asks = engineer().asks("architect", "Which cache?").options([("redis", "Redis"), ("none", "None at all")]);
    given_team().and(asks.expecting(Expected::SingleChoice)).and(calls(Q1, 1, None))
}

#[test]
fn a_reply_that_stands_on_something_answers() {
    given_called()
        .when(architect().replies(Q1, 1, reply("JWT")))
        .then_events(["question_answered"])
        .then_reply(&json!({ "question_id": Q1, "status": "answered", "item_stage": "implement" }))
        .then(|it| {
            let answer = it.question(Q1).answer.as_ref().unwrap();
            assert_eq!((answer.text.as_str(), answer.provenance), ("JWT", Provenance::Agent));
        });
}

#[test]
fn what_a_reply_stands_on_and_what_is_not_sure_is_kept_beside_the_answer() {
    let said = AgentReply { uncertainty: Some(" the key rotation ".to_owned()), ..reply("JWT") };

    given_called().and(architect().replies(Q1, 1, said)).then(|it| {
        let answer = it.question(Q1).answer.as_ref().unwrap();
        assert_eq!(answer.note.as_deref(), Some("Evidence: ADR-7\nUncertain: the key rotation"));
        assert!(it.thread(Q1).contains("Uncertain: the key rotation"), "{}", it.thread(Q1));
    });
    let long = AgentReply { evidence: Some("x".repeat(5_000)), uncertainty: Some("y".repeat(5_000)), ..reply("JWT") };
    given_called().when(architect().replies(Q1, 1, long)).then_events(["question_answered"]);
    let plain = AgentReply { evidence: Some(" ".to_owned()), plain: true, ..reply("JWT") };
    given_called()
        .and(architect().replies(Q1, 1, plain))
        .then_status(Q1, Status::Answered)
        .then(|it| assert_eq!(it.question(Q1).answer.as_ref().unwrap().note, None));
}

#[test]
fn a_reply_that_says_nothing_sure_is_kept_and_asked_on_by_querent() {
    given_called()
        .later("2m")
        .when(architect().replies(Q1, 1, reply("not sure")))
        .then_events(["question_answered", "question_followed_up"])
        .then_reply(&json!({ "question_id": Q1, "status": "open" }))
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!((question.round, question.answer.clone(), question.call.clone()), (2, None, None));
            assert_eq!(question.stale_at, Some(it.at("32m")), "it has its time again");
            assert_eq!(question.thread[1].from, "architect".parse().unwrap());
            assert_eq!(question.thread[2].from, Party::Querent);
            assert!(it.the_item().board.news.is_empty(), "there is nothing to tell the engineer");
            assert!(it.thread(Q1).contains("[Round 2] querent -> architect (10:02)"), "{}", it.thread(Q1));
        })
        .and(calls(Q1, 1, None))
        .when(architect().replies(Q1, 2, reply("JWT")))
        .then_events(["question_answered"])
        .then_status(Q1, Status::Answered);
}

#[test]
fn a_reply_without_evidence_is_asked_for_it() {
    given_called()
        .when(architect().replies(Q1, 1, AgentReply { evidence: None, ..reply("JWT") }))
        .then_events(["question_answered", "question_followed_up"])
        .then(|it| assert!(it.question(Q1).thread[2].body.contains("stand on"), "{}", it.question(Q1).thread[2].body));
}

#[test]
fn an_empty_reply_is_asked_on_and_not_kept() {
    for nothing in [json!(null), json!(" \n"), json!("...")] {
        let it = given_called().and(architect().replies(Q1, 1, reply(nothing.clone())));
        let question = it.question(Q1);

        assert_eq!((question.status, question.round), (Status::Open, 2), "{nothing}");
        assert!(question.thread.last().unwrap().body.contains("was empty"), "{nothing}");
    }
    given_called().when(architect().replies(Q1, 1, reply(""))).then_events(["question_followed_up"]);
}

#[test]
fn a_choice_that_is_none_is_asked_on_with_what_is_accepted() {
    given_choice()
        .when(architect().replies(Q1, 1, reply("memcached")))
        .then_events(["question_followed_up"])
        .then(|it| {
            insta::assert_snapshot!(it.question(Q1).thread.last().unwrap().body, @"Your reply cannot be taken: `memcached` is not an answer that this question accepts; answer with one of: redis (Redis), none (None at all).");
        })
        .when(architect().replies(Q1, 2, AgentReply { evidence: None, ..reply("Redis") }))
        .then_events(["question_answered"])
        .then(|it| assert_eq!(it.question(Q1).answer.as_ref().unwrap().value, json!("redis")));
}

#[test]
fn an_option_is_an_answer_whatever_it_is_called() {
    given_choice().when(architect().replies(Q1, 1, reply("none"))).then_events(["question_answered"]);
    given_choice()
        .when(architect().replies(Q1, 1, reply("not sure")))
        .then_events(["question_followed_up"])
        .then(|it| assert!(it.question(Q1).thread.last().unwrap().body.starts_with("That does not say what holds")));
}

#[test]
fn in_the_last_round_a_human_is_to_decide_and_sees_where_both_sides_stand() {
    let asked = |rounds| {
        let asks = engineer().asks("architect", "Which auth?").max_rounds(rounds);
        given_team().and(asks).and(calls(Q1, 1, None))
    };

    asked(2)
        .and(architect().replies(Q1, 1, reply("It depends")))
        .when(architect().replies(Q1, 2, reply("not sure")))
        .then_events(["question_answered", "question_escalated", "item_paused"])
        .then_status(Q1, Status::Escalated)
        .then_stage("awaiting_input")
        .then_resumes_in("implement")
        .then(|it| {
            assert_eq!((it.question(Q1).cause, it.question(Q1).call.clone()), (Some(Cause::MaxRounds), None));
            assert!(it.the_item().answered.is_empty() && it.the_item().board.news.is_empty());
            insta::assert_snapshot!(it.question(Q1).thread.last().unwrap().body, @r"
            architect did not answer engineer in 2 rounds
            architect says: not sure
            engineer asks: Which auth?
            ");
        });
    for nothing in [json!(null), json!(" ")] {
        asked(1)
            .when(architect().replies(Q1, 1, reply(nothing)))
            .then_events(["question_escalated", "item_paused"])
            .then(|it| {
                let summary = &it.question(Q1).thread.last().unwrap().body;
                assert!(summary.contains("in its only round\narchitect says: nothing\n"), "{summary}");
            });
    }
}

#[test]
fn a_reply_to_another_round_is_refused() {
    given_called()
        .when(architect().replies(Q1, 2, reply("JWT")))
        .then_refused(Code::InvalidTransition)
        .then_message("CLR-42-001 is in round 1, not in round 2")
        .and(architect().replies(Q1, 1, reply("not sure")))
        .when(architect().replies(Q1, 1, reply("JWT")))
        .then_refused(Code::InvalidTransition)
        .then_events([]);
}

#[test]
fn nobody_replies_for_the_agent_that_was_asked() {
    given_called()
        .when(product_manager().replies(Q1, 1, reply("JWT")))
        .then_refused(Code::NotAddressee)
        .when(human().replies(Q1, 1, reply("not sure")))
        .then_refused(Code::InvalidInput)
        .and(engineer().escalates(Q1))
        .when(architect().replies(Q1, 1, reply("JWT")))
        .then_refused(Code::HumanOnly)
        .then_events([]);
}

#[test]
fn a_reply_that_comes_after_an_answer_finds_that_one() {
    for said in ["JWT", "not sure", ""] {
        given_called()
            .and(human().answers(Q1, "cookies"))
            .when(architect().replies(Q1, 1, reply(said)))
            .then_refused(Code::QuestionAlreadyAnswered)
            .then_status(Q1, Status::Resolved);
        given_called()
            .and(engineer().withdraws(Q1))
            .when(architect().replies(Q1, 1, reply(said)))
            .then_refused(Code::InvalidTransition);
    }
}

#[test]
fn a_reply_that_comes_after_the_fallback_is_a_late_answer_if_it_is_one() {
    let expired = || {
        let asks = engineer().asks("architect", "Which auth?").else_takes("JWT", "it is there").expires_in("5m");
        given_team().and(asks).and(calls(Q1, 1, None)).later("6m").when_looked_at()
    };

    expired()
        .when(architect().replies(Q1, 1, reply("cookies")))
        .then_events(["late_answer_recorded", "assumption_overturned"]);
    expired().when(architect().replies(Q1, 1, reply("not sure"))).then_refused(Code::InvalidTransition).then_events([]);
}

#[test]
fn what_querent_asks_on_with_is_no_circle() {
    let words = ["It depends", "Hard to say, not known", "maybe"];
    let it = (1..=3).zip(words).fold(given_called(), |it, (round, said)| {
        it.and(architect().replies(Q1, round, AgentReply { evidence: None, ..reply(said) }))
    });

    it.when_monitored().then_findings([]).then_status(Q1, Status::Open);
    given_called()
        .and(architect().replies(Q1, 1, reply("I do not know that")))
        .and(architect().replies(Q1, 2, reply("I do not know that")))
        .when_monitored()
        .then_findings([("stuck", Q1)]);
}

#[test]
fn a_reply_says_through_what_it_came() {
    let mut replies = architect().replies(Q1, 1, reply("not sure"));
    replies.via = Via::Team;

    given_called()
        .and(replies)
        .then(|it| assert!(it.question(Q1).thread[1..].iter().all(|entry| entry.via == Via::Team)));
}
