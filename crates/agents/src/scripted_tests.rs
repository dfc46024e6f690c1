use std::collections::BTreeMap;

use super::*;
use crate::signal::{Request, TurnResult};

const SCRIPT: &str = r#"
- when: {agent: engineer, step: implement, turn: 1}
  after: 5m
  emit:
    - {type: NOTE, text: "{agent} works on {item}, turn {turn}"}
    - type: REQUEST
      request: {action: ask, prompt: "JWT or cookies?", options: [jwt, cookie], blocking: true}
- when: {question: Tokens, round: 2}
  emit:
    - {type: RESULT, result: {answer: cookie, evidence: docs/adr.md}}
- when: {question: CLR-42-}
  emit:
    - {type: REQUEST, request: {action: resolve, question: "CLR-{item}-001"}}
- when: {event: spec.approved, item: 42}
  hang: true
- when: {step: review}
  fail: "{agent} broke"
"#;

fn script(text: &str, pace: f64) -> Result<Scripted, Failure> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("demo.yaml");
    std::fs::write(&file, text).unwrap();
    Scripted::load(&file, pace)
}

fn order(agent: &str, purpose: Purpose, turn: u32) -> Order {
    Order {
        agent: agent.parse().unwrap(),
        item: "42".parse().unwrap(),
        session: "s".parse().unwrap(),
        purpose,
        turn,
        prompt: String::new(),
        directory: std::path::PathBuf::new(),
        mcp: None,
        env: BTreeMap::new(),
    }
}

fn step(name: &str) -> Purpose {
    Purpose::Step(name.to_owned())
}

fn asked(topic: &str, round: u32) -> Purpose {
    Purpose::Answer { question: "CLR-42-001".parse().unwrap(), topic: topic.to_owned(), round }
}

async fn played(script: &Scripted, order: Order) -> (Vec<Signal>, Result<(), Failure>) {
    let mut run = script.start(order).unwrap();
    run.go();
    let mut signals = Vec::new();
    while let Some(signal) = run.next().await {
        signals.push(signal);
    }
    (signals, run.end().await)
}

#[tokio::test(start_paused = true)]
async fn the_first_entry_that_fits_is_played_and_its_places_are_filled() {
    let script = script(SCRIPT, 1.0).unwrap();
    let begun = tokio::time::Instant::now();

    let (signals, end) = played(&script, order("engineer", step("implement"), 1)).await;

    assert_eq!(signals.first(), Some(&Signal::Note("engineer works on 42, turn 1".to_owned())));
    assert!(matches!(&signals[1..], [Signal::Request(Request::Ask(ask))] if ask.options.len() == 2));
    assert_eq!((end, begun.elapsed()), (Ok(()), Duration::from_mins(5)));
}

#[tokio::test(start_paused = true)]
async fn a_pace_of_nothing_has_no_pauses() {
    let begun = tokio::time::Instant::now();
    let (signals, _) = played(&script(SCRIPT, 0.0).unwrap(), order("engineer", step("implement"), 1)).await;
    assert_eq!((signals.len(), begun.elapsed()), (2, Duration::ZERO));
}

#[tokio::test]
async fn questions_are_known_by_their_subject_their_id_and_their_round() {
    let script = script(SCRIPT, 0.0).unwrap();

    let (second, _) = played(&script, order("architect", asked("Which Tokens?", 2), 1)).await;
    let (first, _) = played(&script, order("architect", asked("Which Tokens?", 1), 1)).await;

    assert!(matches!(&second[..], [Signal::Result(TurnResult::Answer { .. })]), "{second:?}");
    assert!(matches!(&first[..], [Signal::Request(Request::Resolve { .. })]), "{first:?}");
}

#[tokio::test]
async fn a_turn_fails_or_hangs_as_the_script_says() {
    let script = script(SCRIPT, 0.0).unwrap();

    let (_, failed) = played(&script, order("reviewer", step("review"), 3)).await;
    let mut hangs = script.start(order("qa", Purpose::Event("spec.approved".to_owned()), 1)).unwrap();
    hangs.go();
    hangs.cancel();
    let dropped = script.start(order("reviewer", step("review"), 1)).unwrap();

    assert_eq!(failed, Err(Failure::new(FailureKind::Exited, "reviewer broke")));
    assert_eq!(hangs.end().await.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(dropped.end().await.unwrap_err().kind, FailureKind::Cancelled);
}

#[test]
fn a_turn_that_no_entry_is_for_is_named() {
    let script = script(SCRIPT, 0.0).unwrap();
    for (order, named) in [
        (order("engineer", step("implement"), 2), "engineer in step implement of 42, turn 2"),
        (order("qa", Purpose::Event("x".to_owned()), 1), "qa on x of 42, turn 1"),
    ] {
        let failure = script.start(order).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unavailable);
        assert!(failure.message.ends_with(&format!("has no reply for {named}")), "{failure}");
    }
}

#[test]
fn what_is_wrong_with_a_script_is_said_with_file_and_line() {
    for (text, wanted) in [
        ("- when: {agent: a}\n  emits: []\n", ":2:3: unknown key `emits`, expected one of "),
        ("- when:\n    agnt: a\n", ":2:5: unknown key `agnt`, expected one of `agent`, "),
        ("- emit:\n    - {type: DANCE}\n", ":2:7: nothing is known of the type `DANCE`"),
        ("- emit:\n    - {type: RESULT}\n", ":2:7: the RESULT says neither a status nor an answer"),
        ("- after: soon\n", ":1:10: "),
        ("when: {}\n", ":1:1: "),
    ] {
        let failure = script(text, 1.0).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreadable);
        let (_, rest) = failure.message.split_once("demo.yaml").unwrap();
        assert!(rest.starts_with(wanted), "{rest}");
    }
    let missing = Scripted::load(Path::new("nowhere/demo.yaml"), 1.0).unwrap_err();
    assert_eq!(missing.kind, FailureKind::Unavailable);
}
