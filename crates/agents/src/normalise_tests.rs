use proptest::prelude::*;
use querent_core::{Category, Expected, Party};
use serde_json::json;

use super::*;
use querent_core::Ask;

fn asked(signals: &[Signal]) -> &Ask {
    match signals.first() {
        Some(Signal::Request(Request::Ask(ask))) => ask,
        other => panic!("no ask: {other:?}"),
    }
}

fn request_of(request: &Value) -> Vec<Signal> {
    value(json!({"type": "REQUEST", "request": request}))
}

fn reason(signals: &[Signal]) -> &str {
    match signals {
        [Signal::Ignored(why)] => why,
        other => panic!("not one that is ignored: {other:?}"),
    }
}

fn text(said: &str) -> Signal {
    Signal::Result(TurnResult::Text(said.to_owned()))
}

#[test]
fn the_older_spelling_of_a_question_to_a_person_is_understood() {
    let said = line(
        r#"{"type":"REQUEST","request":{"action":"ask_user_input","question_type":"permission_override",
            "prompt":"Allow editing config/policy.yaml?\nIt is outside of the plan.","details":{"requested_paths":["a"]},
            "expected_answer":{"kind":"single_choice","choices":["approve","deny"]},"blocking":true}}"#,
    );

    let ask = asked(&said);
    assert_eq!(said.len(), 1);
    assert_eq!((&ask.to, ask.category), (&Some(Party::HUMAN), Some(Category::PermissionOverride)));
    assert_eq!((ask.topic.as_str(), ask.blocking), ("Allow editing config/policy.yaml?", Some(true)));
    assert_eq!(ask.expected, Some(Expected::SingleChoice));
    let options: Vec<_> = ask.options.iter().map(|it| (it.id.as_str(), it.label.as_str())).collect();
    assert_eq!(options, [("approve", "approve"), ("deny", "deny")]);
}

#[test]
fn a_question_takes_every_field_that_the_core_knows_but_the_session() {
    let full = Ask { session: Some("x".parse().unwrap()), ..full_ask() };
    let mut fields = serde_json::to_value(&full).unwrap();
    let named: Vec<String> = fields.as_object().unwrap().keys().cloned().collect();
    fields["action"] = "ask".into();

    let said = request_of(&fields);

    assert_eq!(*asked(&said), full_ask());
    assert_eq!(said[1..], [Signal::Ignored("the ask has an unknown field `session`".to_owned())]);
    assert_eq!(named.iter().filter(|name| *name != "session").count(), ask::FIELDS.len());
}

fn full_ask() -> Ask {
    serde_json::from_value(json!({
        "to": "architect", "kind": "blocking", "category": "clarification", "blocker": "none", "topic": "Tokens",
        "prompt": "Which?", "context": "c", "details": {"a": 1}, "options": [{"id": "a", "label": "A"}],
        "expected": {"kind": "single_choice"}, "allow_free_text": true, "blocking": true,
        "fallback": {"answer": "a", "reason": "r", "risk": "low"}, "evidence": {"codebase": "none"}, "complex": true,
        "tags": ["t"], "max_rounds": 2, "expires_in": "5m",
    }))
    .unwrap()
}

#[test]
fn what_a_question_says_that_nobody_knows_is_named_and_does_not_cost_the_question() {
    let said = request_of(&json!({"action": "ask", "prompt": "Which?", "wait_seconds": 3, "context": null}));

    assert_eq!(asked(&said).prompt, "Which?");
    assert_eq!(said[1..], [Signal::Ignored("the ask has an unknown field `wait_seconds`".to_owned())]);
}

#[test]
fn a_question_without_a_prompt_is_a_note_and_nothing_else() {
    for request in [json!({"action": "ask", "topic": "Tokens"}), json!({"action": "ask_user_input", "prompt": " "})] {
        let said = request_of(&request);
        assert!(matches!(&said[..], [Signal::Note(why)] if why.contains("without a prompt")), "{said:?}");
    }
}

#[test]
fn a_topic_is_made_from_the_first_line_and_fits() {
    let long = "\u{e9}".repeat(300);
    let said = request_of(&json!({"action": "ask", "prompt": format!("\n  {long}\nmore")}));
    assert_eq!(asked(&said).topic, "\u{e9}".repeat(200));
}

#[test]
fn options_may_be_texts_and_get_ids_that_can_be_chosen() {
    let options = json!(["yes", "No, not now", {"label": "Later"}, {"id": "x", "label": "X"}, {"id": "only"}]);
    let said = request_of(&json!({"action": "ask", "prompt": "Go?", "options": options, "expected": "single_choice"}));

    let ids: Vec<_> = asked(&said).options.iter().map(|it| (it.id.as_str(), it.label.as_str())).collect();
    let wanted = [("yes", "yes"), ("option-2", "No, not now"), ("Later", "Later"), ("x", "X"), ("only", "only")];
    assert_eq!(ids, wanted);
}

#[test]
fn a_question_whose_field_does_not_fit_is_ignored_with_the_reason() {
    let said = request_of(&json!({"action": "ask", "prompt": "Go?", "blocking": "maybe", "category": "clarification"}));
    assert!(reason(&said).starts_with("the ask cannot be read: "));
}

#[test]
fn every_other_request_has_its_form() {
    let id: QuestionId = "CLR-42-001".parse().unwrap();
    let cases = [
        (
            json!({"action": "follow_up", "question": "CLR-42-001", "prompt": "And?"}),
            Request::FollowUp { question: id.clone(), prompt: "And?".to_owned() },
        ),
        (json!({"action": "resolve", "question_id": "CLR-42-001"}), Request::Resolve { question: id, note: None }),
        (json!({"action": "lock", "paths": ["a", "b"]}), Request::Lock { paths: vec!["a".to_owned(), "b".to_owned()] }),
        (json!({"action": "unlock"}), Request::Unlock { paths: vec![] }),
        (
            json!({"action": "emit", "event": "spec.approved", "data": {"by": "a"}}),
            Request::Emit { event: "spec.approved".to_owned(), data: json!({"by": "a"}) },
        ),
    ];
    for (request, wanted) in cases {
        assert_eq!(request_of(&request), [Signal::Request(wanted)]);
    }
    let said = request_of(&json!({"action": "assume", "decision": "d", "reasoning": "r", "confidence": "high",
        "risk_if_wrong": "low"}));
    assert!(matches!(&said[..], [Signal::Request(Request::Assume(it))] if it.decision == "d"), "{said:?}");
}

#[test]
fn what_cannot_be_understood_is_ignored_with_a_short_reason() {
    let long = "x".repeat(10_000);
    let cases = [
        (json!({"action": "dance"}), "nothing is known of the action `dance`"),
        (json!({"prompt": "Go?"}), "the REQUEST has no `action`"),
        (json!({"action": "lock"}), "the lock has no `paths`"),
        (json!({"action": "lock", "paths": [1]}), "the lock has `paths` that are no texts"),
        (json!({"action": "emit"}), "the emit has no `event`"),
        (json!({"action": "resolve", "question": "7"}), "the resolve has a `question` that is no id: 7"),
        (json!("ask"), "the REQUEST has no `action`"),
    ];
    for (request, wanted) in cases {
        assert_eq!(reason(&request_of(&request)), wanted);
    }
    for (said, wanted) in [
        ("{\"type\":\"NOTE\"", "a line is not JSON: {\"type\":\"NOTE\""),
        ("[1]", "a line is no JSON object: [1]"),
        ("{}", "a line has no `type`"),
        ("{\"type\":\"NOTE\",\"text\":\" \"}", "a line has no `text`"),
        ("{\"type\":\"PLAN\"}", "the PLAN has no `plan`"),
        ("{\"type\":\"RESULT\"}", "the RESULT says neither a status nor an answer"),
        ("{\"type\":\"RESULT\",\"status\":\"ok\"}", "the RESULT says a status `ok` that is neither done nor failed"),
    ] {
        assert_eq!(reason(&line(said)), wanted);
    }
    assert!(reason(&line(&long)).chars().count() < 300);
    assert!(reason(&request_of(&json!({"action": long}))).chars().count() < 300);
}

#[test]
fn deep_and_long_lines_are_refused_and_not_followed() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(reason(&line(&deep)).starts_with("a line is not JSON"));
    assert!(reason(&line(&"x".repeat(LONGEST_LINE + 1))).ends_with("bytes is too long"));
}

#[test]
fn results_are_done_failed_or_an_answer() {
    let cases = [
        (
            json!({"status": "done", "summary": "s", "artifacts": ["docs/adr.md"]}),
            TurnResult::Done { summary: "s".to_owned(), artifacts: vec!["docs/adr.md".to_owned()] },
        ),
        (json!({"status": "failed"}), TurnResult::Failed { summary: String::new() }),
        (
            json!({"answer": ["jwt"], "evidence": "ADR 3"}),
            TurnResult::Answer { answer: json!(["jwt"]), evidence: Some("ADR 3".to_owned()), uncertainty: None },
        ),
    ];
    for (result, wanted) in cases {
        assert_eq!(value(json!({"type": "RESULT", "result": result})), [Signal::Result(wanted.clone())]);
        assert_eq!(final_text(&format!("So:\n```json\n{result}\n```\n")), [Signal::Result(wanted)]);
    }
}

#[test]
fn the_last_fenced_block_is_what_a_text_says() {
    let said = "```json\n{\"answer\": 1}\n```\nNo, rather:\n\n  ```JSON\n{\n \"answer\": 2\n}\n  ```\nDone.";
    let answer = TurnResult::Answer { answer: json!(2), evidence: None, uncertainty: None };
    assert_eq!(final_text(said), [Signal::Result(answer)]);

    let asks = "I must know.\n```\n{\"type\":\"REQUEST\",\"request\":{\"action\":\"ask\",\"prompt\":\"Which?\"}}";
    assert_eq!(asked(&final_text(asks)).prompt, "Which?");
    assert_eq!(final_text(asks).len(), 1);
}

#[test]
fn a_text_may_be_lines_of_a_worker_and_nothing_else() {
    let said = "{\"type\":\"NOTE\",\"text\":\"n\"}\n\n{\"type\":\"RESULT\",\"result\":{\"status\":\"done\"}}\n";
    let done = TurnResult::Done { summary: String::new(), artifacts: vec![] };
    assert_eq!(final_text(said), [Signal::Note("n".to_owned()), Signal::Result(done)]);
    assert_eq!(final_text("{\"answer\": true}").len(), 1);
}

#[test]
fn a_text_that_says_nothing_structured_is_itself() {
    for said in [
        "Use cookies.",
        "As in\n```json\n{\"status\": \"ok\"}\n```",
        "As in\n```json\n{\"answer\": 1, \"other\": 2}\n```",
        "As in\n```json\n{\"answer\": 1\n```",
        "```rust\n{\"answer\": 1}\n```",
        "```json\n{\"answer\": 1}\n```\n```json\n[]",
        "",
    ] {
        assert_eq!(final_text(said), [text(said)], "{said}");
    }
}

#[test]
fn a_note_is_no_end_and_a_broken_question_is_not_taken_for_work_that_is_done() {
    let note = "```json\n{\"type\":\"NOTE\",\"text\":\"n\"}\n```";
    assert_eq!(final_text(note), [Signal::Note("n".to_owned()), text(note)]);

    let broken = "```json\n{\"type\":\"REQUEST\",\"request\":{\"action\":\"ask\"}}\n```";
    assert!(matches!(&final_text(broken)[..], [Signal::Note(_)]));

    let unknown = "```json\n{\"type\":\"REQUEST\",\"request\":{\"action\":\"dance\"}}\n```";
    assert!(matches!(&final_text(unknown)[..], [Signal::Ignored(_), Signal::Result(TurnResult::Text(_))]));
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("REQUEST"),
        Just("request"),
        Just("action"),
        Just("ask"),
        Just("prompt"),
        Just("options"),
        Just("expected"),
        Just("kind"),
        Just("RESULT"),
        Just("result"),
        Just("answer"),
        Just("status"),
        Just("paths"),
    ]
    .prop_map(str::to_owned);
    let text = prop_oneof![word, any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in any::<Vec<u8>>()) {
        let said = String::from_utf8_lossy(&bytes);
        line(&said);
        prop_assert!(!final_text(&said).is_empty());
    }

    #[test]
    fn no_json_breaks_it_and_reasons_stay_short(said in any_json(), kind in "REQUEST|NOTE|PLAN|PATCH|RESULT") {
        let asks = json!({"type": kind, "request": said, "result": said, "text": said, "plan": said});
        for signal in value(said.clone()).into_iter().chain(value(asks)).chain(final_text(&said.to_string())) {
            if let Signal::Ignored(why) = signal {
                prop_assert!(why.chars().count() < 300, "{}", why);
            }
        }
    }

    #[test]
    fn no_question_breaks_it(mut said in any_json()) {
        if let Some(fields) = said.as_object_mut() {
            fields.insert("prompt".to_owned(), "Which?".into());
        }
        let fields = json!({"action": "ask", "prompt": "Which?", "options": said, "expected": said});
        prop_assert!(!request_of(&fields).is_empty());
    }
}
