//! What an answer must look like, and the answer that was given.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical;
use crate::id::{LearnedId, QuestionId};
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::question::{Choice, words};
use crate::refusal::{Code, Refusal};

/// The longest answer in characters.
pub const LONGEST_TEXT: usize = 2_000;
/// The largest JSON answer in bytes.
pub const LARGEST_JSON: usize = 16 * 1024;

/// What an answer must look like: `{"kind": "text"}`, or `{"kind": "json", "schema": …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expected {
    /// Any words.
    Text,
    /// One of the options.
    SingleChoice,
    /// Some of the options.
    MultiChoice,
    /// Yes or no.
    Boolean,
    /// A number.
    Number,
    /// JSON that fits a schema.
    Json {
        /// The JSON Schema.
        #[serde(serialize_with = "crate::canonical::value")]
        schema: Value,
    },
}

/// The answer that stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// For a program: an option's id, a list of ids, a boolean, a number, JSON or text.
    #[serde(serialize_with = "crate::canonical::value")]
    pub value: Value,
    /// For a person.
    pub text: String,
    /// Whether it leaves the options that the question offered.
    pub free_text: bool,
    /// Who gave it.
    pub by: Party,
    /// Through which surface.
    pub via: Via,
    /// When.
    pub at: Moment,
    /// How it came about.
    pub provenance: Provenance,
    /// What it was learned as, and from which question, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedFrom>,
    /// What whoever gave it added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a learned answer was learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedFrom {
    /// What it is learned as.
    pub id: LearnedId,
    /// The last question that a human answered so.
    pub question_id: QuestionId,
}

words!(
    /// How an answer came about.
    Provenance {
        /// A person said it.
        Human = "human",
        /// The agent that was asked said it.
        Agent = "agent",
        /// It was learned from earlier answers.
        Learned = "learned",
        /// Nobody answered; the asker's own fallback was applied.
        Fallback = "fallback",
    }
);

/// The meaning of an answer, before it is known who gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// For a program.
    pub value: Value,
    /// For a person.
    pub text: String,
    /// Whether it leaves the options.
    pub free_text: bool,
}

/// Reads what somebody answered. A string is read as people write it: an option by id, label or text, `yes`, `1.5`.
pub fn read(given: &Value, expected: &Expected, options: &[Choice], allow_free_text: bool) -> Result<Meaning, Refusal> {
    check_size(given, expected)?;
    let meaning = match expected {
        Expected::Text => given.as_str().map(str::trim).filter(|text| !text.is_empty()).map(plain),
        Expected::SingleChoice => choice(given, options).map(|it| chosen(&[it], false)),
        Expected::MultiChoice => choices(given, options).map(|them| chosen(&them, true)),
        Expected::Boolean => boolean(given).map(|yes| Meaning {
            value: json!(yes),
            text: if yes { "yes" } else { "no" }.to_owned(),
            free_text: false,
        }),
        Expected::Number => number(given),
        Expected::Json { schema } => return json_answer(given, schema),
    };
    if let Some(meaning) = meaning {
        return Ok(meaning);
    }
    match given.as_str().map(str::trim) {
        Some(text) if allow_free_text && !options.is_empty() && !text.is_empty() => {
            Ok(Meaning { free_text: true, ..plain(text) })
        }
        _ => Err(not_accepted(given, expected, options, allow_free_text)),
    }
}

/// Checks a JSON Schema before a question depends on it.
pub fn check_schema(schema: &Value) -> Result<(), Refusal> {
    match jsonschema::validator_for(&canonical::sorted(schema.clone())) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::invalid(
            "expected.schema",
            format!("the JSON Schema of the expected answer does not compile: {error}"),
            "give a self-contained JSON Schema, without references to other documents",
        )),
    }
}

fn check_size(given: &Value, expected: &Expected) -> Result<(), Refusal> {
    let too_long = match (given, expected) {
        (Value::String(text), Expected::Json { .. }) => text.len() > LARGEST_JSON,
        (Value::String(text), _) => text.chars().count() > LONGEST_TEXT,
        (other, _) => other.to_string().len() > LARGEST_JSON,
    };
    if too_long { Err(oversized()) } else { Ok(()) }
}

fn oversized() -> Refusal {
    Refusal::invalid(
        "answer",
        format!("the answer is longer than {LONGEST_TEXT} characters (JSON: {} KiB)", LARGEST_JSON / 1024),
        "shorten it, or put the long part into a file of the project and name the file",
    )
}

fn plain(text: &str) -> Meaning {
    Meaning { value: json!(text), text: text.to_owned(), free_text: false }
}

fn chosen(them: &[&Choice], many: bool) -> Meaning {
    let ids: Vec<&str> = them.iter().map(|it| it.id.as_str()).collect();
    let labels: Vec<&str> = them.iter().map(|it| it.label.as_str()).collect();
    let value = if many { json!(ids) } else { json!(ids.first()) };
    Meaning { value, text: labels.join(", "), free_text: false }
}

/// The option that is meant: an exact id comes before a label, a label before a description.
fn choice<'a>(given: &Value, options: &'a [Choice]) -> Option<&'a Choice> {
    let text = given.as_str()?.trim();
    let same = |other: &str| other.trim().to_lowercase() == text.to_lowercase();
    options
        .iter()
        .find(|it| it.id == text)
        .or_else(|| options.iter().find(|it| same(&it.id)))
        .or_else(|| options.iter().find(|it| same(&it.label)))
        .or_else(|| options.iter().find(|it| it.description.as_deref().is_some_and(same)))
}

fn choices<'a>(given: &Value, options: &'a [Choice]) -> Option<Vec<&'a Choice>> {
    if let Some(one) = choice(given, options) {
        return Some(vec![one]);
    }
    let parts: Vec<Value> = match given {
        Value::Array(parts) => parts.clone(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(parts)) => parts,
            _ => text.split(',').map(|part| json!(part)).collect(),
        },
        _ => return None,
    };
    let mut found: Vec<&Choice> = Vec::new();
    for part in &parts {
        let one = choice(part, options)?;
        if !found.iter().any(|it| it.id == one.id) {
            found.push(one);
        }
    }
    (!found.is_empty()).then_some(found)
}

fn boolean(given: &Value) -> Option<bool> {
    match given {
        Value::Bool(yes) => Some(*yes),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn number(given: &Value) -> Option<Meaning> {
    let number = match given {
        Value::Number(number) => number.clone(),
        Value::String(text) => serde_json::from_str(text.trim()).ok()?,
        _ => return None,
    };
    number.as_f64().filter(|it| it.is_finite())?;
    Some(Meaning { text: number.to_string(), value: Value::Number(number), free_text: false })
}

fn json_answer(given: &Value, schema: &Value) -> Result<Meaning, Refusal> {
    let value = match given {
        Value::String(text) => serde_json::from_str(text).map_err(|error| {
            let hint = "answer with one JSON value that fits the schema";
            Refusal::new(Code::QuestionInvalidAnswer, format!("the answer is not JSON: {error}"), hint)
                .with(json!({ "accepted": { "kind": "json", "schema": schema } }))
        })?,
        other => other.clone(),
    };
    // What does not fit is listed in the order of the keys.
    let value = canonical::sorted(value);
    let validator = jsonschema::validator_for(&canonical::sorted(schema.clone()));
    let faults: Vec<String> = match &validator {
        Ok(validator) => validator
            .iter_errors(&value)
            .take(5)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{error} at {path}"),
            })
            .collect(),
        Err(error) => vec![error.to_string()],
    };
    if faults.is_empty() {
        return Ok(Meaning { text: value.to_string(), value, free_text: false });
    }
    let message = format!("the answer does not fit the schema: {}", faults.join("; "));
    Err(Refusal::new(Code::QuestionInvalidAnswer, message, "answer with one JSON value that fits the schema")
        .with(json!({ "accepted": { "kind": "json", "schema": schema }, "faults": faults })))
}

fn not_accepted(given: &Value, expected: &Expected, options: &[Choice], allow_free_text: bool) -> Refusal {
    let shown: String = given.as_str().map_or_else(|| canonical::text(given), str::to_owned).chars().take(80).collect();
    let listed: Vec<String> = options.iter().map(|it| format!("{} ({})", it.id, it.label)).collect();
    let hint = match expected {
        Expected::Text => "answer with some words".to_owned(),
        Expected::SingleChoice => format!("answer with one of: {}", listed.join(", ")),
        Expected::MultiChoice => format!("answer with one or more, separated by commas, of: {}", listed.join(", ")),
        Expected::Boolean => "answer with true, false, yes or no".to_owned(),
        Expected::Number => "answer with a number, like 3 or 1.5".to_owned(),
        Expected::Json { .. } => "answer with one JSON value that fits the schema".to_owned(),
    };
    Refusal::new(Code::QuestionInvalidAnswer, format!("`{shown}` is not an answer that this question accepts"), hint)
        .with(json!({ "accepted": { "expected": expected, "options": options, "allow_free_text": allow_free_text } }))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
