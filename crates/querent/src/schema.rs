//! JSON Schemas of what surfaces take and reply, in the plain words that every client and model API takes.

use serde_json::{Value, json};

/// A text.
pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// One of these words.
pub(crate) fn word<T: Copy>(all: &[T], word: fn(T) -> &'static str, description: &str) -> Value {
    let words: Vec<&str> = all.iter().map(|it| word(*it)).collect();
    json!({ "type": "string", "enum": words, "description": description })
}

/// Yes or no.
pub(crate) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// A whole number.
pub(crate) fn number(least: u32, most: u32, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

/// Texts.
pub(crate) fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// An object of any shape.
pub(crate) fn any_object(description: &str) -> Value {
    json!({ "type": "object", "description": description })
}

/// What may be null.
pub(crate) fn or_null(mut schema: Value) -> Value {
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}

/// The id of a question, as an argument.
pub(crate) fn question_id() -> Value {
    text("The question's id, like CLR-42-001")
}

/// The answer in a reply.
pub(crate) fn answer() -> Value {
    or_null(json!({
        "type": "object",
        "description": "The answer; null while there is none",
        "properties": {
            "value": { "description": "For programs: an option's id, a list of ids, a boolean, a number, JSON or text" },
            "text": text("For people"),
            "by": text("Who gave it: human, human:NAME or an agent"),
            "provenance": text("human, agent, learned or fallback"),
        },
        "required": ["value", "text", "by", "provenance"],
    }))
}

/// What the asker does next, in a reply.
pub(crate) fn next() -> Value {
    text("What to do next; there while the question is open")
}
