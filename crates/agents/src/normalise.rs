//! What a worker says, made into signals: JSON lines, and texts that end in one.
//!
//! All of it is untrusted. What cannot be understood is [ignored](Signal::Ignored) with a reason that quotes little.

mod ask;
mod text;

use querent_core::{Assume, QuestionId, canonical};
use serde_json::{Map, Value};

use crate::signal::{Request, Signal, TurnResult};

pub use text::final_text;

/// The longest line that is read.
pub const LONGEST_LINE: usize = 4 << 20;
/// How much of a note is kept, in Unicode scalars.
const LONGEST_NOTE: usize = 8_000;
/// How much of what was said may be quoted.
const QUOTED: usize = 200;

/// What a line of output says, which ought to be a JSON object with a `type`.
pub fn line(text: &str) -> Vec<Signal> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.len() > LONGEST_LINE {
        return ignored(format!("a line of {} bytes is too long", text.len()));
    }
    match serde_json::from_str(text) {
        Ok(said) => value(said),
        Err(_) => ignored(format!("a line is not JSON: {}", cut(text))),
    }
}

/// What a JSON value says that is one line of a worker.
pub fn value(said: Value) -> Vec<Signal> {
    let said = canonical::sorted(said);
    let Value::Object(mut said) = said else {
        return ignored(format!("a line is no JSON object: {}", cut(&said.to_string())));
    };
    let Some(Value::String(kind)) = said.remove("type") else {
        return ignored("a line has no `type`".to_owned());
    };
    match kind.as_str() {
        "REQUEST" => request(inner(said, "request")),
        "NOTE" => text_of(&mut said, &["text", "note"], |text| Signal::Note(shortened(&text, LONGEST_NOTE))),
        "PLAN" => said.remove("plan").map_or_else(|| lacks("PLAN", "plan"), |plan| vec![Signal::Plan(plan)]),
        "PATCH" => text_of(&mut said, &["patch"], Signal::Patch),
        "RESULT" => result(inner(said, "result")).unwrap_or_else(|why| ignored(format!("the RESULT says {why}"))),
        other => ignored(format!("nothing is known of the type `{}`", cut(other))),
    }
}

/// Whether something is a line of a worker, and not just any JSON.
pub(crate) fn is_worker_line(said: &Value) -> bool {
    matches!(said["type"].as_str(), Some("REQUEST" | "NOTE" | "PLAN" | "PATCH" | "RESULT"))
}

/// A text on one line, cut to what may be quoted.
pub(crate) fn cut(text: &str) -> String {
    let line: String = text.chars().take(2 * QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(line.trim(), QUOTED)
}

/// The first part of a text, by Unicode scalars, with a mark where it was cut.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect(),
    }
}

fn ignored(why: String) -> Vec<Signal> {
    vec![Signal::Ignored(why)]
}

fn lacks(what: &str, field: &str) -> Vec<Signal> {
    ignored(format!("the {what} has no `{field}`"))
}

/// What a line is about: below its own key, or beside its type.
fn inner(mut said: Map<String, Value>, key: &str) -> Map<String, Value> {
    match said.remove(key) {
        Some(Value::Object(inner)) => inner,
        Some(other) => Map::from_iter([(key.to_owned(), other)]),
        None => said,
    }
}

/// The signal that one text makes, which stands under one of these names.
fn text_of(said: &mut Map<String, Value>, names: &[&str], signal: impl FnOnce(String) -> Signal) -> Vec<Signal> {
    match names.iter().find_map(|name| said.remove(*name)) {
        Some(Value::String(text)) if !text.trim().is_empty() => vec![signal(text)],
        _ => ignored(format!("a line has no `{}`", names.first().unwrap_or(&"text"))),
    }
}

fn request(mut fields: Map<String, Value>) -> Vec<Signal> {
    fields.retain(|_, value| !value.is_null());
    let Some(Value::String(action)) = fields.remove("action") else { return lacks("REQUEST", "action") };
    let request = match action.as_str() {
        "ask" => return ask::ask(fields, None),
        "ask_user_input" => return ask::ask(fields, Some("human")),
        "follow_up" => follow_up(&fields),
        "resolve" => resolve(&fields),
        "assume" => return assume(fields),
        "lock" => match paths(&fields) {
            Ok(paths) if paths.is_empty() => Err("no `paths`".to_owned()),
            paths => paths.map(|paths| Request::Lock { paths }),
        },
        "unlock" => paths(&fields).map(|paths| Request::Unlock { paths }),
        "emit" => emit(fields),
        other => return ignored(format!("nothing is known of the action `{}`", cut(other))),
    };
    request.map_or_else(|why| ignored(format!("the {action} has {why}")), |request| vec![Signal::Request(request)])
}

fn follow_up(fields: &Map<String, Value>) -> Result<Request, String> {
    let prompt = words(fields, "prompt").ok_or("no `prompt`")?;
    Ok(Request::FollowUp { question: question(fields)?, prompt })
}

fn resolve(fields: &Map<String, Value>) -> Result<Request, String> {
    Ok(Request::Resolve { question: question(fields)?, note: words(fields, "note") })
}

fn assume(mut fields: Map<String, Value>) -> Vec<Signal> {
    const KNOWN: &[&str] = &["decision", "reasoning", "confidence", "risk_if_wrong", "source", "blocker", "question"];
    if let Some(level @ Value::String(_)) = fields.get("risk_if_wrong").cloned() {
        fields.insert("risk_if_wrong".to_owned(), serde_json::json!({ "level": level }));
    }
    let mut signals = unknown(&mut fields, KNOWN, "assume");
    match serde_json::from_value::<Assume>(Value::Object(fields)) {
        Ok(assume) => signals.insert(0, Signal::Request(Request::Assume(Box::new(assume)))),
        Err(why) => signals = ignored(format!("the assume cannot be read: {}", cut(&why.to_string()))),
    }
    signals
}

fn emit(mut fields: Map<String, Value>) -> Result<Request, String> {
    let event = words(&fields, "event").ok_or("no `event`")?;
    Ok(Request::Emit { event, data: fields.remove("data").unwrap_or_default() })
}

/// Takes away the fields that nobody knows, and names them.
fn unknown(fields: &mut Map<String, Value>, known: &[&str], what: &str) -> Vec<Signal> {
    let strange: Vec<String> = fields.keys().filter(|key| !known.contains(&key.as_str())).cloned().collect();
    for key in &strange {
        fields.remove(key);
    }
    strange.iter().map(|key| Signal::Ignored(format!("the {what} has an unknown field `{}`", cut(key)))).collect()
}

fn question(fields: &Map<String, Value>) -> Result<QuestionId, String> {
    let id = words(fields, "question").or_else(|| words(fields, "question_id")).ok_or("no `question`")?;
    id.parse().map_err(|_| format!("a `question` that is no id: {}", cut(&id)))
}

fn paths(fields: &Map<String, Value>) -> Result<Vec<String>, String> {
    texts(fields.get("paths").or_else(|| fields.get("path"))).ok_or_else(|| "`paths` that are no texts".to_owned())
}

/// A list of texts, one text, or nothing; none if it is something else.
fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(one)) => Some(vec![one.clone()]),
        Some(Value::Array(all)) => all.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    }
}

/// A text that is not empty.
fn words(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// A result with all that it brings; why it is none, if so.
fn result(mut fields: Map<String, Value>) -> Result<Vec<Signal>, String> {
    const KNOWN: &[&str] = &["status", "summary", "artifacts", "answer", "evidence", "uncertainty"];
    fields.retain(|_, value| !value.is_null());
    let strange = unknown(&mut fields, KNOWN, "RESULT");
    let result = match (fields.get("status").and_then(Value::as_str), fields.get("answer")) {
        (Some("failed"), _) => TurnResult::Failed { summary: spoken(&fields, "summary").unwrap_or_default() },
        (_, Some(answer)) => TurnResult::Answer {
            answer: answer.clone(),
            evidence: spoken(&fields, "evidence"),
            uncertainty: spoken(&fields, "uncertainty"),
        },
        (Some("done"), None) => TurnResult::Done {
            summary: spoken(&fields, "summary").unwrap_or_default(),
            artifacts: texts(fields.get("artifacts")).ok_or("`artifacts` that are no texts")?,
        },
        (Some(other), None) => return Err(format!("a status `{}` that is neither done nor failed", cut(other))),
        (None, None) => return Err("neither a status nor an answer".to_owned()),
    };
    Ok([Signal::Result(result)].into_iter().chain(strange).collect())
}

/// A text, or whatever is there as JSON.
fn spoken(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
#[path = "normalise_tests.rs"]
mod tests;
