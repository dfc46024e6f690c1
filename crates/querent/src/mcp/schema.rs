//! JSON Schemas of a tool's arguments and replies: no references, no unions of types.

use std::sync::Arc;

use querent_core::canonical;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(crate) use crate::schema::{answer, any_object, flag, next, number, or_null, question_id, text, texts, word};

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

/// A schema as the object that it is.
fn object(schema: Value) -> JsonObject {
    match canonical::sorted(schema) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
