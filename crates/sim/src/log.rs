//! The event log of a run, one JSON object a line, and how people read it.

use std::fmt::Write;

use serde_json::{Value, json};

/// What happened in a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(Vec<String>);

impl Log {
    /// Adds an event, as JSON on one line. A record of the journal stands as it is.
    pub(crate) fn add(&mut self, event: String) {
        self.0.push(event);
    }

    pub(crate) fn begin(&mut self, seed: u64, steps: u64) {
        self.add(json!({ "event": "run", "seed": seed, "steps": steps }).to_string());
    }

    /// All of it as text, one event a line.
    pub fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, line| {
            text.push_str(line);
            text.push('\n');
            text
        })
    }
}

/// Steps through the text of a log: what it says, for people. Only what is about `item`, if one is given.
pub fn replay(text: &str, item: Option<&str>) -> Result<String, String> {
    let mut out = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let event: Value = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        let about = event["item"].as_str().or(event["stream"].as_str());
        let elsewhere = |wanted: &str| about.is_some_and(|it| it != wanted);
        if !item.is_some_and(elsewhere) {
            // Writing to memory does not fail.
            let _ = writeln!(out, "{}", sentence(&event));
        }
    }
    Ok(out)
}

/// One event in words; what has no words of its own is shown as it is.
fn sentence(event: &Value) -> String {
    let word = |name: &str| match &event[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if event["event"].is_null() {
        return format!("    {} {} {} {}", word("seq"), word("stream"), word("type"), word("data"));
    }
    let what = match event["event"].as_str().unwrap_or_default() {
        "run" => return format!("seed {}, {} steps", event["seed"], event["steps"]),
        "violation" => return format!("step {}: VIOLATION: {}\n    {}", word("step"), word("rule"), word("what")),
        "send" => {
            let mut text = format!("{} by {}: {}", word("operation"), word("by"), word("action"));
            let _ = write!(text, "\n    -> {}", word("outcome"));
            text
        }
        other => {
            let told = event.as_object().into_iter().flatten();
            let rest = told.filter(|(name, _)| !matches!(name.as_str(), "event" | "step" | "at" | "process"));
            rest.fold(other.to_owned(), |text, (name, value)| format!("{text} {name}={value}"))
        }
    };
    let process = event["process"].as_u64().map(|it| format!(" [process {it}]")).unwrap_or_default();
    format!("step {} {}{process} {what}", word("step"), word("at"))
}
