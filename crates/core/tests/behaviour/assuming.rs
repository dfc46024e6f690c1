//! What was decided without being told is on record, and people judge it.

use querent_core::{
    Action, Assumption, AssumptionStatus, Code, Confidence, Outcome, Party, Risk, RiskIfWrong, Source, Span, Verdict,
};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, alice, assume, engineer, human};

const A1: &str = "ASM-42-001";

fn given_assumed() -> Scenario {
    given_implementing().and(engineer().assumes("Tokens live for an hour"))
}

fn assumption(it: &Scenario, number: u32) -> Assumption {
    it.the_item().assumptions[&number].clone()
}

#[test]
fn a_decision_is_recorded_with_all_that_was_said_of_it() {
    given_implementing()
        .when(engineer().assumes("Tokens live for an hour"))
        .then_events(["assumption_recorded"])
        .then_reply(&json!({ "assumption": {
            "id": "ASM-42-001", "item": "42", "by": "engineer", "decision": "Tokens live for an hour", "blocker": "none",
            "source": "inferred_from_codebase", "reasoning": "src/auth.rs does so", "confidence": "medium",
            "risk_if_wrong": { "level": "low", "note": null }, "question_id": null, "status": "standing",
        } }))
        .then(|it| assert!(!it.item_view().needs_rework));
}

#[test]
fn assumptions_have_dense_ids() {
    given_assumed()
        .when(engineer().assumes("Tokens are signed"))
        .then_reply(&json!({ "assumption": { "id": "ASM-42-002" } }));
}

#[test]
fn only_an_agent_assumes_and_only_while_the_item_goes_on() {
    given_implementing().when(human().assumes("Anything")).then_refused(Code::InvalidInput);
    given_implementing()
        .and(human().ends_as(Outcome::Merged))
        .when(engineer().assumes("Anything"))
        .then_refused(Code::ItemNotRunnable);
}

#[test]
fn the_fields_of_an_assumption_have_limits() {
    for (decision, reasoning, field) in [("", "so", "decision"), ("a", " ", "reasoning")] {
        let mut assume = assume(decision);
        reasoning.clone_into(&mut assume.reasoning);
        given_implementing()
            .when(engineer().does(Action::Assume(Box::new(assume))))
            .then_refused(Code::InvalidInput)
            .then_message(field);
    }
    given_implementing()
        .when(engineer().assumes(&"é".repeat(501)))
        .then_refused(Code::InvalidInput)
        .then_message("501");
    given_implementing().when(engineer().assumes(&"é".repeat(500))).then_accepted();
}

#[test]
fn an_assumption_about_a_question_names_one_that_was_asked() {
    let mut about = assume("JSON Web Tokens");
    about.question = Some(Q1.parse().unwrap());
    given_implementing()
        .when(engineer().does(Action::Assume(Box::new(about))))
        .then_refused(Code::QuestionNotFound)
        .then_message(Q1);
}

#[test]
fn a_person_confirms_or_overturns_and_the_item_then_needs_rework() {
    given_assumed().when(alice().reviews(A1, Verdict::Confirm)).then_events(["assumption_confirmed"]).then(|it| {
        let judged = assumption(it, 1);
        assert_eq!(judged.status, AssumptionStatus::Confirmed);
        assert_eq!(judged.reviewed.unwrap().by, Party::Human(Some("alice".to_owned())));
        assert!(!it.item_view().needs_rework);
    });
    given_assumed()
        .when(alice().reviews(A1, Verdict::Overturn))
        .then_events(["assumption_overturned"])
        .then_reply(&json!({ "assumption": { "status": "overturned" } }))
        .then(|it| assert!(it.item_view().needs_rework));
}

#[test]
fn what_was_confirmed_may_still_be_overturned_but_not_the_other_way_round() {
    given_assumed()
        .and(human().reviews(A1, Verdict::Confirm))
        .and(human().reviews(A1, Verdict::Overturn))
        .when(human().reviews(A1, Verdict::Confirm))
        .then_refused(Code::InvalidTransition)
        .then_hint("anew");
}

#[test]
fn an_agent_judges_nothing_and_an_unknown_one_is_said_to_be_so() {
    given_assumed().when(engineer().reviews(A1, Verdict::Confirm)).then_refused(Code::HumanOnly);
    given_assumed()
        .when(human().reviews("ASM-42-002", Verdict::Confirm))
        .then_refused(Code::InvalidInput)
        .then_message("ASM-42-002");
}

#[test]
fn a_fallback_that_is_taken_is_an_assumption_with_its_reason_and_risk() {
    let ask = engineer().asks("human", "Which auth?").options([("jwt", "JSON Web Tokens"), ("cookie", "Cookie")]);
    given_implementing()
        .and(ask.else_takes("jwt", "it is stateless"))
        .later("15m")
        .when_looked_at()
        .then_events(["question_expired", "assumption_recorded", "item_resumed"])
        .then(|it| {
            let made = assumption(it, 1);
            assert_eq!((made.source, made.confidence), (Source::TimeoutAssumed, Confidence::Medium));
            assert_eq!(made.decision, "Authentication: JSON Web Tokens");
            assert_eq!(made.reasoning, "it is stateless");
            assert_eq!(made.risk_if_wrong, RiskIfWrong { level: Risk::Low, note: None });
            assert_eq!(made.question_id, Some(Q1.parse().unwrap()));
            assert_eq!(made.by, "engineer".parse().unwrap());
        });
}

#[test]
fn a_late_answer_confirms_or_overturns_what_was_assumed_without_it() {
    let taken = || {
        let ask = engineer().asks("human", "Which auth?").options([("jwt", "JSON Web Tokens"), ("cookie", "Cookie")]);
        given_implementing().and(ask.else_takes("jwt", "it is stateless")).later("15m").when_looked_at()
    };
    taken().when(alice().answers(Q1, "cookie")).then_events(["late_answer_recorded", "assumption_overturned"]).then(
        |it| {
            assert_eq!(assumption(it, 1).status, AssumptionStatus::Overturned);
            assert_eq!(assumption(it, 1).reviewed.unwrap().note.unwrap(), "human:alice answered late: Cookie");
            assert!(it.item_view().needs_rework);
        },
    );
    taken().when(alice().answers(Q1, "jwt")).then_events(["late_answer_recorded", "assumption_confirmed"]).then(|it| {
        assert_eq!(assumption(it, 1).status, AssumptionStatus::Confirmed);
        assert!(!it.item_view().needs_rework);
    });
}

#[test]
fn the_list_for_review_begins_with_what_stands_and_is_riskiest_and_least_sure() {
    let with = |decision: &str, level, confidence| {
        let mut it = assume(decision);
        (it.risk_if_wrong.level, it.confidence) = (level, confidence);
        engineer().does(Action::Assume(Box::new(it)))
    };
    given_implementing()
        .and(with("low and sure", Risk::Low, Confidence::High))
        .and(with("high and sure", Risk::High, Confidence::High))
        .and(with("high and a guess", Risk::High, Confidence::Low))
        .and(with("high but confirmed", Risk::High, Confidence::Low))
        .and(human().reviews("ASM-42-004", Verdict::Confirm))
        .then(|it| {
            let mut list: Vec<&Assumption> = it.the_item().assumptions.values().collect();
            list.sort_by_key(|assumption| assumption.urgency());
            let decisions: Vec<&str> = list.iter().map(|assumption| assumption.decision.as_str()).collect();
            assert_eq!(decisions, ["high and a guess", "high and sure", "low and sure", "high but confirmed"]);
        });
}

#[test]
fn an_agent_gives_a_minute_at_least_and_a_week_at_most() {
    let week = Span::minutes(7 * 24 * 60);
    for (given, kept) in [("1s", Span::minutes(1)), ("2m", Span::minutes(2)), ("7d", week), ("8d", week)] {
        given_implementing()
            .and(engineer().asks("human", "Which bank?").with(|ask| ask.expires_in = Some(given.parse().unwrap())))
            .then(|it| {
                let question = it.question(Q1);
                assert_eq!(question.expires_at, Some(question.created_at.plus(kept)), "{given}");
            });
    }
}
