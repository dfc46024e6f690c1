//! Who may ask whom, and what a question becomes when its asker leaves something out.

use querent_core::reply::AskReply;
use querent_core::{Category, Code, Envelope, Kind, OnTimeout, Party, Status};
use serde_json::json;

use crate::scenario::{given, given_implementing};
use crate::speech::{Q1, Q2, agent, architect, engineer, human, name, product_manager, querent};

#[test]
fn an_ask_outside_can_clarify_says_who_is_allowed() {
    given_implementing()
        .when(engineer().asks("reviewer", "Is this fine?"))
        .then_refused(Code::ScopeViolation)
        .then_message("engineer may not ask reviewer in step `implement`")
        .then_hint("architect, product-manager, human")
        .then_details(&json!({ "step": "implement", "allowed": ["architect", "product-manager", "human"] }))
        .then_events([]);
}

#[test]
fn a_step_without_can_ask_human_does_not_reach_a_human() {
    given_implementing()
        .workflow(|feature| feature.steps[2].can_ask_human = false)
        .when(engineer().asks("human", "Which bank?"))
        .then_refused(Code::ScopeViolation)
        .then_details(&json!({ "to": "human", "allowed": ["architect", "product-manager"] }));
}

#[test]
fn a_step_that_may_ask_nobody_says_so() {
    given_implementing()
        .workflow(|feature| {
            feature.steps[2].can_ask_human = false;
            feature.steps[2].can_clarify.clear();
        })
        .when(engineer().asks_whoever_is_next("Anyone?"))
        .then_refused(Code::ScopeViolation)
        .then_hint("nobody may be asked in this step");
}

#[test]
fn an_agent_without_a_step_may_ask_nobody() {
    given_implementing()
        .when(agent("bystander").asks("human", "May I?"))
        .then_refused(Code::ScopeViolation)
        .then_message("bystander has no step in workflow `feature`")
        .then_details(&json!({ "allowed": [] }));
}

#[test]
fn an_agent_that_does_not_stand_in_the_current_step_asks_with_the_rights_of_its_own() {
    given_implementing()
        .when(architect().asks("product-manager", "Who pays?"))
        .then_accepted()
        .when(architect().asks("engineer", "Does it build?"))
        .then_refused(Code::ScopeViolation)
        .then_message("in step `architecture`");
}

#[test]
fn the_current_step_decides_where_an_agent_has_two() {
    given_implementing()
        .workflow(|feature| {
            let mut fix = feature.steps[2].clone();
            fix.name = "fix".to_owned();
            fix.can_clarify = vec![name("reviewer")];
            feature.steps.push(fix);
        })
        .and(human().moves_to("fix"))
        .when(engineer().asks_whoever_is_next("What is wrong?"))
        .then_reply(&json!({ "to": "reviewer" }));
}

#[test]
fn an_unknown_asker_names_the_nearest_agent() {
    given_implementing()
        .when(agent("enginer").asks("architect", "Who am I?"))
        .then_refused(Code::UnknownAgent)
        .then_message("there is no agent `enginer`")
        .then_hint("did you mean `engineer`?")
        .then_details(&json!({ "nearest": "engineer" }));
}

#[test]
fn an_unknown_addressee_names_the_nearest_agent() {
    given_implementing()
        .when(engineer().asks("arhcitect", "Which auth?"))
        .then_refused(Code::UnknownAgent)
        .then_hint("did you mean `architect`?");
}

#[test]
fn a_name_that_is_near_to_none_lists_them_all() {
    given_implementing()
        .when(engineer().asks("zzz", "Hello?"))
        .then_refused(Code::UnknownAgent)
        .then_hint("architect, bystander, engineer, product-manager, reviewer");
}

#[test]
fn an_unknown_item_is_not_found() {
    given()
        .when(engineer().asks("architect", "Where am I?"))
        .then_refused(Code::ItemNotFound)
        .then_message("there is no item `42`")
        .then_hint("querent item add 42");
}

#[test]
fn nobody_asks_as_a_human_or_as_querent() {
    given_implementing()
        .when(human().asks("architect", "How is it going?"))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "from" }))
        .when(querent().asks("architect", "How is it going?"))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "by" }));
}

#[test]
fn without_an_addressee_the_first_of_can_clarify_is_asked() {
    given_implementing()
        .when(engineer().asks_whoever_is_next("Which auth?"))
        .then_reply(&json!({ "to": "architect", "status": "open", "round": 1, "max_rounds": 5, "answer": null }));
}

#[test]
fn without_an_addressee_and_without_can_clarify_a_human_is_asked() {
    given().item("42").when(product_manager().asks_whoever_is_next("What is this for?")).then_reply(&json!({
        "to": "human",
        "item_stage": "awaiting_input",
        "resume_stage": "requirements",
    }));
}

#[test]
fn every_category_but_clarification_goes_to_a_human() {
    let scenario = given_implementing().rules(|rules| rules.config.human_input.max_open_blocking = 9);
    let categories = [Category::PermissionOverride, Category::ExternalDecision, Category::RiskAck];
    categories.into_iter().fold(scenario, |scenario, category| {
        scenario
            .when(engineer().asks_whoever_is_next("May I?").category(category))
            .then_reply(&json!({ "to": "human" }))
            .when(engineer().asks("architect", "May I?").category(category))
            .then_refused(Code::InvalidInput)
            .then_message("goes to a human, not to architect")
            .then_details(&json!({ "field": "to" }))
    });
}

#[test]
fn a_question_blocks_by_its_kind_unless_it_says_otherwise() {
    let ask = || engineer().asks("architect", "Which auth?");
    given_implementing()
        .and(ask())
        .and(ask().without_blocking())
        .and(ask().kind(Kind::Preference))
        .and(ask().kind(Kind::Confirming).with(|ask| ask.blocking = Some(true)))
        .then(|it| {
            let asked = it.state.questions.values();
            let kinds: Vec<(Kind, bool, u32)> = asked.map(|q| (q.kind, q.blocking, q.max_rounds)).collect();
            assert_eq!(
                kinds,
                [
                    (Kind::Blocking, true, 5),
                    (Kind::Clarifying, false, 6),
                    (Kind::Preference, false, 6),
                    (Kind::Confirming, true, 5),
                ]
            );
        });
}

#[test]
fn a_step_may_forbid_blocking_questions() {
    given_implementing()
        .workflow(|feature| feature.steps[2].clarify_blocking_allowed = false)
        .when(engineer().asks("architect", "Which auth?"))
        .then_refused(Code::BlockingNotAllowed)
        .then_hint("--no-blocking")
        .when(engineer().asks("architect", "Which auth?").without_blocking())
        .then_accepted();
}

#[test]
fn humans_that_are_switched_off_are_not_asked_but_agents_are() {
    given_implementing()
        .rules(|rules| rules.config.human_input.enabled = false)
        .when(engineer().asks("human", "Which bank?"))
        .then_refused(Code::UnsupportedOperation)
        .then_hint("[human_input]")
        .when(engineer().asks("architect", "Which bank?"))
        .then_accepted();
}

#[test]
fn the_switch_is_judged_before_the_scope() {
    given_implementing()
        .rules(|rules| rules.config.human_input.enabled = false)
        .workflow(|feature| feature.steps[2].can_ask_human = false)
        .when(engineer().asks("human", "Which bank?"))
        .then_refused(Code::UnsupportedOperation);
}

#[test]
fn more_rounds_than_the_step_has_are_refused() {
    given_implementing()
        .when(engineer().asks("architect", "Which auth?").max_rounds(6))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "max_rounds", "limit": { "least": 1, "most": 5 } }))
        .when(engineer().asks("architect", "Which auth?").max_rounds(0))
        .then_refused(Code::InvalidInput)
        .when(engineer().asks("architect", "Which auth?").max_rounds(2))
        .then_reply(&json!({ "max_rounds": 2 }));
}

#[test]
fn without_a_session_the_session_is_named_after_agent_and_item() {
    given_implementing().and(engineer().asks("architect", "Which auth?")).then(|it| {
        assert_eq!(it.question(Q1).from.session.as_str(), "engineer@42");
        assert_eq!(it.question(Q1).from.agent, name("engineer"));
    });
}

#[test]
fn an_agent_does_not_ask_in_the_session_of_another() {
    given_implementing()
        .and(architect().starts_as("s-1"))
        .when(engineer().asks("architect", "Which auth?").session("s-1"))
        .then_refused(Code::InvalidInput)
        .then_message("session `s-1` belongs to architect")
        .then_details(&json!({ "field": "session" }));
}

#[test]
fn questions_are_numbered_in_the_order_they_are_asked_and_refusals_take_no_number() {
    given_implementing()
        .when(engineer().asks("architect", "One?"))
        .then_reply(&json!({ "question_id": Q1 }))
        .when(engineer().asks("reviewer", "Not allowed?"))
        .then_refused(Code::ScopeViolation)
        .when(engineer().asks("architect", "Two?"))
        .then_reply(&json!({ "question_id": Q2 }));
}

#[test]
fn a_named_human_is_any_human() {
    given_implementing().and(engineer().asks("human:alice", "Which bank?")).then(|it| {
        assert_eq!(it.question(Q1).to, Party::HUMAN);
    });
}

#[test]
fn nothing_is_asked_on_an_item_that_has_ended() {
    given_implementing()
        .and(human().ends_as(querent_core::Outcome::Failed))
        .when(engineer().asks("architect", "Why?"))
        .then_refused(Code::ItemNotRunnable)
        .then_details(&json!({ "item_stage": "failed", "question_id": null }));
}

#[test]
fn an_item_that_waits_for_a_human_still_takes_questions_to_agents_and_non_blocking_ones() {
    given_implementing()
        .on_timeout(OnTimeout::Wait)
        .and(engineer().asks("human", "Which bank?"))
        .when(architect().asks("product-manager", "Which budget?"))
        .then_events(["question_asked"])
        .when(engineer().asks("human", "Which colour?").without_blocking())
        .then_events(["question_asked"])
        .then_status(Q2, Status::Open)
        .then_stage("awaiting_input");
}

#[test]
fn advice_comes_with_the_reply_and_refuses_nothing() {
    given_implementing()
        .when(engineer().asks("architect", "Which bank pays refunds?"))
        .then_reply(&json!({ "status": "open", "advice": [] }))
        .when(engineer().asks("architect", "Which bank? Which account?"))
        .then_reply(&json!({
            "status": "open",
            "advice": ["ask one thing at a time: there are 2 questions here, and an answer may be to any of them"],
        }));
}

#[test]
fn a_reply_that_was_stored_before_there_was_advice_is_read() {
    let stored = r#"{"ok":true,"data":{"question_id":"CLR-42-001","status":"open","to":"architect","round":1,
        "max_rounds":5,"item_stage":"implement","resume_stage":null,"answer":null}}"#;

    let reply: AskReply = Envelope::from_text(stored.to_owned()).read().unwrap();

    assert!(reply.advice.is_empty());
}
