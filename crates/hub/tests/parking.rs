//! Parked sessions: they are resumed once, whoever crashes, and programs are told once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::Command as Program;

use querent_core::{Action, Ask, Code, Park, Party, QuestionId};

use crate::support::{Scene, accepted, answers, command, on_both_engines, to_human};

/// The engineer's session is parked on a question that has its answer.
fn parked(scene: &Scene) -> QuestionId {
    scene.item("42");
    let question = scene.asks("42", to_human());
    let (program, handle) = (querent_core::Program::Claude, "c-1".parse().unwrap());
    let park = Park { program, handle, directory: "/".into(), call: Some("toolu_1".into()) };
    let park = Action::Park { question: question.clone(), park: Box::new(park) };
    accepted(&scene.hub, &command("42", "engineer", park));
    accepted(&scene.hub, &answers(&question, "any"));
    question
}

#[test]
fn two_that_resume_at_once_resume_once() {
    on_both_engines(|scene| {
        let question = parked(&scene);

        let first = scene.hub.claim(&question, &Party::HUMAN).unwrap();
        let second = scene.hub.claim(&question, &Party::HUMAN).unwrap_err();

        assert_eq!(second.code, Code::Conflict);
        assert!(!scene.hub.end_resume(&first, Some(0)).unwrap(), "it is not parked any more");
        assert!(scene.hub.parked().unwrap().is_empty());
    });
}

#[test]
fn a_claim_holds_while_the_program_runs_and_is_void_when_it_is_gone() {
    on_both_engines(|scene| {
        let question = parked(&scene);
        let mut program = Program::new("sleep").arg("600").spawn().unwrap();
        let mut first = scene.hub.claim(&question, &Party::HUMAN).unwrap();
        scene.hub.hand_on(&mut first, program.id()).unwrap();

        assert_eq!(scene.hub.claim(&question, &Party::HUMAN).unwrap_err().code, Code::Conflict);
        program.kill().unwrap();
        program.wait().unwrap();

        let second = scene.hub.claim(&question, &Party::HUMAN).unwrap();
        assert_eq!(second.parked.call.as_deref(), Some("toolu_1"));
    });
}

#[test]
fn a_program_that_failed_is_parked_still() {
    on_both_engines(|scene| {
        let question = parked(&scene);
        let first = scene.hub.claim(&question, &Party::HUMAN).unwrap();

        assert!(scene.hub.end_resume(&first, Some(1)).unwrap());

        assert!(scene.hub.claim(&question, &Party::HUMAN).is_ok());
    });
}

#[test]
fn a_newcomer_is_told_the_last_answers_and_then_only_what_is_new() {
    on_both_engines(|scene| {
        let question = parked(&scene);
        let (item, agent, handle) = ("42".parse().unwrap(), "engineer".parse().unwrap(), "c-2".parse().unwrap());

        let first = scene.hub.untold(&item, &agent, &handle).unwrap();
        assert!(first.newcomer);
        assert_eq!(first.settled.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), [question]);
        let tell = Action::Tell { handle: handle.clone(), upto: first.item.version, question: None };
        accepted(&scene.hub, &command("42", "engineer", tell));

        let second = scene.hub.untold(&item, &agent, &handle).unwrap();
        assert!(!second.newcomer && second.settled.is_empty());
        let next = scene.asks("42", Ask { prompt: "Which colour?".into(), ..to_human() });
        accepted(&scene.hub, &answers(&next, "green"));
        let third = scene.hub.untold(&item, &agent, &handle).unwrap();
        assert_eq!(third.settled.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), [next]);
    });
}
