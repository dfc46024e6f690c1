//! Commands of those who wait on no thread: the same as all others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::{Action, Code, Command};
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
