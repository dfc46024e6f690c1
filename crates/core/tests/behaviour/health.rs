use querent_core::{Code, SessionStatus, SharedAction, Status};
use serde_json::json;

use crate::scenario::{Scenario, given, given_implementing};
use crate::speech::{Q1, alice, architect, engineer, human, on, querent};

fn given_at_work() -> Scenario {
    given_implementing().and(engineer().starts())
}

#[test]
fn a_session_that_does_not_get_on_is_watched_then_put_to_a_human_then_given_up() {
    given_at_work()
        .later("4m")
        .when_monitored()
        .then_findings([])
        .later("6m")
        .when_monitored()
        .then_findings([("component_down", "engineer@42"), ("stuck_task", "engineer@42")])
        .then_events([])
        .then_shared_events(["alert_raised", "alert_raised"])
        .later("10m")
        .when_monitored()
        .then_events(["question_asked"])
        .then_shared_events([])
        .then_status(Q1, Status::Open)
        .then_stage("implement")
        .then(|it| {
            let question = it.question(Q1);
            let options: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
            assert_eq!(options, ["wait", "skip", "retry"]);
            assert!(question.to.is_human() && !question.blocking);
            assert_eq!(question.thread[0].from.to_string(), "querent");
        })
        .when_monitored()
        .then_events([])
        .later("10m")
        .when_monitored()
        .then_events(["session_lost", "question_withdrawn"])
        .then(|it| assert_eq!(it.session("engineer@42").status, SessionStatus::Stuck))
        .when_monitored()
        .then_findings([]);
}

#[test]
fn the_phases_have_their_own_patience() {
    for (step, minutes) in [("database", 5), ("tests", 15), ("anything", 10)] {
        let start = || {
            given()
                .workflow(|workflow| workflow.steps[2].name = step.to_owned())
                .item("42")
                .and(human().moves_to(step))
                .and(engineer().starts())
        };
        let found = |it: &Scenario| it.findings.iter().any(|it| it.kind.as_str() == "stuck_task");

        let early = start().later(&format!("{}s", minutes * 60 - 1)).when_monitored();
        let late = start().later(&format!("{minutes}m")).when_monitored();

        assert!(!found(&early) && found(&late), "{step}");
    }
}

#[test]
fn what_a_human_says_of_a_session_is_done() {
    let asked = || given_at_work().later("20m").when_monitored();

    asked()
        .when(alice().answers(Q1, "wait"))
        .then_events(["question_answered"])
        .later("9m")
        .when_monitored()
        .then(|it| assert!(it.findings.iter().all(|it| it.kind.as_str() != "stuck_task"), "{:?}", it.findings));
    asked()
        .and(engineer().locks(&["src"]))
        .when(alice().answers(Q1, "retry"))
        .then_events(["question_answered", "session_lost"])
        .then_shared_events(["lock_released"])
        .then_stage("implement");
    asked()
        .when(alice().answers(Q1, "Skip"))
        .then_events(["question_answered", "session_lost", "item_moved"])
        .then_stage("review");
    asked().when(engineer().answers(Q1, "wait")).then_refused(Code::HumanOnly);
}

#[test]
fn whoever_waits_or_gets_on_is_not_stuck() {
    given_at_work()
        .and(engineer().asks("architect", "Which bank?"))
        .later("25m")
        .when_monitored()
        .then_findings([])
        .and(architect().answers(Q1, "any"))
        .later("4m")
        .when_monitored()
        .then_findings([]);
    given_at_work()
        .later("9m")
        .and(engineer().asks("architect", "Which bank?").with(|ask| ask.blocking = Some(false)))
        .later("4m")
        .when_monitored()
        .then_findings([]);
    given_at_work().later("9m").and(engineer().locks(&["src"])).later("4m").when_monitored().then_findings([]);
    given_at_work().and(engineer().finishes()).later("60m").when_monitored().then_findings([]);
}

#[test]
fn a_beat_is_a_sign_of_life() {
    given_at_work()
        .later("6m")
        .when_monitored()
        .then_findings([("component_down", "engineer@42")])
        .then(|it| assert_eq!(it.findings[0].severity.as_str(), "warning"));
    let it = given_at_work().later("6m");
    let beat = it.now;

    it.with_signs(|signs| signs.sessions.extend([("engineer@42".parse().unwrap(), beat)]))
        .later("4m")
        .when_monitored()
        .then_findings([("stuck_task", "engineer@42")]);
}

#[test]
fn a_session_whose_process_is_gone_is_lost_and_the_least_loaded_one_goes_on() {
    let at_work = |it: Scenario, item: &str, session: &str| it.item(item).and(on(item, engineer().starts_as(session)));
    let it = at_work(given(), "1", "busy");
    let it = at_work(at_work(at_work(it, "2", "busy"), "3", "idle"), "4", "gone");

    it.with_signs(|signs| signs.gone.extend(["gone".parse().unwrap()]))
        .when_monitored()
        .then_findings([("component_down", "gone")])
        .then_events(["session_lost"])
        .then_shared_events(["alert_raised"])
        .then(|it| {
            assert_eq!(it.session("gone").status, SessionStatus::Stuck);
            assert_eq!(it.session("idle").status, SessionStatus::Working);
        })
        .when_monitored()
        .then_findings([]);
}

#[test]
fn a_component_that_stops_beating_is_down_and_told_once_in_half_an_hour() {
    let it = given();
    let beat = it.now;
    let it = it.with_signs(|signs| signs.components.extend([("runner".parse().unwrap(), beat)]));

    it.later("4m")
        .when_monitored()
        .then_findings([])
        .later("1m")
        .when_monitored()
        .then_findings([("component_down", "runner")])
        .then_shared_events(["alert_raised"])
        .later("29m")
        .when_monitored()
        .then_findings([("component_down", "runner")])
        .then_shared_events([])
        .later("1m")
        .when_monitored()
        .then_shared_events(["alert_raised"])
        .later("29m")
        .when_shared(SharedAction::Acknowledge { alert: querent_core::AlertId(2) })
        .then_reply(&json!({ "alert": { "id": "ALR-002", "acknowledged": true, "acknowledged_by": "human" } }))
        .later("29m")
        .when_monitored()
        .then_shared_events([])
        .when_shared(SharedAction::Acknowledge { alert: querent_core::AlertId(2) })
        .then_refused(Code::InvalidTransition);
}

#[test]
fn nobody_arbitrates_but_querent() {
    let it = given_at_work();
    let (session, since) = ("engineer@42".parse().unwrap(), it.now);
    let action = querent_core::Action::LoseSession { session, since, reason: "so".to_owned(), to: None };

    it.when(human().does(action.clone()))
        .then_refused(Code::InvalidInput)
        .when(querent().does(action))
        .then_events(["session_lost"]);
}
