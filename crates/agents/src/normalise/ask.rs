//! A question as a worker asks it, in any of the spellings that are in use.

use querent_core::Ask;
use serde_json::{Map, Value, json};

use super::{cut, ignored, unknown};
use crate::signal::{Request, Signal};

/// What a worker may say of its question. Its session is not among it: whose question it is, is known already.
pub(super) const FIELDS: &[&str] = &[
    "to",
    "kind",
    "category",
    "blocker",
    "topic",
    "prompt",
    "context",
    "details",
    "options",
    "expected",
    "allow_free_text",
    "blocking",
    "fallback",
    "evidence",
    "complex",
    "tags",
    "max_rounds",
    "expires_in",
];
/// Other names, and what they stand for.
const SPELLINGS: &[(&str, &str)] =
    &[("question_type", "category"), ("expected_answer", "expected"), ("question", "prompt"), ("choices", "options")];
/// The longest topic, in Unicode scalars.
const LONGEST_TOPIC: usize = 200;
/// The longest id of an option.
const LONGEST_ID: usize = 64;

/// The question, addressed to `to` whatever it says itself; and what it says that nobody understands.
pub(super) fn ask(mut fields: Map<String, Value>, to: Option<&str>) -> Vec<Signal> {
    for (other, name) in SPELLINGS {
        if !fields.contains_key(*name)
            && let Some(value) = fields.remove(*other)
        {
            fields.insert((*name).to_owned(), value);
        }
    }
    let Some(prompt) = super::words(&fields, "prompt") else {
        return vec![Signal::Note("A question was asked without a prompt, so nobody was asked.".to_owned())];
    };
    if let Some(to) = to {
        fields.insert("to".to_owned(), to.into());
    }
    if super::words(&fields, "topic").is_none() {
        fields.insert("topic".to_owned(), topic(&prompt).into());
    }
    let mut signals = unknown(&mut fields, FIELDS, "ask");
    expected(&mut fields, &mut signals);
    if let Some(Value::Array(options)) = fields.get_mut("options") {
        options.iter_mut().enumerate().for_each(|(place, option)| choice(place, option));
    }
    match serde_json::from_value::<Ask>(Value::Object(fields)) {
        Ok(ask) => {
            signals.insert(0, Signal::Request(Request::Ask(Box::new(ask))));
            signals
        }
        Err(why) => ignored(format!("the ask cannot be read: {}", cut(&why.to_string()))),
    }
}

/// The first line of a prompt that says something, as long as a topic may be.
fn topic(prompt: &str) -> String {
    let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    first.chars().take(LONGEST_TOPIC).collect()
}

/// One word instead of an object, and choices that stand beside the kind of the answer.
fn expected(fields: &mut Map<String, Value>, signals: &mut Vec<Signal>) {
    let Some(given) = fields.get_mut("expected") else { return };
    if let Value::String(kind) = given {
        *given = json!({ "kind": kind });
    }
    let Some(given) = given.as_object_mut() else { return };
    given.retain(|_, value| !value.is_null());
    let choices = given.remove("choices").or_else(|| given.remove("options"));
    signals.extend(unknown(given, &["kind", "schema"], "expected answer"));
    if given.get("kind").is_some_and(|kind| kind != "json") {
        given.remove("schema");
    }
    if !given.contains_key("kind") {
        fields.remove("expected");
    }
    if let Some(choices) = choices {
        fields.entry("options").or_insert(choices);
    }
}

/// An option that is one text, or lacks an id or a label.
fn choice(place: usize, option: &mut Value) {
    if let Value::String(text) = option {
        *option = json!({ "label": text });
    }
    let Some(fields) = option.as_object_mut() else { return };
    fields.retain(|_, value| !value.is_null());
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(|it| it.trim().to_owned());
    let (id, label) = (text("id"), text("label"));
    let label = label.or_else(|| id.clone()).unwrap_or_default();
    let fits = |id: &String| !id.is_empty() && id.chars().count() <= LONGEST_ID && !id.contains(',');
    let made = || Some(label.clone()).filter(fits).unwrap_or_else(|| format!("option-{}", place + 1));
    fields.insert("id".to_owned(), id.unwrap_or_else(made).into());
    fields.insert("label".to_owned(), label.into());
}
