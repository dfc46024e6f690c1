//! What `decide` promises by itself. The behaviour of each command is told in `tests/behaviour`.

use serde_json::json;

use super::*;
use crate::stream::Stream;
use crate::{Ask, Cause, Config, Party, Via, Workflow, event::Record, evolve};

fn rules() -> Rules {
    let config: Config = serde_json::from_value(json!({
        "project": { "name": "shop" },
        "agents": { "architect": {}, "engineer": {} },
    }))
    .unwrap();
    let feature: Workflow = serde_json::from_value(json!({
        "name": "feature",
        "steps": [{ "name": "implement", "agent": "engineer", "can_clarify": ["architect"] }],
    }))
    .unwrap();
    Rules { config, workflows: [(feature.name.clone(), feature)].into() }
}

fn command(by: &str, action: Action) -> Command {
    Command { item: "42".parse().unwrap(), by: by.to_owned().try_into().unwrap(), via: Via::Cli, action }
}

fn ask() -> Command {
    let ask = Ask { topic: "Auth".into(), prompt: "Which one?".into(), ..Ask::default() };
    command("engineer", Action::Ask(Box::new(ask)))
}

fn ten_o_clock() -> Moment {
    "2026-01-31T10:00:00Z".parse().unwrap()
}

/// Item `42` after these commands.
fn state(commands: &[Command]) -> State {
    let mut state = State::default();
    let open = command("human", Action::OpenItem { title: "Log in".into(), workflow: None, autonomy: None });
    for command in [open].iter().chain(commands) {
        for event in decide(&state, command, &rules(), ten_o_clock()).unwrap() {
            let stream = event.shared().map_or_else(|| command.item.clone().into(), Stream::from);
            let (by, version) = (command.by.clone(), state.version(&stream) + 1);
            evolve(&mut state, &Record { seq: 0, stream, version, at: ten_o_clock(), by, operation_id: None, event });
        }
    }
    state
}

#[test]
fn the_same_question_put_twice_is_decided_the_same() {
    let state = state(&[]);

    assert_eq!(decide(&state, &ask(), &rules(), ten_o_clock()), decide(&state, &ask(), &rules(), ten_o_clock()));
}

#[test]
fn a_deadline_that_has_not_passed_is_refused_whoever_sends_it() {
    let state = state(&[ask()]);
    let question = || "CLR-42-001".parse().unwrap();
    for action in [
        Action::Retry { question: question() },
        Action::Remind { question: question() },
        Action::Expire { question: question() },
    ] {
        for by in ["querent", "human", "engineer"] {
            let refusal = decide(&state, &command(by, action.clone()), &rules(), ten_o_clock()).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidTransition, "{by}: {action:?}");
        }
    }
}

#[test]
fn only_deadlines_act_as_querent() {
    let state = state(&[ask()]);
    let answer = Action::Answer { question: "CLR-42-001".parse().unwrap(), answer: json!("yes"), note: None };

    let refusal = decide(&state, &command("querent", answer), &rules(), ten_o_clock()).unwrap_err();

    assert_eq!((refusal.code, &refusal.details["field"]), (Code::InvalidInput, &json!("by")));
    assert!("querent".parse::<Party>().is_err(), "no surface can even name it");
}

#[test]
fn a_question_that_is_not_at_hand_is_not_found() {
    let mut state = state(&[ask()]);
    state.questions.clear();
    let escalate = Action::Escalate { question: "CLR-42-001".parse().unwrap(), summary: None, cause: Cause::Requested };

    let refusal = decide(&state, &command("engineer", escalate), &rules(), ten_o_clock()).unwrap_err();

    assert_eq!(refusal.code, Code::QuestionNotFound);
}

#[test]
fn a_workflow_that_is_gone_is_named_when_somebody_asks() {
    let state = state(&[]);
    let without = Rules { workflows: [].into(), ..rules() };

    let refusal = decide(&state, &ask(), &without, ten_o_clock()).unwrap_err();

    assert_eq!(refusal.code, Code::InvalidInput);
    assert!(refusal.message.contains("there is no workflow `feature`"), "{}", refusal.message);
}
