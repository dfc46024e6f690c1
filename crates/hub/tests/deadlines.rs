//! Deadlines without any daemon: they pass when somebody comes by, on every engine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::view::{Filter, StatusFilter};
use querent_core::{Action, Code, EntryKind, Party, Provenance, Status};

use crate::support::{
    Scene, accepted, answers, command, expiring, id, on_both_engines, opens, refused, to_architect, to_human,
    with_fallback,
};

#[test]
fn an_sla_that_passed_makes_the_question_stale_and_calls_again() {
    on_both_engines(|scene| {
        scene.item("42");
        let id = scene.asks("42", to_architect());
        scene.pass("29m");
        assert_eq!(scene.status(&id), "open");

        scene.pass("1m");

        let question = scene.hub.question(&id).unwrap();
        assert_eq!(question.status, Status::Stale);
        assert_eq!(question.thread.last().unwrap().kind, EntryKind::Retry);
        assert_eq!(scene.events("42")[3..], ["question_stale", "question_retried"]);
    });
}

#[test]
fn a_second_sla_escalates_to_a_human_and_pauses_the_item() {
    on_both_engines(|scene| {
        scene.item("42");
        let id = scene.asks("42", to_architect());
        scene.pass("31m");
        assert_eq!(scene.status(&id), "stale");
        // It runs from the moment at which the first was noticed.
        scene.pass("29m");
        assert_eq!(scene.status(&id), "stale");

        scene.pass("1m");

        let question = scene.hub.question(&id).unwrap();
        assert_eq!((question.status, question.to), (Status::Escalated, Party::HUMAN));
        assert_eq!(scene.stage("42"), "awaiting_input");
        accepted(&scene.hub, &answers(&id, "REST"));
        assert_eq!((scene.status(&id), scene.stage("42").as_str()), ("resolved", "implement"));
    });
}

#[test]
fn a_command_runs_what_is_due_on_its_item_first() {
    on_both_engines(|scene| {
        scene.item("42");
        let asked = scene.asks("42", expiring(with_fallback(), "5m"));
        scene.pass("6m");

        let reply = scene.hub.execute(&opens("42"), None);

        refused(&reply, Code::Conflict);
        assert_eq!(scene.events("42").last_chunk(), Some(&["question_expired", "assumption_recorded", "item_resumed"]));
        assert_eq!(scene.status(&asked), "expired");
    });
}

#[test]
fn an_expired_question_takes_its_fallback_and_lets_the_item_go_on() {
    on_both_engines(|scene| {
        scene.item("42");
        let id = scene.asks("42", with_fallback());
        assert_eq!(scene.stage("42"), "awaiting_input");

        scene.pass("15m");

        let answer = scene.hub.question(&id).unwrap().answer.unwrap();
        assert_eq!((answer.value, answer.provenance), ("rest".into(), Provenance::Fallback));
        assert_eq!(scene.stage("42"), "implement");
    });
}

#[test]
fn without_a_fallback_the_policy_blocks_the_item_until_a_late_answer() {
    on_both_engines(|scene| {
        scene.edit("config.toml", |text| text.replace("on_timeout = \"wait\"", "on_timeout = \"block\""));
        scene.item("42");
        let id = scene.asks("42", to_human());

        scene.pass("15m");

        assert_eq!(scene.stage("42"), "blocked");
        assert_eq!(scene.status(&id), "expired");
        accepted(&scene.hub, &answers(&id, "RPC"));
        assert_eq!((scene.status(&id), scene.stage("42").as_str()), ("expired", "implement"));
    });
}

#[test]
fn without_a_fallback_the_policy_fails_the_item() {
    on_both_engines(|scene| {
        scene.edit("config.toml", |text| text.replace("on_timeout = \"wait\"", "on_timeout = \"fail\""));
        scene.item("42");
        let id = scene.asks("42", to_human());

        scene.pass("15m");

        assert_eq!((scene.stage("42").as_str(), scene.status(&id)), ("failed", "expired"));
        let reply = scene.hub.execute(&answers(&id, "RPC"), None);
        refused(&reply, Code::QuestionAnswerNotAllowedInTerminalState);
    });
}

#[test]
fn without_a_fallback_the_policy_waits_and_reminds() {
    on_both_engines(|scene| {
        scene.item("42");
        let id = scene.asks("42", expiring(to_human(), "10m"));

        scene.pass("11m");

        assert_eq!((scene.status(&id), scene.stage("42").as_str()), ("open", "awaiting_input"));
        assert!(scene.events("42").contains(&"question_reminded"));
        scene.pass("7d");
        assert_eq!(scene.status(&id), "open");
    });
}

#[test]
fn a_list_runs_what_is_due_on_every_open_item() {
    let active = Filter::default();
    let all = Filter { status: StatusFilter::All, ..Filter::default() };
    let looks: &[fn(&Scene, &Filter, &Filter)] = &[
        |scene, active, _| assert_eq!(scene.hub.questions(None, active).unwrap().len(), 3),
        |scene, _, all| assert_eq!(scene.hub.questions(None, all).unwrap().len(), 3),
        |scene, _, _| assert_eq!(scene.hub.items().unwrap().len(), 4),
        |scene, _, _| assert_eq!(scene.hub.ready().unwrap().len(), 4),
        |scene, _, _| assert_eq!(scene.hub.sessions().unwrap().len(), 6),
    ];
    for look in looks {
        on_both_engines(|scene| {
            scene.item("quiet");
            for item in ["a", "b", "c"] {
                scene.item(item);
                scene.asks(item, to_architect());
            }
            scene.pass("31m");

            look(&scene, &active, &all);

            for item in ["a", "b", "c"] {
                assert_eq!(scene.events(item).last(), Some(&"question_retried"), "{item}");
            }
            assert_eq!(scene.events("quiet").len(), 2);
        });
    }
}

#[test]
fn a_list_of_questions_shows_them_as_they_are_after_what_was_due() {
    on_both_engines(|scene| {
        for (item, ask) in [("a", to_architect()), ("b", expiring(with_fallback(), "5m"))] {
            scene.item(item);
            scene.asks(item, ask);
        }
        scene.pass("31m");

        let shown = scene.hub.questions(None, &Filter::default()).unwrap();

        let shown: Vec<_> = shown.iter().map(|question| (question.id.to_string(), question.status.as_str())).collect();
        assert_eq!(shown, [("CLR-a-001".to_owned(), "stale")]);
        let expired = Filter { status: StatusFilter::Expired, ..Filter::default() };
        assert_eq!(scene.hub.questions(None, &expired).unwrap().len(), 1);
        assert_eq!(scene.hub.questions(Some(&id("b")), &expired).unwrap().len(), 1);
    });
}

#[test]
fn a_look_at_one_item_touches_no_other_and_a_second_look_nothing() {
    on_both_engines(|scene| {
        for item in ["a", "b"] {
            scene.item(item);
            scene.asks(item, to_architect());
        }
        scene.pass("31m");

        assert_eq!(scene.hub.item(&id("a")).unwrap().open[&1].status, Status::Stale);

        assert_eq!(scene.events("b").len(), 3);
        let before = scene.records();
        assert_eq!(scene.status(&id("CLR-a-001")), "stale");
        scene.hub.item(&id("a")).unwrap();
        assert_eq!(scene.records(), before);
    });
}

#[test]
fn the_same_operation_is_answered_the_same_whatever_became_due() {
    on_both_engines(|scene| {
        scene.item("42");
        let ask = command("42", "engineer", Action::Ask(Box::new(with_fallback())));
        let first = scene.hub.execute(&ask, Some(id("op-1")));
        scene.pass("1d");
        assert_eq!(scene.status(&id("CLR-42-001")), "expired");

        let again = scene.hub.execute(&ask, Some(id("op-1")));

        assert_eq!(again.as_str(), first.as_str());
    });
}
