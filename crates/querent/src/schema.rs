//! JSON Schemas of arguments and replies, in the plain words that every client and model API takes: no references, no unions
//! of types.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// An object with these properties, of which some must be there. Others are refused.
pub(crate) fn arguments<const N: usize>(properties: [(&str, Value); N], required: &[&str]) -> Arc<JsonObject> {
    let properties: JsonObject = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let schema =
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    Arc::new(object(schema))
}

/// What a tool replies: these properties, or a refusal.
pub(crate) fn reply<const N: usize>(properties: [(&str, Value); N], optional: &[&str]) -> Arc<JsonObject> {
    let required: Vec<&str> =
        properties.iter().map(|(name, _)| *name).filter(|name| !optional.contains(name)).collect();
    let properties: JsonObject = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let refusal = json!({
        "type": "object",
        "description": "A refusal: what was wrong and what to do. The result has isError.",
        "properties": {
            "code": text("What went wrong, for programs"),
            "message": text("What went wrong, in a sentence"),
            "hint": text("What to do next"),
            "details": { "type": "object" },
        },
        "required": ["code", "message", "hint"],
    });
    let reply = json!({ "type": "object", "properties": properties, "required": required });
    Arc::new(object(json!({ "type": "object", "anyOf": [reply, refusal] })))
}

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

/// A schema as the object that it is.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
