//! Commands of those who wait on no thread: the same as all others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use querent_core::{Action, Code, Command};
use querent_journal::Files;
use querent_journal::files::{Fault, Options, Step};
use tokio::runtime::Builder;

use crate::support::{Scene, command, id, on_both_engines, opens, refused, to_architect};

fn asks(item: &str) -> Command {
    command(item, "engineer", Action::Ask(Box::new(to_architect())))
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn a_command_sent_again_in_either_way_gets_the_first_reply_to_the_byte() {
    on_both_engines(|scene| {
        let (one, other) = (opens("one"), opens("other"));
        let now = scene.hub.execute(&one, Some(id("op-now")));
        let later = wait(scene.hub.execute_later(other.clone(), None, Some(id("op-later"))));

        let again = wait(scene.hub.execute_later(one, None, Some(id("op-now"))));
        assert_eq!(again.as_str(), now.as_str());
        assert_eq!(scene.hub.execute(&other, Some(id("op-later"))).as_str(), later.as_str());
        assert_eq!(scene.records().len(), 2);
    });
}

#[test]
fn an_unknown_item_names_the_nearest_one() {
    on_both_engines(|scene| {
        scene.item("login-page");

        let reply = wait(scene.hub.execute_later(asks("login-pgae"), None, None));

        assert_eq!(refused(&reply, Code::ItemNotFound).details["nearest"], "login-page");
    });
}

#[test]
fn a_version_that_has_passed_is_a_conflict() {
    on_both_engines(|scene| {
        scene.item("42");

        let reply = wait(scene.hub.execute_later(asks("42"), Some(99), None));

        refused(&reply, Code::Conflict);
    });
}

#[test]
fn a_session_begins_and_many_callers_on_one_thread_are_all_told() {
    let scene = Scene::in_files();
    wait(async {
        let begun = Action::StartSession { session: None, process: None };
        scene.hub.execute_later(opens("42"), None, None).await.read::<serde_json::Value>().unwrap();
        let begun = command("42", "engineer", begun);
        scene.hub.execute_later(begun, None, None).await.read::<serde_json::Value>().unwrap();
        let opened: Vec<_> = (0..100)
            .map(|number| {
                let hub = scene.hub.clone();
                tokio::spawn(async move { hub.execute_later(opens(&format!("item-{number}")), None, None).await })
            })
            .collect();
        for told in opened {
            told.await.unwrap().read::<serde_json::Value>().unwrap();
        }
    });

    assert_eq!(scene.hub.items().unwrap().len(), 101);
}

#[test]
fn many_callers_on_several_threads_are_all_told() {
    on_both_engines(|scene| {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let opened: Vec<_> = (0..100)
            .map(|number| {
                let hub = scene.hub.clone();
                runtime.spawn(async move { hub.execute_later(opens(&format!("item-{number}")), None, None).await })
            })
            .collect();
        for told in opened {
            runtime.block_on(told).unwrap().read::<serde_json::Value>().unwrap();
        }

        assert_eq!(scene.hub.items().unwrap().len(), 100);
    });
}

#[test]
fn those_who_are_ready_together_and_those_who_come_back_are_committed_together() {
    let commits = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&commits);
    let fault: Fault = Arc::new(move |step| {
        count.fetch_add(usize::from(step == Step::Synced), Ordering::SeqCst);
        Ok(())
    });
    let options = Options { fault: Some(fault), ..Options::new("test") };
    let scene = Scene::on(|project| Box::new(Files::open(&project.dir(), options)));

    wait(async {
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let hub = scene.hub.clone();
                tokio::spawn(async move {
                    for number in 0..2 {
                        hub.execute_later(opens(&format!("item-{caller}-{number}")), None, None).await;
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });

    assert_eq!((scene.records().len(), commits.load(Ordering::SeqCst)), (16, 2));
}

/// Begins a command, and goes away.
async fn begins(scene: &Scene, item: &str) {
    let mut later = pin!(scene.hub.execute_later(opens(item), None, None));
    poll_fn(|context| {
        assert!(later.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

#[test]
fn a_caller_that_goes_away_leaves_the_others_alone() {
    on_both_engines(|scene| {
        wait(async {
            begins(&scene, "one").await;
            let reply = scene.hub.execute_later(opens("other"), None, None).await;
            reply.read::<serde_json::Value>().unwrap();
        });

        assert_eq!(scene.hub.items().unwrap().len(), 2);
    });
}

#[test]
fn a_runtime_that_ends_with_commands_underway_leaves_the_next_alone() {
    on_both_engines(|scene| {
        wait(begins(&scene, "one"));

        let reply = wait(scene.hub.execute_later(opens("other"), None, None));

        reply.read::<serde_json::Value>().unwrap();
        assert_eq!(scene.hub.items().unwrap().len(), 1, "what was not carried out was not acknowledged");
    });
}
