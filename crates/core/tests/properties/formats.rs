//! What is read and written comes back as it was, and nothing that is given makes a reader fail badly.

use proptest::prelude::*;
use querent_core::wire::{Line, decode, encode};
use querent_core::{Expected, Moment, Party, QuestionId, Span, answer, event};
use serde_json::{Value, json};

use crate::config;

/// Any JSON, with the numbers and texts that are hard to keep.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn answered(value: Value, text: String) -> Line {
    let answer = querent_core::Answer {
        value,
        text,
        free_text: false,
        by: Party::HUMAN,
        via: querent_core::Via::Cli,
        at: Moment::from_millis(0),
        provenance: querent_core::Provenance::Human,
        learned: None,
        note: None,
    };
    let question = QuestionId { item: "42".parse().unwrap(), number: 1 };
    let event = event::QuestionAnswered { question, answer, status: querent_core::Status::Resolved }.into();
    let record = querent_core::Record {
        seq: 1,
        stream: "42".parse().unwrap(),
        version: 1,
        at: Moment::from_millis(0),
        by: Party::HUMAN,
        operation_id: None,
        event,
    };
    Line { record, more: 0, operation: None }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_line_is_read_as_it_was_written(value in json_value(), text in any::<String>()) {
        let line = answered(value, text);
        let mut bytes = Vec::new();
        encode(&line, &mut bytes);
        let alone = bytes.strip_suffix(b"\n").unwrap();
        prop_assert!(!alone.contains(&b'\n'), "a line is one line");

        let read = decode(alone).unwrap();
        prop_assert_eq!(&read, &line);

        let mut again = Vec::new();
        encode(&read, &mut again);
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn bytes_that_are_no_line_are_damage_and_no_panic(bytes in any::<Vec<u8>>()) {
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn an_answer_is_read_or_refused_and_reads_again_as_itself(given in json_value()) {
        let schema = json!({ "type": ["object", "array", "string", "number"] });
        let all = [Expected::Text, Expected::Boolean, Expected::Number, Expected::Json { schema }];
        for expected in all {
            if let Ok(meaning) = answer::read(&given, &expected, &[], false) {
                let again = match (&expected, &meaning.value) {
                    // JSON as a string is read as the JSON that it holds.
                    (Expected::Json { .. }, Value::String(text)) => json!(json!(text).to_string()),
                    (_, value) => value.clone(),
                };
                prop_assert_eq!(answer::read(&again, &expected, &[], false).unwrap().value, meaning.value);
            }
        }
    }

    #[test]
    fn ids_times_and_spans_are_read_as_they_are_written(number in 1..=u32::MAX, millis in any::<i64>(), span in any::<u64>()) {
        let id = QuestionId { item: "login-2-001".parse().unwrap(), number };
        prop_assert_eq!(id.to_string().parse::<QuestionId>().unwrap(), id);
        let moment = Moment::from_millis(millis);
        prop_assert_eq!(moment.to_string().parse::<Moment>().unwrap(), moment);
        let span = Span::millis(span);
        prop_assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
    }

    #[test]
    fn a_party_is_read_as_it_is_written(text in "human|human:.{1,70}|[a-zA-Z0-9_-]{1,70}|.{0,10}") {
        if let Ok(party) = text.parse::<Party>() {
            prop_assert_eq!(party.to_string(), text.clone());
            prop_assert_ne!(party, Party::Querent, "nobody may claim to be Querent");
        }
    }
}
