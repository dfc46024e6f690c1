//! JSON in one spelling: the keys of every object in order, whoever wrote them in whatever order.
//!
//! What operations, answers and stored lines are known by are bytes. `serde_json` keeps the keys of a [`Value`] in order by
//! itself, unless a crate anywhere in the program turns on its `preserve_order`; then they stand as somebody wrote them. So
//! each field that holds JSON of others is written by a function of this module.

use std::borrow::Borrow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::spelt;

/// A value that is written with its keys in order.
#[derive(Clone, Copy, Debug)]
pub struct Canonical<'a>(pub &'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(list) => serializer.collect_seq(list.iter().map(Canonical)),
            Value::Object(fields) => object(fields, serializer),
            plain => plain.serialize(serializer),
        }
    }
}

/// The value as compact text.
pub fn text(value: &Value) -> String {
    spelt::text(&Canonical(value))
}

/// Whatever can be JSON as compact text with the keys of every object in order, without a tree between the two. None of what
/// cannot be JSON.
pub fn spelt(value: &impl Serialize) -> Option<String> {
    spelt::in_order(value)
}

/// The value with its keys in order.
pub fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}

/// The value that a text is, with its keys in order.
pub fn parsed(text: &[u8]) -> serde_json::Result<Value> {
    // What is text is looked at but once.
    str::from_utf8(text).map_or_else(|_| serde_json::from_slice(text), serde_json::from_str).map(sorted)
}

/// Puts the keys of an object in order, and those of all that it holds.
pub fn sort(fields: &mut Map<String, Value>) {
    fields.sort_keys();
    fields.values_mut().for_each(Value::sort_all_objects);
}

/// Writes a field that is JSON.
pub(crate) fn value<S: Serializer>(value: &impl Borrow<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    Canonical(value.borrow()).serialize(serializer)
}

/// Writes a field that may be JSON.
#[expect(clippy::ref_option, reason = "serde hands over the field as it is")]
pub(crate) fn optional<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(Canonical).serialize(serializer)
}

/// Writes a field that may be a JSON object.
#[expect(clippy::ref_option, reason = "serde hands over the field as it is")]
pub(crate) fn fields<S: Serializer>(fields: &Option<Map<String, Value>>, serializer: S) -> Result<S::Ok, S::Error> {
    struct Fields<'a>(&'a Map<String, Value>);

    impl Serialize for Fields<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            object(self.0, serializer)
        }
    }

    fields.as_ref().map(Fields).serialize(serializer)
}

fn object<S: Serializer>(fields: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = serializer.serialize_map(Some(fields.len()))?;
    if fields.keys().is_sorted() {
        for (key, value) in fields {
            out.serialize_entry(key, &Canonical(value))?;
        }
    } else {
        let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
        fields.sort_unstable_by_key(|(key, _)| *key);
        for (key, value) in fields {
            out.serialize_entry(key, &Canonical(value))?;
        }
    }
    out.end()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::{self, Expected};
    use crate::{Action, Ask, Command, Envelope, Refusal, Via};

    const ONE: &str = r#"{"b":[{"z":1,"a":{"d":null,"c":[{"y":2,"x":3}]}},2],"a":{"q":true,"p":"t"},"B":1.0}"#;
    const OTHER: &str = r#"{"a":{"p":"t","q":true},"B":1.0,"b":[{"a":{"c":[{"x":3,"y":2}],"d":null},"z":1},2]}"#;
    const SPELT: &str = r#"{"B":1.0,"a":{"p":"t","q":true},"b":[{"a":{"c":[{"x":3,"y":2}],"d":null},"z":1},2]}"#;

    fn values() -> [Value; 2] {
        [ONE, OTHER].map(|text| serde_json::from_str(text).unwrap())
    }

    fn both<T>(make: impl Fn(Value) -> T) -> [T; 2] {
        values().map(make)
    }

    #[test]
    fn keys_stand_in_order_at_every_depth_and_lists_as_they_are() {
        assert_eq!(both(|value| text(&value)), [SPELT, SPELT]);
        assert_eq!(both(|value| sorted(value).to_string()), [SPELT, SPELT]);
    }

    #[test]
    fn these_tests_see_the_order_in_which_keys_were_written() {
        assert_eq!(both(|value| value.to_string()), [ONE, OTHER]);
    }

    #[test]
    fn commands_that_differ_in_the_order_of_keys_are_the_same_operation() {
        let command = |action| Command {
            item: "42".parse().unwrap(),
            by: "engineer".parse().unwrap(),
            via: Via::Library,
            action,
        };
        let question = || "CLR-42-001".parse().unwrap();
        let actions: [fn(Value) -> Action; 2] = [
            |data| Action::Emit { event: "spec.approved".parse().unwrap(), data },
            |value| {
                let fallback = serde_json::from_value(json!({ "answer": value, "reason": "r" })).unwrap();
                Action::Ask(Box::new(Ask {
                    details: value.as_object().cloned(),
                    expected: Some(Expected::Json { schema: value }),
                    fallback,
                    ..Ask::default()
                }))
            },
        ];
        for action in actions {
            let [one, other] = both(|value| command(action(value)).fingerprint());
            assert_eq!(one, other);
        }
        let [one, other] =
            both(|answer| command(Action::Answer { question: question(), answer, note: None }).fingerprint());
        assert_eq!(one, other);
        let [one, other] =
            both(|answer| command(Action::AnswerRound { question: question(), round: 1, answer }).fingerprint());
        assert_eq!(one, other);
    }

    #[test]
    fn the_fingerprint_of_a_command_is_that_of_its_sorted_spelling() {
        let action = |data| Action::Emit { event: "spec.approved".parse().unwrap(), data };
        for action in both(action) {
            assert_eq!(
                serde_json::to_string(&action).unwrap(),
                format!(r#"{{"emit":{{"event":"spec.approved","data":{SPELT}}}}}"#)
            );
        }
    }

    #[test]
    fn an_answer_in_json_and_its_refusal_are_spelt_in_one_way() {
        let schema = json!({ "type": "object", "required": ["a"], "properties": { "b": { "type": "array" } } });
        let fits = Expected::Json { schema };
        for given in values().into_iter().chain([json!(ONE), json!(OTHER)]) {
            let meaning = answer::read(&given, &fits, &[], false).unwrap();
            assert_eq!((meaning.text.as_str(), meaning.value.to_string().as_str()), (SPELT, SPELT));
        }
        let misfit = |text: &str| Expected::Json { schema: serde_json::from_str(text).unwrap() };
        let one =
            misfit(r#"{"required":["n"],"properties":{"b":{"type":"null"},"a":{"type":"null"}},"type":"object"}"#);
        let other =
            misfit(r#"{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["n"]}"#);
        let refused = |given: Value, expected: &Expected| {
            Envelope::refused(&answer::read(&given, expected, &[], false).unwrap_err()).as_str().to_owned()
        };
        let [given, again] = values();
        assert_eq!(refused(given, &one), refused(again, &other));
    }

    #[test]
    fn the_details_of_a_refusal_are_spelt_in_one_way() {
        let [one, other] = both(|value| {
            let refusal = Refusal::invalid("answer", "m", "h").with(value);
            Envelope::refused(&refusal).as_str().to_owned()
        });
        assert_eq!(one, other);
        assert!(one.contains(SPELT), "{one}");
    }
}
