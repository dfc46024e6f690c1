use querent_core::{Choice, HumanInput};

use super::*;

fn read(text: &str) -> Result<Vec<Trigger>, Refusal> {
    file::read(Path::new("own.yaml"), "own", text)
}

/// A file with one trigger, whose question has these further lines.
fn asking(kind: &str, more: &str) -> String {
    format!("- event: built\n  ask:\n    kind: {kind}\n    text: Go on?\n{more}")
}

fn happens(event: &str, data: Value) -> Happening {
    let Value::Object(data) = data else { panic!("data is an object") };
    let (item, by) = ("42".parse().unwrap(), "builder".parse().unwrap());
    Happening { item, by, event: event.to_owned(), phase: None, data }
}

fn matched(text: &str, happening: &Happening) -> Result<(Vec<Ask>, Vec<Skipped>), Refusal> {
    let triggers = read(text).unwrap();
    let (asks, skipped) = matching(&triggers, happening, &HumanInput::default())?;
    Ok((asks.into_iter().map(|(_, ask)| ask).collect(), skipped))
}

#[track_caller]
fn is_wrong(text: &str, line: u64, says: &str) {
    let refusal = read(text).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidConfig, "{refusal}");
    assert!(refusal.message.starts_with(&format!("own.yaml:{line}:")), "{}", refusal.message);
    assert_eq!(refusal.details["line"], line);
    let whole = format!("{} | {}", refusal.message, refusal.hint);
    assert!(whole.contains(says), "{whole}");
}

#[test]
fn a_mistake_in_a_file_is_named_with_its_line() {
    is_wrong("- event: built\n  evnt: x\n  ask: {kind: blocking, text: Go?}\n", 2, "did you mean `event`?");
    is_wrong(&asking("blocking", "    colour: red\n"), 5, "unknown key `colour`");
    is_wrong(&asking("urgent", ""), 3, "unknown word `urgent`");
    is_wrong(&asking("clarifying", "    blocking: maybe\n"), 5, "bool");
    is_wrong(&asking("clarifying", "    options:\n      - label: A\n        recomended: true\n"), 7, "`recommended`");
    is_wrong(&asking("clarifying", "    options:\n      - [a]\n"), 6, "a label");
    is_wrong("- event: built\n", 1, "`ask` is missing");
    is_wrong("event: built\n", 1, "");
    is_wrong("- event: ''\n  ask: {kind: blocking, text: Go?}\n", 1, "`event` is empty");
    is_wrong("- event: built\n  ask: {kind: blocking, text: ' '}\n", 2, "`text` is empty");
    is_wrong("- event: built\n  ask: {kind: [blocking], text: Go?}\n", 2, "one word is expected");
    is_wrong("- event: built\n  event: built\n", 2, "the key `event` is there twice");
    is_wrong("- event: built\n  ask: }\n", 2, "");
    is_wrong(&asking("clarifying", "    to: two words\n"), 5, "`two words`");
}

#[test]
fn what_nobody_must_answer_never_blocks() {
    for kind in ["celebratory", "educational"] {
        is_wrong(&asking(kind, "    blocking: true\n"), 3, "never blocks");
        assert!(!read(&asking(kind, "")).unwrap()[0].ask.blocking);
    }
}

#[test]
fn a_placeholder_that_cannot_be_read_is_found_on_its_line() {
    is_wrong("- event: built\n  ask:\n    kind: blocking\n    text: |\n      One\n      Two {a b}\n", 6, "`{a b}`");
    is_wrong(&asking("blocking", "    context: 'Open {brace'\n"), 5, "is not closed");
    is_wrong(&asking("blocking", "    options: ['{}']\n"), 5, "`{}`");
    is_wrong(&asking("blocking", "    default: a}\n"), 5, "closes nothing");
}

#[test]
fn a_condition_that_does_not_compile_is_found_on_its_line() {
    let text = "- event: built\n  when: a >\n  ask: {kind: blocking, text: Go?}\n";

    is_wrong(text, 2, "the condition `a >` does not compile");
}

#[test]
fn options_and_defaults_that_cannot_work_are_found_on_their_lines() {
    let twice = "    options:\n      - {label: A, id: a}\n      - {label: B, id: a}\n";
    let both = "    options:\n      - {label: A, recommended: true}\n      - {label: B, recommended: true}\n";
    is_wrong(&asking("clarifying", twice), 7, "`a` is there twice");
    is_wrong(&asking("clarifying", both), 7, "two options are recommended");
    is_wrong(&asking("clarifying", "    options: ['']\n"), 5, "label is empty");
    is_wrong(&asking("clarifying", "    options: [A, B]\n    default: C\n"), 6, "does not answer the question");
}

#[test]
fn a_file_without_triggers_has_none() {
    for text in ["", "# nothing yet\n", "[]\n"] {
        assert!(read(text).unwrap().is_empty(), "{text:?}");
    }
}

#[test]
fn triggers_are_named_after_file_and_event() {
    let names: Vec<String> =
        read(&asking("blocking", "").repeat(2)).unwrap().into_iter().map(|trigger| trigger.name).collect();

    assert_eq!(names, ["own/built", "own/built/2"]);
}

#[test]
fn a_question_goes_to_a_human_under_the_events_name_unless_more_is_said() {
    let (plain, _) = matched(&asking("blocking", ""), &happens("built", json!({}))).unwrap();
    let more = "    to: architect\n    topic: The {part}\n    tags: [a]\n";
    let (full, _) = matched(&asking("blocking", more), &happens("built", json!({ "part": "store" }))).unwrap();

    assert_eq!((plain[0].to.clone(), plain[0].topic.as_str()), (Some(Party::HUMAN), "Built"));
    assert_eq!((plain[0].blocking, plain[0].expires_in), (Some(true), None));
    assert_eq!((full[0].to.clone(), full[0].topic.as_str()), (Some("architect".parse().unwrap()), "The store"));
    assert_eq!(full[0].tags, ["a"]);
}

#[test]
fn options_are_labels_or_objects_and_get_ids() {
    let more = "    options:\n      - Yes, let's go\n      - {label: 'Only {part}', implications: 'Not {rest}'}\n      \
                - {label: Nothing, id: none}\n";

    let data = json!({ "part": "this", "rest": ["that", "those"] });
    let (asks, _) = matched(&asking("clarifying", more), &happens("built", data)).unwrap();

    let ids: Vec<&str> = asks[0].options.iter().map(|it: &Choice| it.id.as_str()).collect();
    assert_eq!(ids, ["yes-lets-go", "only-this", "none"]);
    assert_eq!(asks[0].options[1].label, "Only this");
    assert_eq!(asks[0].options[1].implications.as_deref(), Some("Not that, those"));
}

#[test]
fn a_default_is_the_fallback_of_a_question_that_may_end() {
    let default = "    options: [Quick, Deep]\n    default: '{level}'\n";
    let happening = happens("built", json!({ "level": "Deep" }));

    let (asks, _) = matched(&asking("clarifying", default), &happening).unwrap();
    let risky = format!("{default}    category: risk_ack\n");
    let (guarded, _) = matched(&asking("clarifying", &risky), &happening).unwrap();

    let fallback = asks[0].fallback.clone().unwrap();
    assert_eq!((fallback.answer, fallback.reason.as_str()), (json!("Deep"), "the default of this question"));
    assert_eq!(guarded[0].fallback, None);
}

#[test]
fn what_nobody_must_answer_ends_quietly_after_a_day() {
    let (asks, _) = matched(&asking("educational", ""), &happens("built", json!({}))).unwrap();

    assert_eq!((asks[0].expires_in, asks[0].blocking), (Some("24h".parse().unwrap()), Some(false)));
}

#[test]
fn a_trigger_of_another_phase_or_an_unmet_condition_is_skipped_with_its_reason() {
    let text = "- event: done\n  phase: EXPLORING\n  ask: {kind: celebratory, text: Well done.}\n\
                - event: done\n  when: score > 7\n  ask: {kind: confirming, text: Go on?}\n";

    let low = happens("done", json!({ "score": 7 }));
    let (none, skipped) = matched(text, &low).unwrap();
    let (one, _) = matched(text, &Happening { phase: Some("exploring".to_owned()), ..low }).unwrap();

    assert!(none.is_empty());
    let said: Vec<(&str, &str)> = skipped.iter().map(|it| (it.trigger.as_str(), it.reason.as_str())).collect();
    assert_eq!(
        said,
        [("own/done", "it is for the phase `EXPLORING`"), ("own/done/2", "its condition does not hold: score > 7")]
    );
    assert_eq!(one.len(), 1);
}

#[test]
fn an_unknown_event_raises_nothing_and_names_the_nearest() {
    let (asks, skipped) = matched(&asking("blocking", ""), &happens("bild", json!({}))).unwrap();

    assert!(asks.is_empty());
    assert_eq!(skipped[0].trigger, "bild");
    assert!(skipped[0].reason.ends_with("the nearest event is `built`"), "{}", skipped[0].reason);
}

#[test]
fn data_that_is_missing_is_named() {
    let needs = asking("blocking", "    context: 'For {task.id}'\n");
    let refusal = matched(&needs, &happens("built", json!({ "task": {} }))).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidInput);
    assert_eq!(
        (&refusal.details["placeholder"], &refusal.details["trigger"]),
        (&json!("task.id"), &json!("own/built"))
    );

    let judged = "- event: built\n  when: attempts\n  ask: {kind: blocking, text: Go?}\n";
    for data in [json!({}), json!({ "attempts": 3 })] {
        let refusal = matched(judged, &happens("built", data)).unwrap_err();
        assert_eq!((refusal.code, &refusal.details["condition"]), (Code::InvalidInput, &json!("attempts")));
        assert!(refusal.message.contains("`attempts` of `own/built`"), "{}", refusal.message);
    }
}

#[test]
fn every_shipped_set_is_known_by_its_name_and_can_be_read() {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, Triggers::SETS);
    let counts = SHIPPED.iter().map(|(name, text)| file::read(Path::new(name), name, text).unwrap().len());
    assert_eq!(counts.collect::<Vec<_>>(), [5, 5, 5, 5, 4, 4]);
}
