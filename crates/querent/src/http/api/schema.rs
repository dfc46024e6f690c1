//! What routes take and reply, as JSON Schema. What is taken is held to these schemas, so they are exact; what is replied has
//! shapes of its own in the document, which routes refer to by name.

mod shapes;

pub(super) use shapes::{SHAPES, shape, shape_or_null};

use serde_json::{Map, Value, json};

use crate::paging::MOST;
pub(super) use crate::schema::{any_object, flag, number, or_null, text, texts, word};

/// Something that a route takes.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) schema: Value,
    pub(super) required: bool,
    /// Whether it stands in the path.
    pub(super) in_path: bool,
}

/// A field that must be there.
pub(super) fn needed(name: &'static str, schema: Value) -> Field {
    Field { name, schema, required: true, in_path: false }
}

/// A field that may be there.
pub(super) fn maybe(name: &'static str, schema: Value) -> Field {
    Field { name, schema, required: false, in_path: false }
}

/// The same schema, which also takes null.
pub(super) fn nullable(schema: Value) -> Value {
    let mut schema = or_null(schema);
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

/// An object that has all of these properties; which of them may be missing is said by name.
pub(super) fn shaped<const N: usize>(properties: [(&str, Value); N], optional: &[&str]) -> Value {
    let required: Vec<&str> =
        properties.iter().map(|(name, _)| *name).filter(|name| !optional.contains(name)).collect();
    let properties: Map<String, Value> = properties.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A list of these.
pub(super) fn list(entries: Value) -> Value {
    let mut list = json!({ "type": "array" });
    list["items"] = entries;
    list
}

/// A text of so many characters, that is not only white space.
pub(super) fn words(most: u32, description: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": most, "pattern": "[^\\s\\u0085]", "description": description,
    })
}

/// A text of a form.
pub(super) fn formed(pattern: &str, example: &str, description: &str) -> Value {
    json!({ "type": "string", "pattern": pattern, "examples": [example], "description": description })
}

const ITEM: &str = "[a-z0-9][a-z0-9-]{0,63}";
const NUMBER: &str = "(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2,8})";
const PRINTABLE: &str = "[^\\s\\u0000-\\u001f\\u007f-\\u00a0\\ufeff]";

/// The id of an item.
pub(super) fn item_id(description: &str) -> Value {
    let mut schema = formed(&format!("^{ITEM}$"), "42", description);
    schema["not"] = json!({ "enum": ["quota", "knowledge", "resources", "alerts"] });
    schema
}

/// The id of a question.
pub(super) fn question_id(description: &str) -> Value {
    formed(&format!("^CLR-{ITEM}-{NUMBER}$"), "CLR-42-001", description)
}

/// The id of an assumption.
pub(super) fn assumption_id() -> Value {
    formed(&format!("^ASM-{ITEM}-{NUMBER}$"), "ASM-42-001", "The assumption's id")
}

/// The id of something that is counted in the whole project.
pub(super) fn counted_id(prefix: &str, description: &str) -> Value {
    formed(&format!("^{prefix}-{NUMBER}$"), &format!("{prefix}-001"), description)
}

/// An agent.
pub(super) fn agent(description: &str) -> Value {
    let mut schema = formed("^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", "engineer", description);
    schema["not"] = json!({ "enum": ["human", "querent"] });
    schema
}

/// An agent, `human` or `human:NAME`.
pub(super) fn party(example: &str, description: &str) -> Value {
    let name = "[^\\s\\u0000-\\u001f\\u007f-\\u00a0\\ufeff][^\\u0000-\\u001f\\u007f-\\u009f]{0,63}";
    let pattern = format!("^(human|human:{name}|[A-Za-z0-9][A-Za-z0-9_-]{{0,63}})$");
    let mut schema = formed(&pattern, example, description);
    schema["not"] = json!({ "enum": ["querent"] });
    schema
}

/// The name of a session or of a component.
pub(super) fn session(description: &str) -> Value {
    formed(&format!("^{PRINTABLE}{{1,200}}$"), "engineer@42", description)
}

/// A length of time that is not nothing.
pub(super) fn span(example: &str, description: &str) -> Value {
    formed("^[1-9][0-9]{0,4}(s|m|h|d)$", example, description)
}

/// How long a call waits; may be nothing.
pub(super) fn wait(example: &str, description: &str) -> Value {
    formed("^[0-9]{1,5}(ms|s|m|h|d)$", example, description)
}

/// Files of the project.
pub(super) fn path() -> Value {
    let mut schema = words(1_000, "A file, a directory or a glob, from the project's root");
    schema["pattern"] = json!("^[^\\u0000-\\u001f\\u007f-\\u009f]+$");
    schema["examples"] = json!(["src/auth.rs"]);
    schema
}

/// Who acts.
pub(super) fn by() -> Field {
    maybe("by", party("human:alice", "Who does it: human, human:NAME or a declared agent; with a token, its bearer"))
}

/// The item that a command is about.
pub(super) fn item() -> Field {
    maybe("item", item_id("The item; without it, the only one that has not ended"))
}

/// The agent that works.
pub(super) fn worker() -> Field {
    maybe("agent", agent("The agent; with a token, its bearer"))
}

/// The fields of a list in pages, whose cursors have this form.
pub(super) fn paged(cursor: &str, example: &str) -> [Field; 2] {
    [
        maybe("limit", number(1, MOST, "How many at most; 100 without it")),
        maybe("cursor", formed(cursor, example, "next_cursor of the last page")),
    ]
}

/// The form of a cursor that is an item's id.
pub(super) fn item_cursor() -> String {
    format!("^{ITEM}$")
}

/// The form of a cursor of questions.
pub(super) fn question_cursor() -> String {
    format!("^[0-9]{{1,15}}\\.CLR-{ITEM}-{NUMBER}$")
}

/// Where the next page begins, in a reply.
pub(super) fn next_cursor() -> Value {
    or_null(text("Where the next page begins; null at the end"))
}
