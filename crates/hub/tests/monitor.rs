//! The monitor at work, on both engines and with real threads: what follows from a finding happens once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::thread;
use std::time::Duration;

use querent_core::reply::LockReply;
use querent_core::view::Filter;
use querent_core::{Action, Ask, Command, Party, SessionId, Span, Via};
use querent_hub::{Handle, Wanted};

use crate::support::{Scene, accepted, id, moves, on_both_engines, opens};

/// The architect may ask the engineer, as the engineer may ask the architect.
fn both_may_ask(scene: &Scene) {
    scene.edit("workflows/feature.toml", |text| text.replace("[\"product-manager\"]", "[\"engineer\"]"));
}

/// Engineer and architect wait for each other.
fn deadlock(scene: &Scene) {
    both_may_ask(scene);
    for (item, stage, from, to) in
        [("42", "implement", "engineer", "architect"), ("43", "architecture", "architect", "engineer")]
    {
        accepted(&scene.hub, &opens(item));
        accepted(&scene.hub, &moves(item, stage));
        asks(&scene.hub, item, from, to);
    }
}

fn asks(hub: &Handle, item: &str, from: &str, to: &str) {
    let ask = Ask { to: Some(id(to)), topic: item.to_owned(), prompt: "What now?".to_owned(), ..Ask::default() };
    does(hub, item, from, Action::Ask(Box::new(ask)));
}

fn does(hub: &Handle, item: &str, by: &str, action: Action) {
    accepted(hub, &Command { item: id(item), by: id::<Party>(by), via: Via::Library, action });
}

fn starts(hub: &Handle, item: &str, agent: &str) {
    does(hub, item, agent, Action::StartSession { session: None, process: None });
}

fn wanted(session: &str, path: &str) -> Wanted {
    Wanted { session: id(session), paths: [id(path)].into(), ttl: Span::minutes(30), via: Via::Library }
}

fn granted(reply: &querent_core::Envelope) -> bool {
    reply.read::<LockReply>().is_ok_and(|reply| !reply.granted.is_empty())
}

#[test]
fn of_many_monitors_at_once_one_acts_and_the_next_only_shows() {
    on_both_engines(|scene| {
        deadlock(&scene);

        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| scene.hub.monitor(false).unwrap());
            }
        });

        let escalated = |item| scene.events(item).iter().filter(|it| **it == "question_escalated").count();
        assert_eq!((escalated("42"), escalated("43")), (1, 0), "the engineer is downstream");
        assert_eq!(scene.hub.alerts().unwrap().len(), 1);
        let found = scene.hub.monitor(false).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].actions.is_empty(), "{found:?}");
    });
}

#[tokio::test]
async fn where_the_time_is_kept_a_list_looks_once_in_a_while_whatever_happens() {
    let scene = Scene::in_files();
    // Rules that were read are used for a moment, so they change before the first look.
    both_may_ask(&scene);
    let hub = scene.hub.clone();
    let kept = tokio::spawn(async move { hub.keep_time().await });
    tokio::task::yield_now().await;
    let list = || scene.hub.questions(None, &Filter::default()).unwrap();
    let is_escalated = || scene.events("42").contains(&"question_escalated");
    list();
    deadlock(&scene);

    list();
    assert!(!is_escalated());
    scene.pass("2s");
    list();
    assert!(is_escalated());
    kept.abort();
}

#[test]
fn a_dry_run_records_nothing() {
    on_both_engines(|scene| {
        deadlock(&scene);
        scene.pass("31m");
        let before = scene.records().len();

        let found = scene.hub.monitor(true).unwrap();

        assert!(found.iter().any(|it| !it.actions.is_empty()), "{found:?}");
        assert_eq!(scene.records().len(), before);
    });
}

#[test]
fn a_session_that_nobody_hears_of_is_found_on_an_item_without_questions() {
    on_both_engines(|scene| {
        scene.item("42");
        starts(&scene.hub, "42", "engineer");
        scene.pass("6m");
        scene.hub.beat(&id("engineer@42")).unwrap();
        scene.hub.beat(&id("runner")).unwrap();
        scene.pass("3m");
        assert_eq!(scene.hub.monitor(true).unwrap(), []);
        scene.pass("3m");

        let kinds: Vec<String> = scene.hub.monitor(true).unwrap().iter().map(|it| it.kind.to_string()).collect();

        assert_eq!(kinds, ["component_down", "stuck_task", "component_down"]);
        scene.hub.still(&id("runner")).unwrap();
        does(&scene.hub, "42", "engineer", Action::FinishSession { session: None, keep: false });
        assert_eq!(scene.hub.monitor(true).unwrap(), []);
    });
}

#[test]
fn an_escalation_about_a_session_is_an_ordinary_question() {
    on_both_engines(|scene| {
        scene.item("42");
        starts(&scene.hub, "42", "engineer");
        scene.pass("21m");

        let listed = scene.hub.questions(None, &querent_core::view::Filter::default()).unwrap();

        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].options.len(), 3);
        let answer = Action::Answer { question: listed[0].id.clone(), answer: "skip".into(), note: None };
        does(&scene.hub, "42", "human", answer);
        assert_eq!(scene.stage("42"), "review");
    });
}

#[tokio::test]
async fn a_waiter_is_woken_by_another_process_and_is_an_edge_meanwhile() {
    let scene = Scene::in_files();
    let other = scene.another_process();
    scene.item("42");
    starts(&scene.hub, "42", "engineer");
    starts(&scene.hub, "42", "architect");
    assert!(granted(&scene.hub.lock(&wanted("engineer@42", "src"), None).unwrap()));

    let waiter = scene.another_process();
    let waiting = tokio::spawn(async move {
        waiter.lock_within(&wanted("architect@42", "src/a.rs"), Duration::from_mins(10), None).await.unwrap()
    });
    let session: SessionId = id("architect@42");
    while other.locks().unwrap().locks[0].waiting != [session.clone()] {
        tokio::task::yield_now().await;
    }
    asks(&scene.hub, "42", "engineer", "architect");
    let found = other.monitor(true).unwrap();
    assert_eq!(found[0].kind.as_str(), "deadlock", "{found:?}");
    other.unlock(&id("engineer@42"), [].into(), Via::Library, None).unwrap();

    assert!(granted(&waiting.await.unwrap()));
    assert_eq!(scene.hub.resources().unwrap().waits.len(), 0);
}

#[tokio::test]
async fn the_edge_of_a_waiter_that_was_killed_is_gone_after_ten_seconds() {
    let scene = Scene::in_files();
    scene.item("42");
    starts(&scene.hub, "42", "engineer");
    starts(&scene.hub, "42", "architect");
    scene.hub.lock(&wanted("engineer@42", "src"), None).unwrap();
    let waiter = scene.another_process();
    let waiting =
        tokio::spawn(
            async move { waiter.lock_within(&wanted("architect@42", "src"), Duration::from_mins(10), None).await },
        );
    while scene.hub.locks().unwrap().locks[0].waiting.is_empty() {
        tokio::task::yield_now().await;
    }
    asks(&scene.hub, "42", "engineer", "architect");
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(scene.hub.monitor(true).unwrap().len(), 1, "it was there a moment ago");

    scene.pass("11s");

    assert_eq!(scene.hub.monitor(true).unwrap(), []);
    assert!(scene.hub.locks().unwrap().locks[0].waiting.is_empty());
}
