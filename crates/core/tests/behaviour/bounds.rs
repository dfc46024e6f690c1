//! What a field may hold. Lengths count Unicode scalars, and what was written comes back as it was.

use querent_core::{Code, Expected, Kind};
use serde_json::{Map, Value, json};

use crate::scenario::given_implementing;
use crate::speech::{Asking, Q1, engineer, human, option};

fn asking() -> Asking {
    engineer().asks("architect", "Which auth?")
}

/// Asked like this, the question is refused and the refusal names the field.
#[track_caller]
fn refused(field: &str, asking: Asking) -> crate::scenario::Scenario {
    given_implementing()
        .when(asking)
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": field }))
        .then_events([])
}

#[track_caller]
fn accepted(asking: Asking) {
    given_implementing().when(asking).then_events(["question_asked"]);
}

#[test]
fn a_topic_has_1_to_200_characters() {
    let topic = |text: String| asking().with(|ask| ask.topic = text);
    let limit = json!({ "limit": { "least": 1, "most": 200 } });

    refused("topic", topic(String::new())).then_message("topic is empty").then_details(&limit);
    refused("topic", topic(" \t\n".into())).then_message("topic is empty");
    refused("topic", topic("t".repeat(201))).then_message("201 characters").then_details(&limit);
    accepted(topic("t".repeat(200)));
    accepted(topic("t".into()));
}

#[test]
fn a_prompt_has_1_to_2000_characters() {
    let prompt = |text: String| asking().with(|ask| ask.prompt = text);
    let limit = json!({ "limit": { "least": 1, "most": 2000 } });

    refused("prompt", prompt(String::new())).then_hint("1 to 2000 characters").then_details(&limit);
    refused("prompt", prompt("p".repeat(2001))).then_details(&json!({ "length": 2001 })).then_details(&limit);
    accepted(prompt("p".repeat(2000)));
}

#[test]
fn characters_are_unicode_scalars_not_bytes() {
    accepted(asking().with(|ask| ask.topic = "\u{1F980}".repeat(200)));
    accepted(asking().with(|ask| ask.prompt = "ß".repeat(2000)));
    refused("topic", asking().with(|ask| ask.topic = "\u{1F980}".repeat(201))).then_details(&json!({ "length": 201 }));
    // A letter and its combining accent are two scalars.
    refused("topic", asking().with(|ask| ask.topic = "e\u{301}".repeat(101))).then_details(&json!({ "length": 202 }));
}

#[test]
fn unicode_comes_back_as_it_was_written() {
    let text = "¿Qué? 質問 \u{1F980} e\u{301} \u{202e}أ\u{0} \"\\";
    given_implementing()
        .and(asking().with(|ask| {
            ask.topic = text.to_owned();
            ask.prompt = text.to_owned();
            ask.context = Some(text.to_owned());
        }))
        .and(human().answers(Q1, text))
        .then(|it| {
            let question = it.question(Q1);
            assert_eq!((question.topic.as_str(), question.prompt.as_str()), (text, text));
            assert_eq!(question.context.as_deref(), Some(text));
            assert_eq!(question.answer.as_ref().unwrap().value, json!(text));
        });
}

#[test]
fn a_context_is_left_out_or_has_up_to_2000_characters() {
    let context = |text: String| asking().with(|ask| ask.context = Some(text));

    accepted(context("c".repeat(2000)));
    refused("context", context("c".repeat(2001)));
    refused("context", context(String::new()));
}

#[test]
fn twenty_options_are_enough() {
    let with = |count: usize| {
        asking()
            .with(|ask| ask.options = (0..count).map(|n| option(&format!("o{n}"), &format!("Option {n}"))).collect())
    };

    accepted(with(20));
    refused("options", with(21))
        .then_message("21 entries, more than 20")
        .then_details(&json!({ "limit": { "most": 20 } }));
}

#[test]
fn every_option_has_a_short_id_of_its_own_and_a_label() {
    refused("options.id", asking().options([("jwt", "JWT"), ("JWT", "Again")])).then_message("there twice");
    refused("options.id", asking().options([("a,b", "Both")])).then_message("comma");
    refused("options.id", asking().options([(" a", "Spaced")]));
    refused("options.id", asking().options([("", "None")]));
    refused("options.label", asking().options([("a", "")]));
    refused("options.label", asking().options([("a", &"l".repeat(201))]));
    refused(
        "options.description",
        asking().with(|ask| {
            ask.options = vec![option("a", "A")];
            ask.options[0].description = Some("d".repeat(2001));
        }),
    );
}

#[test]
fn details_have_up_to_16_kib_of_json() {
    // `{"d":"…"}` is eight bytes around its text.
    let details = |length: usize| {
        let map: Map<String, Value> = [("d".to_owned(), json!("x".repeat(length - 8)))].into_iter().collect();
        asking().with(|ask| ask.details = Some(map))
    };

    accepted(details(16 * 1024));
    refused("details", details(16 * 1024 + 1)).then_details(&json!({ "limit": { "most": 16384 }, "length": 16385 }));
}

#[test]
fn details_that_are_no_object_and_fields_that_do_not_exist_do_not_read() {
    let ask = |details: Value| serde_json::from_value::<querent_core::Ask>(json!({ "topic": "t", "details": details }));

    assert!(ask(json!({ "a": 1 })).is_ok());
    for wrong in [json!([1]), json!("text"), json!(7)] {
        assert!(ask(wrong).is_err());
    }
    let unknown = serde_json::from_value::<querent_core::Ask>(json!({ "topic": "t", "promt": "p" }));
    assert!(unknown.unwrap_err().to_string().contains("promt"));
}

#[test]
fn tags_and_evidence_have_limits_too() {
    refused("tags", asking().with(|ask| ask.tags = vec!["t".into(); 21]));
    refused("tags", asking().with(|ask| ask.tags = vec!["t".repeat(65)]));
    refused("evidence", asking().with(|ask| ask.evidence = Some([("searched".into(), "v".repeat(2001))].into())));
    accepted(asking().with(|ask| ask.evidence = Some([("searched".into(), "src/".into())].into())));
}

#[test]
fn a_choice_needs_options_and_a_schema_must_compile() {
    refused("options", asking().expecting(Expected::SingleChoice));
    refused("options", asking().expecting(Expected::MultiChoice));
    refused("expected.schema", asking().expecting(Expected::Json { schema: json!({ "type": "nonsense" }) }));
    accepted(asking().expecting(Expected::Json { schema: json!({ "type": "object" }) }));
}

#[test]
fn a_fallback_is_an_answer_that_the_question_would_accept() {
    let choice = || asking().options([("jwt", "JSON Web Tokens"), ("cookie", "Cookie")]);

    refused("fallback", choice().else_takes("saml", "it is known")).then_hint("jwt (JSON Web Tokens)");
    refused("fallback.reason", choice().else_takes("jwt", ""));
    accepted(choice().else_takes("json web tokens", "it is stateless"));
}

#[test]
fn a_question_that_ends_at_once_is_refused() {
    refused("expires_in", asking().expires_in("0s"));
}

#[test]
fn the_words_after_the_ask_have_limits_too() {
    let asked = || given_implementing().and(asking());
    let long = "x".repeat(2001);

    asked()
        .when(engineer().follows_up(Q1, &long))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "prompt" }))
        .when(engineer().escalates_saying(Q1, &long))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "summary" }))
        .when(engineer().resolves_saying(Q1, &long))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "note" }))
        .when(human().answers(Q1, long.as_str()))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "answer" }));
}

#[test]
fn the_bounds_are_judged_before_the_gate() {
    given_implementing()
        .when(engineer().asks("reviewer", "").kind(Kind::Blocking))
        .then_refused(Code::InvalidInput)
        .then_details(&json!({ "field": "prompt" }));
}
