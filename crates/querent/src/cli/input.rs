//! What was typed, as values: files and standard input, JSON, pairs, words, and names that the environment gives.

use std::fs::File;
use std::io::{self, Read};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use querent_core::{Expected, Party, Refusal, canonical, nearest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::usage;

/// More than any field may hold; a larger file is cut here and then refused for its size.
const LARGEST: u64 = 1 << 20;

/// The options that every mutating command takes.
#[derive(clap::Args)]
pub(crate) struct Operation {
    /// An id that makes the call happen once, however often it is sent
    ///
    /// The same id with the same content replies the same bytes and does nothing; with other content it is refused
    /// (`operation_conflict`). Without it every call is a new one.
    #[arg(long, value_name = "ID")]
    operation_id: Option<String>,
}

impl Operation {
    /// The id, if one was given.
    pub(crate) fn id(&self) -> Result<Option<querent_core::OperationId>, Refusal> {
        self.operation_id.as_deref().map(str::parse).transpose()
    }
}

/// The options that say who acts on a question.
#[derive(clap::Args)]
pub(crate) struct By {
    /// Who does it: `human`, `human:NAME`, or an agent that the config declares
    #[arg(long, value_name = "WHO", default_value = "human")]
    by: String,
}

impl By {
    /// Who does it.
    pub(crate) fn party(&self) -> Result<Party, Refusal> {
        self.by.parse()
    }
}

/// Parses one of a closed set of words, so that help, completion and errors know them all.
pub(crate) fn one_of<T>(all: &'static [T], word: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(move |it| word(*it))).try_map(|text| text.parse::<T>())
}

/// A text that may stand in a file (`@file`) or come on standard input (`-`).
pub(crate) fn text(flag: &str, given: &str) -> Result<String, Refusal> {
    let hint = format!("check the path; a text that itself begins with @ goes through standard input: {flag} -");
    let text = referred(flag, given, &hint)?;
    Ok(text.map_or_else(|| given.to_owned(), |text| text.trim_end_matches(['\n', '\r']).to_owned()))
}

/// JSON that is typed, stands in a file (`@file`) or comes on standard input (`-`). JSON that is broken is a usage error.
pub(crate) fn value(flag: &str, given: &str) -> Result<Value, Refusal> {
    let text = referred(flag, given, "check the path, which is relative to the working directory")?;
    canonical::parsed(text.as_deref().unwrap_or(given).as_bytes()).map_err(|error| {
        let message = format!("the value of {flag} is not JSON: {error}");
        usage(message, "quote JSON for the shell: '{\"key\": \"value\"}', or put it into a file: @file.json")
    })
}

/// What a reference to a file or to standard input refers to; nothing if it is none.
fn referred(flag: &str, given: &str, hint: &str) -> Result<Option<String>, Refusal> {
    let (from, read) = match given.strip_prefix('@') {
        Some(path) => (format!("the file `{path}`"), File::open(path).and_then(read_all)),
        None if given == "-" => ("standard input".to_owned(), read_all(io::stdin().lock())),
        None => return Ok(None),
    };
    read.map(Some).map_err(|error| usage(format!("{flag}: {from} cannot be read: {error}"), hint))
}

/// JSON of a certain shape. A shape that does not fit is `invalid_input` and names the field.
pub(crate) fn shaped<T: DeserializeOwned>(flag: &str, field: &str, given: &str, hint: &str) -> Result<T, Refusal> {
    serde_json::from_value(value(flag, given)?)
        .map_err(|error| Refusal::invalid(field, format!("{field} does not fit: {error}"), hint))
}

/// A JSON object.
pub(crate) fn object(flag: &str, field: &str, given: &str) -> Result<Map<String, Value>, Refusal> {
    match value(flag, given)? {
        Value::Object(map) => Ok(map),
        other => {
            let kind = match other {
                Value::Array(_) => "an array",
                Value::String(_) => "a string",
                Value::Number(_) => "a number",
                Value::Bool(_) => "a boolean",
                Value::Null | Value::Object(_) => "null",
            };
            let message = format!("{field} is {kind}, not a JSON object");
            Err(Refusal::invalid(field, message, format!("give an object: {flag} '{{\"key\": \"value\"}}'")))
        }
    }
}

/// Reads `key=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(format!("`{text}` has no `=`; write it like key=value")),
    }
}

/// Reads what an answer must look like: a word, or `json:` with a schema.
pub(crate) fn expected(given: &str) -> Result<Expected, Refusal> {
    const WORDS: [&str; 5] = ["text", "single_choice", "multi_choice", "boolean", "number"];
    let expected = match given {
        "text" => Expected::Text,
        "single_choice" => Expected::SingleChoice,
        "multi_choice" => Expected::MultiChoice,
        "boolean" => Expected::Boolean,
        "number" => Expected::Number,
        other => {
            let Some(schema) = other.strip_prefix("json:") else {
                let near = nearest::of(given, WORDS).map(|near| format!("did you mean `{near}`? "));
                let hint = format!("{}use one of: {}, json:@schema.json", near.unwrap_or_default(), WORDS.join(", "));
                return Err(usage(format!("`{given}` is not a value of `--expect`"), hint));
            };
            Expected::Json { schema: value("--expect", schema)? }
        }
    };
    Ok(expected)
}

/// The agent or person of `flag`, else the agent of `QUERENT_AGENT`.
pub(crate) fn caller(flag: &str, given: Option<&str>) -> Result<Party, Refusal> {
    let Some(name) = given.map(str::to_owned).or_else(|| environment("QUERENT_AGENT")) else {
        let hint = format!("name the agent: {flag} engineer, or set QUERENT_AGENT");
        return Err(Refusal::invalid(flag.trim_start_matches('-'), "no agent is named", hint));
    };
    name.parse()
}

/// A variable that is set and not empty.
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn read_all(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}
