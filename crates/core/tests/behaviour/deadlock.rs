use querent_core::{Action, AgentName, Command, Release, Span, Status};
use serde_json::json;

use crate::scenario::{Scenario, given};
use crate::speech::{agent, engineer, human, on};

/// A ring of agents, upstream first, in which each may ask any other, and as many items.
fn given_a_ring(size: u32) -> Scenario {
    let names: Vec<AgentName> = (1..=size).map(|place| format!("agent-{place}").parse().unwrap()).collect();
    let start = given().rules(|rules| {
        rules.config.agents = names
            .iter()
            .zip(1..)
            .map(|(name, rank)| (name.clone(), serde_json::from_value(json!({ "rank": rank })).unwrap()))
            .collect();
        let step = |name: &AgentName| json!({ "name": format!("of-{name}"), "agent": name, "can_clarify": names });
        let steps: Vec<_> = names.iter().map(step).collect();
        let workflow = serde_json::from_value(json!({ "name": "feature", "steps": steps })).unwrap();
        rules.workflows = [("feature".to_owned(), workflow)].into();
    });
    (1..=size).fold(start, |it, place| it.item(&format!("item-{place}")))
}

/// One of the ring asks another, and waits.
fn asks(from: u32, to: u32) -> Command {
    let asking = agent(&format!("agent-{from}")).asks(&format!("agent-{to}"), &format!("What of {from}?"));
    on(&format!("item-{from}"), asking.with(|ask| ask.topic = format!("Topic {from}")))
}

/// Everybody asks the next one.
fn given_a_deadlock(size: u32) -> Scenario {
    (1..=size).fold(given_a_ring(size), |it, from| it.and(asks(from, from % size + 1)))
}

#[test]
fn of_a_cycle_of_any_length_the_most_downstream_question_goes_to_a_human_with_the_cycle() {
    for size in [2, 3, 7] {
        let victim = format!("CLR-item-{size}-001");

        given_a_deadlock(size)
            .when_monitored()
            .then_findings([("deadlock", &victim)])
            .then_events(["question_escalated", "item_paused"])
            .then_shared_events(["alert_raised"])
            .then(|it| {
                let names = (1..size).map(|place| format!("agent-{place}"));
                let cycle: Vec<String> =
                    [format!("agent-{size}")].into_iter().chain(names).chain([format!("agent-{size}")]).collect();
                let summary = it.question(&victim).thread.last().unwrap().body.clone();
                assert!(summary.contains(&cycle.join(" → ")), "{summary}");
                assert_eq!(it.findings[0].evidence.len(), size as usize);
            });
    }
}

#[test]
fn what_was_broken_is_shown_and_not_broken_again() {
    given_a_deadlock(3)
        .when_monitored()
        .when_monitored()
        .then_findings([("deadlock", "CLR-item-3-001")])
        .then_events([])
        .then_shared_events([])
        .then(|it| {
            assert_eq!(it.findings[0].severity.as_str(), "info");
            assert_eq!(it.findings[0].actions, []);
            assert!(it.findings[0].evidence[0].contains("waits for a human"), "{:?}", it.findings[0].evidence);
        })
        .and(on("item-3", human().answers("CLR-item-3-001", "so")))
        .when_monitored()
        .then_findings([]);
}

#[test]
fn an_answered_or_non_blocking_question_makes_no_edge() {
    given_a_deadlock(3)
        .and(on("item-2", agent("agent-3").answers("CLR-item-2-001", "so")))
        .when_monitored()
        .then_findings([]);

    let not_blocking = asks(3, 1);
    let Action::Ask(mut ask) = not_blocking.action else { unreachable!() };
    ask.blocking = Some(false);
    given_a_ring(3)
        .and(asks(1, 2))
        .and(asks(2, 3))
        .and(Command { action: Action::Ask(ask), ..not_blocking })
        .when_monitored()
        .then_findings([]);
}

#[test]
fn an_agent_with_a_free_session_can_answer() {
    let busy = given_a_deadlock(3).item("item-9").and(on("item-9", agent("agent-2").starts()));

    busy.when_monitored()
        .then_findings([])
        .and(on("item-9", agent("agent-2").finishes()))
        .when_monitored()
        .then_findings([("deadlock", "CLR-item-3-001")]);
}

#[test]
fn an_agent_that_somebody_outside_the_circle_sets_free_is_in_no_deadlock() {
    // The second waits for the first and for the third, in two sessions; the third waits for nobody.
    given_a_ring(3)
        .item("item-9")
        .and(asks(1, 2))
        .and(asks(2, 1))
        .and(on("item-9", agent("agent-2").asks("agent-3", "And of this?")))
        .when_monitored()
        .then_findings([]);
}

#[test]
fn of_equal_ranks_the_youngest_question_yields() {
    given_a_ring(2)
        .rules(|rules| rules.config.agents.values_mut().for_each(|agent| agent.rank = 5))
        .and(asks(2, 1))
        .later("1s")
        .and(asks(1, 2))
        .when_monitored()
        .then_findings([("deadlock", "CLR-item-1-001")]);
}

#[test]
fn two_cycles_are_broken_at_once_and_each_once() {
    given_a_ring(4)
        .and(asks(1, 2))
        .and(asks(2, 1))
        .and(asks(3, 4))
        .and(asks(4, 3))
        .when_monitored()
        .then_findings([("deadlock", "CLR-item-2-001"), ("deadlock", "CLR-item-4-001")])
        .when_monitored()
        .then_events([]);
}

#[test]
fn a_question_that_is_stuck_and_deadlocked_is_escalated_once() {
    let about_the_same = |command: Command| {
        let Action::Ask(mut ask) = command.action else { unreachable!() };
        ask.topic = "Storage".to_owned();
        Command { item: "item-1".parse().unwrap(), action: Action::Ask(ask), ..command }
    };

    given_a_ring(2)
        .and(about_the_same(asks(1, 2)))
        .and(about_the_same(asks(2, 1)))
        .when_monitored()
        .then_findings([("stuck", "CLR-item-1-002"), ("deadlock", "CLR-item-1-002")])
        .then_events(["question_escalated", "item_paused"]);
}

#[test]
fn a_wait_for_a_file_is_an_edge_while_the_waiter_is_there() {
    let it = given_a_ring(3)
        .and(on("item-1", agent("agent-1").starts()))
        .and(on("item-2", agent("agent-2").starts()))
        .and(on("item-1", agent("agent-1").locks_as("agent-1@item-1", &["src/auth.rs"], false)))
        .and(on("item-2", agent("agent-2").locks_as("agent-2@item-2", &["src"], true)))
        .and(asks(1, 2));
    let waits = it.now;

    it.when_monitored()
        .then_findings([])
        .with_wait("agent-2@item-2", waits)
        .when_monitored()
        .then_findings([("deadlock", "CLR-item-1-001")])
        .then(|it| {
            let evidence = &it.findings[0].evidence[1];
            assert!(evidence.contains("`src`") && evidence.contains("agent-1@item-1 holds"), "{evidence}");
        });
}

#[test]
fn a_wait_that_nobody_renews_for_ten_seconds_is_over() {
    let it = given_a_ring(3)
        .and(on("item-1", agent("agent-1").starts()))
        .and(on("item-2", agent("agent-2").starts()))
        .and(on("item-1", agent("agent-1").locks_as("agent-1@item-1", &["a"], false)))
        .and(on("item-2", agent("agent-2").locks_as("agent-2@item-2", &["a"], true)))
        .and(asks(1, 2));
    let waits = it.now;

    it.with_wait("agent-2@item-2", waits).later("11s").when_monitored().then_findings([]);
}

#[test]
fn in_a_cycle_of_files_alone_the_lowest_priority_gives_way() {
    let it = given_a_ring(2)
        .and(on("item-1", agent("agent-1").starts()))
        .and(on("item-2", agent("agent-2").starts()))
        .and(on("item-1", agent("agent-1").locks_as("agent-1@item-1", &["a"], false)))
        .and(on("item-2", agent("agent-2").locks_as("agent-2@item-2", &["b", "c"], false)))
        .and(on("item-1", agent("agent-1").locks_as("agent-1@item-1", &["b"], true)))
        .and(on("item-2", agent("agent-2").locks_as("agent-2@item-2", &["a"], true)));
    let waits = it.now;

    it.with_wait("agent-1@item-1", waits)
        .with_wait("agent-2@item-2", waits)
        .when_monitored()
        .then_shared_events(["alert_raised", "lock_released"])
        .then(|it| {
            let held: Vec<&str> = it.state.resources.locks.keys().map(querent_core::ProjectPath::as_str).collect();
            assert_eq!(held, ["a", "c"]);
            let released = it.records.iter().rev().find_map(|record| match &record.event {
                querent_core::Event::LockReleased(it) => Some(it.reason),
                _ => None,
            });
            assert_eq!(released, Some(Release::Preempted));
        })
        .and(on("item-1", agent("agent-1").locks_as("agent-1@item-1", &["b"], false)));
}

#[test]
fn the_cases_of_a_question_that_is_overdue() {
    let asked = || crate::scenario::given_implementing().and(engineer().asks("architect", "Which bank?"));

    asked().later("29m").when_monitored().then_findings([]);
    asked()
        .later("30m")
        .when_monitored()
        .then_findings([("stale", "CLR-42-001")])
        .then_events(["question_stale", "question_retried"]);
    asked().and(agent("architect").answers("CLR-42-001", "any")).later("31m").when_monitored().then_findings([]);
    asked()
        .later("30m")
        .when_monitored()
        .later("30m")
        .when_monitored()
        .then_findings([("stale", "CLR-42-001")])
        .then_status("CLR-42-001", Status::Escalated)
        .when_monitored()
        .then_findings([]);
    assert_eq!(Span::minutes(30), "30m".parse().unwrap());
}
