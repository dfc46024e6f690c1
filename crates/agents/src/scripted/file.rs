//! Reading a script, and saying exactly what is wrong with it.

use querent_core::Span;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::{DefaultMessageFormatter, Error, Location, MessageFormatter, Spanned};

use super::Places;
use crate::normalise;
use crate::run::{Failure, FailureKind};
use crate::signal::Signal;

/// A reply, and the turns that it is for.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) when: When,
    pub(super) emit: Vec<Value>,
    pub(super) after: Option<Span>,
    pub(super) fail: Option<String>,
    pub(super) hang: bool,
}

/// Which turns a reply is for. What is not named fits all.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct When {
    pub(super) agent: Option<String>,
    pub(super) step: Option<String>,
    /// A part of the question's subject, or of its id.
    pub(super) question: Option<String>,
    pub(super) item: Option<String>,
    pub(super) turn: Option<u32>,
    pub(super) round: Option<u32>,
    pub(super) event: Option<String>,
}

/// A reply as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    when: When,
    #[serde(default)]
    emit: Vec<Spanned<Value>>,
    after: Option<Span>,
    fail: Option<String>,
    #[serde(default)]
    hang: bool,
}

/// The replies of a file.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Entry>, Failure> {
    let written: Option<Vec<Written>> = serde_saphyr::from_str(text).map_err(|error| unread(name, &error))?;
    written.unwrap_or_default().into_iter().map(|written| entry(name, written)).collect()
}

fn entry(name: &str, written: Written) -> Result<Entry, Failure> {
    for said in &written.emit {
        // What nobody would understand is a mistake in a script, and not something to ignore.
        for signal in normalise::value(Places::example().fill(&said.value)) {
            if let Signal::Ignored(why) = signal {
                return Err(wrong(name, Some(said.referenced), &why));
            }
        }
    }
    let emit = written.emit.into_iter().map(|said| said.value).collect();
    Ok(Entry { when: written.when, emit, after: written.after, fail: written.fail, hang: written.hang })
}

fn unread(name: &str, error: &Error) -> Failure {
    let error = error.without_snippet();
    let message = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let known: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
            format!("unknown key `{field}`, expected one of {}", known.join(", "))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` is there twice"),
        other => DefaultMessageFormatter.format_message(other).into_owned(),
    };
    wrong(name, error.location(), &message)
}

fn wrong(name: &str, at: Option<Location>, message: &str) -> Failure {
    let place = at.map_or_else(String::new, |at| format!(":{}:{}", at.line(), at.column()));
    Failure::new(FailureKind::Unreadable, format!("{name}{place}: {message}"))
}
