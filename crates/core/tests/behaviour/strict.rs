//! The strict gate: an agent that decides for itself asks a human only where it cannot.

use querent_core::{Ask, Blocker, Code, Command, Gate, Outcome, Party, Status, Via};
use serde_json::json;

use crate::scenario::{Scenario, given};
use crate::speech::{Asking, Q1, Q2, architect, human, on, product_manager};

/// Item 42 in the first step, which is planning. The product manager's gate is strict.
fn given_planning() -> Scenario {
    let strict = |rules: &mut querent_core::Rules| {
        rules.config.agents.get_mut(&"product-manager".parse().unwrap()).unwrap().gate = Gate::Strict;
    };
    given().rules(strict).item("42")
}

/// A question that meets every condition that it can meet by itself.
fn which_mode() -> Asking {
    product_manager()
        .asks("human", "Which Stripe environment is configured?")
        .options([("a", "Test mode"), ("b", "Production mode"), ("c", "Both")])
        .else_takes("a", "it cannot charge anybody")
        .with(|ask| {
            ask.blocker = Some(Blocker::MissingExternalData);
            ask.evidence = Some(tried(["codebase_search", "similar_features", "attempted_inference"]));
        })
}

fn tried<const N: usize>(names: [&str; N]) -> std::collections::BTreeMap<String, String> {
    names.map(|name| (name.to_owned(), "no keys in config/ or .env".to_owned())).into()
}

#[test]
fn a_question_that_meets_every_condition_is_asked_with_one_round_and_five_minutes() {
    given_planning()
        .when(which_mode())
        .then_events(["question_asked", "item_paused"])
        .then_shared_events(["quota_taken"])
        .then_reply(&json!({ "status": "open", "to": "human", "max_rounds": 1 }))
        .then(|it| {
            assert_eq!(it.question(Q1).expires_at, Some(it.at("5m")));
            assert_eq!(it.state.quota.active.as_ref().unwrap().to_string(), Q1);
        });
}

#[test]
fn every_condition_that_is_not_met_is_listed_with_what_would_meet_it() {
    given_planning()
        .and(human().moves_to("implement"))
        .when(product_manager().asks("human", "Which test framework?"))
        .then_refused(Code::ConditionsNotMet)
        .then_message("blocker, evidence, planning, options, fallback")
        .then_hint("querent assume --item 42 --agent product-manager")
        .then(|it| {
            let refusal = it.reply().read::<serde_json::Value>().unwrap_err();
            let conditions = refusal.details["conditions"].as_array().unwrap().clone();
            let listed = conditions
                .iter()
                .map(|it| (it["condition"].as_str().unwrap(), it["met"] == true, it["needs"].is_null()));
            let expected = ["blocker", "evidence", "quota", "planning", "question", "options", "fallback"];
            let is_met = |name: &str| name == "quota" || name == "question";
            assert_eq!(listed.collect::<Vec<_>>(), expected.map(|name| (name, is_met(name), is_met(name))));
        })
        .then_events([]);
}

/// A condition, what breaks it, and what its cure names.
type Broken = (&'static str, fn(&mut Ask), &'static str);

#[test]
fn each_condition_is_needed() {
    let wants: [Broken; 8] = [
        ("blocker", |ask| ask.blocker = None, "--blocker"),
        ("blocker", |ask| ask.blocker = Some(Blocker::None), "security_decision"),
        ("evidence", |ask| ask.evidence = Some(tried(["codebase_search"])), "similar_features"),
        ("evidence", |ask| ask.complex = true, "investigation"),
        ("question", |ask| ask.prompt = "Which mode? And which currency?".to_owned(), "there are 2"),
        ("options", |ask| ask.options.truncate(1), "--option"),
        ("fallback", |ask| ask.fallback = None, "--fallback"),
        (
            "fallback",
            |ask| {
                ask.allow_free_text = true;
                ask.fallback.as_mut().unwrap().answer = json!("something else");
            },
            "--fallback",
        ),
    ];
    for (condition, change, needs) in wants {
        given_planning().when(which_mode().with(change)).then_refused(Code::ConditionsNotMet).then(|it| {
            let refusal = it.reply().read::<serde_json::Value>().unwrap_err();
            let conditions = refusal.details["conditions"].as_array().unwrap().clone();
            let unmet: Vec<_> = conditions.iter().filter(|it| it["met"] == false).collect();
            assert_eq!(unmet.len(), 1, "{condition}: {unmet:?}");
            assert_eq!(unmet[0]["condition"], condition);
            assert!(unmet[0]["needs"].as_str().unwrap().contains(needs), "{unmet:?}");
        });
    }
}

#[test]
fn a_complex_matter_passes_with_an_investigation() {
    let names = ["codebase_search", "similar_features", "attempted_inference", "investigation"];
    given_planning()
        .when(which_mode().with(|ask| {
            ask.complex = true;
            ask.evidence = Some(tried(names));
        }))
        .then_accepted();
}

#[test]
fn a_session_asks_once_however_often_it_starts_again() {
    given_planning()
        .and(product_manager().starts())
        .and(which_mode())
        .and(human().answers(Q1, "b"))
        .and(product_manager().finishes_but_keeps_the_step())
        .and(product_manager().starts())
        .when(which_mode().with(|ask| ask.prompt = "Which currency?".to_owned()))
        .then_refused(Code::ConditionsNotMet)
        .then_hint("has asked its one question, CLR-42-001")
        .when(which_mode().with(|ask| {
            ask.prompt = "Which currency?".to_owned();
            ask.session = Some("another".parse().unwrap());
        }))
        .then_events(["question_asked", "item_paused"]);
}

#[test]
fn one_is_active_in_the_whole_project_until_it_is_settled_in_any_way() {
    let settle: [fn(Scenario) -> Scenario; 4] = [
        |it| it.when(human().answers(Q1, "b")),
        |it| it.when(product_manager().withdraws(Q1)),
        |it| it.when(human().ends_as(Outcome::Failed)),
        |it| it.later("5m").when_looked_at(),
    ];
    for settle in settle {
        let it = given_planning()
            .and(on("43", human().opens("Ship it")))
            .and(which_mode())
            .when(on("43", which_mode()))
            .then_refused(Code::ConditionsNotMet)
            .then_hint("CLR-42-001 is open")
            .then_events([]);
        // The scene turns back to item 42.
        let it = it.when(product_manager().follows_up(Q1, "Well?"));
        settle(it)
            .then(|it| assert_eq!(it.state.quota.active, None))
            .when(on("43", which_mode()))
            .then_shared_events(["quota_taken"]);
    }
}

#[test]
fn the_gate_judges_neither_questions_to_agents_nor_triggers_nor_other_agents() {
    let may_ask = |rules: &mut querent_core::Rules| {
        let feature = rules.workflows.get_mut("feature").unwrap();
        feature.steps[0].can_clarify = vec!["architect".parse().unwrap()];
    };
    let trigger: Command = product_manager().asks("human", "Well done: which item is next?").into();
    let free = [
        product_manager().asks("architect", "Which database?").into(),
        Command { via: Via::Trigger, ..trigger },
        architect().asks("human", "Which database?").into(),
    ];
    for command in free {
        let command: Command = command;
        given_planning().rules(may_ask).when(command).then_status(Q1, Status::Open).then_shared_events([]);
    }
}

#[test]
fn its_fallback_is_taken_after_five_minutes_and_stands_on_record() {
    given_planning()
        .and(which_mode())
        .later("299s")
        .when_looked_at()
        .then_status(Q1, Status::Open)
        .later("1s")
        .when_looked_at()
        .then_status(Q1, Status::Expired)
        .then_stage("requirements")
        .then(|it| {
            let assumed = &it.the_item().assumptions[&1];
            assert_eq!(assumed.source.as_str(), "timeout_assumed");
            assert_eq!(assumed.blocker, Blocker::MissingExternalData);
        });
}

#[test]
fn a_security_decision_waits_as_long_as_it_takes() {
    given_planning()
        .and(which_mode().with(|ask| ask.blocker = Some(Blocker::SecurityDecision)))
        .later("7d")
        .when_looked_at()
        .then_status(Q1, Status::Open)
        .then(|it| assert!(it.state.quota.active.is_some()));
}

#[test]
fn a_second_question_of_the_item_has_the_quota_of_its_own_agent_only() {
    given_planning()
        .and(which_mode().with(|ask| ask.blocking = Some(false)))
        .when(architect().asks("human", "Which database?"))
        .then_status(Q2, Status::Open)
        .then(|it| assert_eq!(it.question(Q2).to, Party::HUMAN));
}

#[test]
fn where_nobody_is_asked_no_condition_need_be_met() {
    given_planning()
        .rules(|rules| rules.config.project.autonomy = querent_core::Autonomy::NeverAsk)
        .when(product_manager().asks("human", "Which mode?").else_takes("test", "it charges nobody"))
        .then_status(Q1, Status::Expired)
        .then_shared_events([]);
}
