//! Events that agents listen to: who hears of them, when, and how often one may follow from another.

use querent_core::event::TurnOutcome::{Asked, Done, Failed, Stopped};
use querent_core::{Code, Outcome, Party, ProgramHandle, Purpose, Status, TurnDeed, Work};
use serde_json::{Value, json};

use crate::scenario::Scenario;
use crate::speech::{Q1, agent, architect, engineer, human, name};
use crate::team::{begins, given_listener, given_team, step, turns};

#[test]
fn an_event_is_pending_for_its_listeners_until_their_turns_are_done() {
    given_listener(&["spec.approved"])
        .listens("reviewer", &["spec.approved"])
        .when(human().emits("spec.approved"))
        .then_events(["event_emitted"])
        .then(|it| {
            let happening = it.happening(1).unwrap();
            assert_eq!(happening.pending, [name("bystander"), name("reviewer")].into());
            assert_eq!((happening.by.clone(), happening.hops), (Party::HUMAN, 0));
            assert_eq!(happening.data, json!({ "spec": "docs/spec.md" }));
        })
        .then_next("bystander", Purpose::Happening(1))
        .and_ended(Failed)
        .then_next("bystander", Purpose::Happening(1))
        .and_ended(Stopped)
        .and_ended(Asked)
        .and_turn()
        .when_ended(Done)
        .then_events(["turn_ended", "session_finished"])
        .then_stage("implement")
        .then_next("reviewer", Purpose::Happening(1))
        .and_ended(Done)
        .then(|it| assert_eq!(it.happening(1), None))
        .then_next("engineer", step("implement"));
}

#[test]
fn an_agent_listens_by_name_or_by_how_names_begin() {
    for (on, event, hears) in [
        ("spec.approved", "spec.approved", true),
        ("spec.approved", "spec.approved2", false),
        ("spec", "spec.approved", false),
        ("alert.*", "alert.deadlock", true),
        ("alert.*", "alerts.deadlock", false),
        ("*", "build.completed", true),
    ] {
        given_listener(&["other", on])
            .and(human().emits(event))
            .then(|it| assert_eq!(it.happening(1).is_some(), hears, "{on} {event}"));
    }
}

#[test]
fn an_event_that_nobody_listens_to_has_happened_all_the_same() {
    given_team().when(engineer().emits_with("spec.approved", Value::Null)).then_events(["event_emitted"]).then(|it| {
        let team = &it.the_item().team;
        assert!(team.happenings.is_empty() && team.happened.contains(&"spec.approved".parse().unwrap()));
    });
}

#[test]
fn a_step_begins_when_all_that_it_waits_for_has_happened() {
    let it = given_team().workflow(|workflow| {
        workflow.steps[2].waits_for = vec!["spec.approved".parse().unwrap(), "budget.approved".parse().unwrap()];
    });

    it.then_work(&Work::WaitsFor("spec.approved".parse().unwrap()))
        .when(begins("engineer", step("implement"), 1, None))
        .then_refused(Code::InvalidTransition)
        .and(human().emits("spec.approved"))
        .then_work(&Work::WaitsFor("budget.approved".parse().unwrap()))
        .and(human().emits("budget.approved"))
        .then_next("engineer", step("implement"));
}

#[test]
fn a_step_may_wait_for_the_end_of_another() {
    given_team()
        .waits_for(3, "implement.completed")
        .and(human().moves_to("review"))
        .then_work(&Work::WaitsFor("implement.completed".parse().unwrap()))
        .and(human().moves_to("implement"))
        .and_ended(Done)
        .then_next("reviewer", step("review"));
}

#[test]
fn an_agent_that_comes_by_itself_holds_nobody_up() {
    given_listener(&["spec.approved"])
        .rules(|rules| rules.config.agents.get_mut(&name("bystander")).unwrap().provider = None)
        .and(human().emits("spec.approved"))
        .then_next("engineer", step("implement"))
        .rules(|rules| drop(rules.config.agents.remove(&name("bystander"))))
        .then_next("engineer", step("implement"));
}

#[test]
fn events_are_served_where_the_item_stands_in_no_step() {
    for stage in ["blocked", "ready_to_merge"] {
        given_listener(&["spec.approved"])
            .and(human().moves_to(stage))
            .and(human().emits("spec.approved"))
            .then_next("bystander", Purpose::Happening(1))
            .when(begins("bystander", Purpose::Happening(1), 1, None))
            .then_events(["session_started", "turn_begun"])
            .when_ended(Done)
            .then_stage(stage)
            .then_work(&Work::Over);
    }
}

#[test]
fn no_event_is_served_while_a_human_is_to_answer_or_after_the_end() {
    let begin = || begins("bystander", Purpose::Happening(1), 1, None);

    given_listener(&["spec.approved"])
        .and(engineer().asks("human", "Which bank?"))
        .and(human().emits("spec.approved"))
        .then_work(&Work::Waits(Q1.parse().unwrap()))
        .when(begin())
        .then_refused(Code::InvalidTransition)
        .and(human().answers(Q1, "any"))
        .then_next("bystander", Purpose::Happening(1))
        .and(human().ends_as(Outcome::Failed))
        .then_work(&Work::Over)
        .when(begin())
        .then_refused(Code::InvalidTransition)
        .when(human().emits("spec.approved"))
        .then_refused(Code::ItemNotRunnable);
}

#[test]
fn an_agent_that_asked_on_an_event_goes_on_with_it() {
    given_listener(&["spec.approved"])
        .listens("architect", &["spec.approved"])
        .listens("bystander", &[])
        .and(human().emits("spec.approved"))
        .and_turn()
        .and(architect().asks("product-manager", "Which users?"))
        .when_ended(Done)
        .then(|it| assert_eq!(it.turns("architect").outcome, Some(Asked)))
        .then_work(&Work::Waits(Q1.parse().unwrap()))
        .and(agent("product-manager").answers(Q1, "all"))
        .then_next("architect", Purpose::Happening(1))
        .and_ended(Done)
        .then_status(Q1, Status::Resolved)
        .then_next("engineer", step("implement"));
}

#[test]
fn whoever_is_in_the_midst_of_its_step_hears_of_events_after_it() {
    let handle = Some("c-1".parse::<ProgramHandle>().unwrap());
    let it =
        given_team().listens("engineer", &["spec.changed"]).and_turn().and(engineer().asks("architect", "Which auth?"));
    let note = TurnDeed::Note { claim: it.driven().1, program: None, handle: handle.clone() };

    it.and(turns("engineer", note))
        .when_ended(Asked)
        .and(human().emits("spec.changed"))
        .and(architect().answers(Q1, "JWT"))
        .then_next("engineer", step("implement"))
        .and_turn()
        .then(|it| assert_eq!(it.turns("engineer").handle, handle, "it goes on where it asked"))
        .when_ended(Done)
        .then_stage("review")
        .then_next("engineer", Purpose::Happening(1));
}

/// The turns of two agents that listen to each other, each of which emits what the other hears.
fn given_a_circle(turns: u32) -> Scenario {
    let start = given_listener(&["ping"]).listens("reviewer", &["pong"]).and(human().emits("ping"));
    (0..turns).fold(start, |it, turn| {
        let (who, event) = if turn % 2 == 0 { ("bystander", "pong") } else { ("reviewer", "ping") };
        it.and_turn().and(agent(who).emits(event)).when_ended(Done)
    })
}

#[test]
fn events_that_follow_from_each_other_without_end_are_refused() {
    given_a_circle(8)
        .then(|it| assert_eq!(it.happening(9).unwrap().hops, 8))
        .and_turn()
        .when(agent("bystander").emits("pong"))
        .then_refused(Code::Conflict)
        .then_message("`pong` is the 9th event that follows from another")
        .then_details(&json!({ "event": "pong", "hops": 9 }))
        .then_events([])
        .when(human().emits("pong"))
        .then_accepted()
        .then(|it| assert_eq!(it.happening(10).unwrap().hops, 0, "a person begins anew"));
}

#[test]
fn what_an_agent_emits_in_its_step_follows_from_nothing() {
    given_listener(&["ping"]).and_turn().and(engineer().emits("ping")).then(|it| {
        assert_eq!(it.happening(1).unwrap().hops, 0);
    });
}

#[test]
fn the_data_of_an_event_are_an_object_of_some_size() {
    for data in [json!("text"), json!([1]), json!(1), json!({ "x": "y".repeat(16 << 10) })] {
        given_team()
            .when(human().emits_with("spec.approved", data))
            .then_refused(Code::InvalidInput)
            .then_message("a JSON object of at most 16 KiB");
    }
    given_team().when(human().emits_with("spec.approved", json!({ "x": "y".repeat(16_000) }))).then_accepted();
}
