//! Lists in pages: the same questions in the same order as the whole list, whatever happens in between.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::view::{Filter, StatusFilter};
use querent_core::{Action, Ask, Code, ItemId, Moment, OperationId, Party, QuestionId};
use querent_hub::Handle;

use crate::support::{
    Scene, accepted, answers, command, ends, expiring, id, moves, on_both_engines, refused, to_architect, to_human,
};

/// All pages of two, as ids.
fn pages(hub: &Handle, item: Option<&ItemId>, filter: &Filter) -> Vec<QuestionId> {
    let mut seen = Vec::new();
    let mut after: Option<(Moment, QuestionId)> = None;
    loop {
        let page = hub.questions_page(item, filter, after.as_ref(), 2).unwrap();
        assert!(page.questions.len() <= 2);
        seen.extend(page.questions.iter().map(|question| question.id.clone()));
        after = page.questions.last().map(|question| (question.created_at, question.id.clone()));
        if !page.more {
            return seen;
        }
    }
}

#[track_caller]
fn assert_same(scene: &Scene) {
    let items = [None, Some(id::<ItemId>("42")), Some(id::<ItemId>("43"))];
    for status in StatusFilter::ALL {
        for to in [None, Some(Party::HUMAN), Some(id::<Party>("architect"))] {
            let filter = Filter { to, status: *status };
            for item in &items {
                let whole = scene.hub.questions(item.as_ref(), &filter).unwrap();
                let whole: Vec<QuestionId> = whole.into_iter().map(|question| question.id).collect();
                assert_eq!(pages(&scene.hub, item.as_ref(), &filter), whole, "{filter:?} {item:?}");
            }
        }
    }
}

fn open_question(prompt: &str) -> Ask {
    Ask { blocking: Some(false), prompt: prompt.to_owned(), ..to_architect() }
}

#[test]
fn pages_are_the_whole_list_at_every_point_of_its_life() {
    on_both_engines(|scene| {
        scene.item("42");
        scene.item("43");
        assert_same(&scene);

        for prompt in ["Which port?", "How many retries?", "Who reads the log?"] {
            scene.asks("42", open_question(prompt));
            scene.asks("43", open_question(prompt));
            scene.pass("1s");
        }
        assert_same(&scene);

        let answer = Action::Answer { question: id("CLR-42-002"), answer: "three".into(), note: None };
        accepted(&scene.hub, &command("42", "architect", answer));
        accepted(&scene.hub, &answers(&id("CLR-43-001"), "8080"));
        scene.asks("42", expiring(Ask { blocking: Some(false), ..to_human() }, "1m"));
        assert_same(&scene);

        // The deadline passes without a command, and the list knows it.
        scene.pass("2m");
        assert_same(&scene);
        assert_eq!(scene.status(&id("CLR-42-004")), "expired");

        accepted(&scene.hub, &moves("42", "review"));
        accepted(&scene.hub, &ends("42"));
        assert_same(&scene);
    });
}

#[test]
fn another_process_is_heard_of() {
    let scene = Scene::in_files();
    scene.item("42");
    scene.asks("42", open_question("Which port?"));
    assert_eq!(pages(&scene.hub, None, &Filter::default()).len(), 1);

    let other = scene.another_process();
    support::asked(&other, "42", open_question("How many retries?"));

    assert_eq!(pages(&scene.hub, None, &Filter::default()).len(), 2);
}

#[test]
fn a_command_for_another_version_is_refused_and_its_replay_is_not() {
    on_both_engines(|scene| {
        scene.item("42");
        let question = scene.asks("42", to_architect());
        let version = scene.hub.item(&id("42")).unwrap().version;
        let answer = answers(&question, "REST");

        let outdated = scene.hub.execute_at(&answer, Some(version - 1), None);
        let first = scene.hub.execute_at(&answer, Some(version), Some(id::<OperationId>("op-1")));
        let replay = scene.hub.execute_at(&answer, Some(version), Some(id::<OperationId>("op-1")));

        let refusal = refused(&outdated, Code::Conflict);
        assert_eq!((&refusal.details["field"], &refusal.details["version"]), (&"version".into(), &version.into()));
        assert!(first.as_str().starts_with("{\"ok\":true"), "{first:?}");
        assert_eq!(first, replay);
    });
}
