//! Claude Code: `claude -p`, which prints its session as a stream of events.

use querent_core::ProgramHandle;
use serde_json::{Value, json};

use super::profile::{Call, Exit, Reader, handle, has, tokens};
use crate::normalise;
use crate::order::Order;
use crate::program::Said;
use crate::run::{Failure, FailureKind};
use crate::signal::{Signal, Usage};

/// It is handed Querent's tools by a flag, and leave to use them.
pub(super) fn call(given: &[String], order: &Order, resume: Option<&ProgramHandle>) -> Call {
    let mut arguments = given.to_vec();
    let mut add = |more: &[&str]| arguments.extend(more.iter().map(|it| (*it).to_owned()));
    if !has(given, &["-p", "--print"]) {
        add(&["-p"]);
    }
    if !has(given, &["--output-format"]) {
        add(&["--output-format", "stream-json"]);
    }
    // It refuses to print events without this.
    let is_stream = !has(given, &["--output-format"]) || given.iter().any(|it| it.ends_with("stream-json"));
    if is_stream && !has(given, &["--verbose"]) {
        add(&["--verbose"]);
    }
    if let Some(handle) = resume {
        add(&["--resume", handle.as_str()]);
    }
    if let Some(mcp) = &order.mcp {
        let server = json!({"command": mcp.program.to_string_lossy(), "args": mcp.arguments, "alwaysLoad": true});
        let config = json!({"mcpServers": {"querent": server}}).to_string();
        add(&["--mcp-config", &config, "--allowedTools", "mcp__querent"]);
    }
    Call { arguments, ..Call::default() }
}

/// Reads its events, or the one result that it prints when it is told to print no more.
#[derive(Debug, Default)]
pub(super) struct Claude {
    handle: Option<ProgramHandle>,
    result: Option<Outcome>,
    /// What it printed that is no event.
    said: Said,
}

/// What its last event says.
#[derive(Debug)]
enum Outcome {
    Text(String),
    /// It ended at a call that was put off, in order to wait.
    Deferred,
    Failed(String),
}

impl Reader for Claude {
    fn line(&mut self, line: &str) -> Vec<Signal> {
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Array(events)) => events.iter().flat_map(|event| self.event(event)).collect(),
            Ok(event) if event["type"].is_string() => self.event(&event),
            Ok(_) | Err(_) => {
                self.said.push(line);
                self.said.push("\n");
                Vec::new()
            }
        }
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure> {
        match self.result {
            Some(Outcome::Failed(why)) => Err(exit.failure(Some(&why))),
            _ if exit.code != Some(0) => Err(exit.failure(None)),
            Some(Outcome::Deferred) => Ok(Vec::new()),
            Some(Outcome::Text(text)) => Ok(normalise::final_text(&text)),
            None if self.said.text().trim().is_empty() => {
                Err(Failure::new(FailureKind::Unreadable, format!("{} ended without a result", exit.program)))
            }
            None => Ok(normalise::final_text(self.said.text())),
        }
    }
}

impl Claude {
    fn event(&mut self, event: &Value) -> Vec<Signal> {
        match event["type"].as_str() {
            Some("system") if event["subtype"] == "init" => {
                handle(&mut self.handle, &event["session_id"]).into_iter().collect()
            }
            Some("result") => self.result(event),
            _ => Vec::new(),
        }
    }

    fn result(&mut self, event: &Value) -> Vec<Signal> {
        let outcome = if event["is_error"] == true {
            Outcome::Failed(complaint(event))
        } else if event["stop_reason"] == "tool_deferred" {
            Outcome::Deferred
        } else {
            Outcome::Text(event["result"].as_str().unwrap_or_default().to_owned())
        };
        // The session that could not be resumed is named as well.
        let session = match outcome {
            Outcome::Failed(_) => None,
            Outcome::Text(_) | Outcome::Deferred => handle(&mut self.handle, &event["session_id"]),
        };
        self.result = Some(outcome);
        let usage = &event["usage"];
        let input = tokens(usage, &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]);
        let usage = Usage { input_tokens: input, output_tokens: tokens(usage, &["output_tokens"]) };
        session.into_iter().chain([Signal::Usage(usage)]).collect()
    }
}

/// What went wrong, in its own words.
fn complaint(event: &Value) -> String {
    let errors = event["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
    let said = event["result"].as_str().filter(|said| !said.is_empty());
    let subtype = event["subtype"].as_str().unwrap_or("it says no more");
    said.map_or_else(|| if errors.is_empty() { subtype.to_owned() } else { errors.join("; ") }, str::to_owned)
}
