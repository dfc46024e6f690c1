//! What a field may hold. Everything that an agent writes is untrusted.

use serde_json::json;

use crate::answer::{self, Expected};
use crate::command::Ask;
use crate::refusal::{Code, Refusal};

/// The most options that a question offers.
const MOST_OPTIONS: usize = 20;
/// The most tags that a question bears.
const MOST_TAGS: usize = 20;
/// The largest JSON beside a question, in bytes.
const LARGEST_DETAILS: usize = 16 * 1024;

/// A text of `least` to `most` characters, counted as Unicode scalars, that is not only white space.
pub(super) fn text(field: &str, text: &str, least: usize, most: usize) -> Result<(), Refusal> {
    let length = if text.trim().is_empty() { 0 } else { text.chars().count() };
    if (least..=most).contains(&length) {
        return Ok(());
    }
    let message = match length {
        0 => format!("{field} is empty"),
        _ => format!("{field} has {length} characters, more than {most}"),
    };
    Err(Refusal::new(Code::InvalidInput, message, format!("give {field} {least} to {most} characters"))
        .with(json!({ "field": field, "limit": { "least": least, "most": most }, "length": length })))
}

/// The first `most` characters of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// No more than `most` of something.
pub(super) fn count(field: &str, count: usize, most: usize) -> Result<(), Refusal> {
    if count <= most {
        return Ok(());
    }
    Err(Refusal::new(
        Code::InvalidInput,
        format!("{field} has {count} entries, more than {most}"),
        format!("give at most {most}"),
    )
    .with(json!({ "field": field, "limit": { "most": most }, "length": count })))
}

/// Every field of a question that has a limit.
pub(super) fn question(ask: &Ask) -> Result<(), Refusal> {
    text("topic", &ask.topic, 1, 200)?;
    text("prompt", &ask.prompt, 1, 2_000)?;
    text("context", ask.context.as_deref().unwrap_or("-"), 1, 2_000)?;
    if let Some(details) = &ask.details {
        size("details", &json!(details))?;
    }
    options(ask)?;
    count("tags", ask.tags.len(), MOST_TAGS)?;
    ask.tags.iter().try_for_each(|tag| text("tags", tag, 1, 64))?;
    if let Some(evidence) = &ask.evidence {
        count("evidence", evidence.len(), 20)?;
        evidence
            .iter()
            .try_for_each(|(key, value)| text("evidence", key, 1, 64).and(text("evidence", value, 1, 2_000)))?;
    }
    expected(ask)?;
    if let Some(fallback) = &ask.fallback {
        text("fallback.reason", &fallback.reason, 1, 2_000)?;
    }
    if ask.expires_in.is_some_and(|span| span.as_millis() == 0) {
        return Err(Refusal::invalid("expires_in", "expires_in is nothing", "give it some time, like 15m"));
    }
    Ok(())
}

fn size(field: &str, value: &serde_json::Value) -> Result<(), Refusal> {
    let bytes = value.to_string().len();
    if bytes <= LARGEST_DETAILS {
        return Ok(());
    }
    let message = format!("{field} has {bytes} bytes of JSON, more than {LARGEST_DETAILS}");
    Err(Refusal::new(Code::InvalidInput, message, "put the long part into a file of the project and name the file")
        .with(json!({ "field": field, "limit": { "most": LARGEST_DETAILS }, "length": bytes })))
}

fn options(ask: &Ask) -> Result<(), Refusal> {
    count("options", ask.options.len(), MOST_OPTIONS)?;
    for (place, option) in ask.options.iter().enumerate() {
        text("options.id", &option.id, 1, 64)?;
        text("options.label", &option.label, 1, 200)?;
        text("options.description", option.description.as_deref().unwrap_or("-"), 1, 2_000)?;
        text("options.implications", option.implications.as_deref().unwrap_or("-"), 1, 2_000)?;
        if option.id.contains(',') || option.id.trim() != option.id {
            let message = format!("the option id `{}` has a comma or outer spaces", option.id);
            return Err(Refusal::invalid("options.id", message, "use short ids like a, b, jwt"));
        }
        if ask.options[..place].iter().any(|other| other.id.to_lowercase() == option.id.to_lowercase()) {
            let message = format!("the option id `{}` is there twice", option.id);
            return Err(Refusal::invalid("options.id", message, "give each option an id of its own"));
        }
    }
    Ok(())
}

fn expected(ask: &Ask) -> Result<(), Refusal> {
    match &ask.expected {
        Some(Expected::SingleChoice | Expected::MultiChoice) if ask.options.is_empty() => Err(Refusal::invalid(
            "options",
            "a choice needs options to choose from",
            "give at least one option, or expect text",
        )),
        Some(Expected::Json { schema }) => size("expected.schema", schema).and_then(|()| answer::check_schema(schema)),
        _ => Ok(()),
    }
}
