//! opencode: `opencode run --format json`, which prints parts of messages as events.

use querent_core::ProgramHandle;
use serde_json::{Value, json};

use super::profile::{Call, Exit, Reader, handle, has, tokens};
use crate::normalise;
use crate::order::Order;
use crate::program::Said;
use crate::run::Failure;
use crate::signal::{Signal, Usage};

/// Settings that it reads beside those of its files.
const SETTINGS: &str = "OPENCODE_CONFIG_CONTENT";

/// It has no flag for a server of tools, and is handed Querent's in a variable.
pub(super) fn call(given: &[String], order: &Order, resume: Option<&ProgramHandle>) -> Call {
    let mut arguments = given.to_vec();
    if !has(given, &["run"]) {
        arguments.insert(0, "run".to_owned());
    }
    let mut add = |more: &[&str]| arguments.extend(more.iter().map(|it| (*it).to_owned()));
    if !has(given, &["--format"]) {
        add(&["--format", "json"]);
    }
    if let Some(handle) = resume {
        add(&["--session", handle.as_str()]);
    }
    let settings = order.mcp.as_ref().map(|mcp| {
        let program = mcp.program.to_string_lossy().into_owned();
        let command: Vec<&String> = [&program].into_iter().chain(&mcp.arguments).collect();
        json!({"mcp": {"querent": {"type": "local", "command": command, "enabled": true}}}).to_string()
    });
    Call { arguments, env: settings.map(|settings| (SETTINGS.to_owned(), settings)).into_iter().collect() }
}

/// Reads its events. What its last message says is what it came to.
#[derive(Debug, Default)]
pub(super) struct Opencode {
    handle: Option<ProgramHandle>,
    message: String,
    said: Said,
    usage: Usage,
    error: Option<String>,
}

impl Reader for Opencode {
    fn line(&mut self, line: &str) -> Vec<Signal> {
        let event = serde_json::from_str::<Value>(line).ok().filter(|event| event["type"].is_string());
        let Some(event) = event else {
            self.said.push(line);
            self.said.push("\n");
            return Vec::new();
        };
        let mut signals: Vec<Signal> = handle(&mut self.handle, &event["sessionID"]).into_iter().collect();
        match event["type"].as_str() {
            Some("text") => self.says(&event["part"]),
            Some("step_finish") => signals.push(self.counts(&event["part"]["tokens"])),
            Some("error") => self.error = Some(complaint(&event["error"])),
            _ => {}
        }
        signals
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure> {
        if self.error.is_some() || exit.code != Some(0) {
            return Err(exit.failure(self.error.as_deref()));
        }
        Ok(normalise::final_text(self.said.text()))
    }
}

impl Opencode {
    fn says(&mut self, part: &Value) {
        let message = part["messageID"].as_str().unwrap_or_default();
        if message != self.message {
            message.clone_into(&mut self.message);
            self.said = Said::default();
        }
        self.said.push(part["text"].as_str().unwrap_or_default());
        self.said.push("\n");
    }

    fn counts(&mut self, step: &Value) -> Signal {
        let read = tokens(step, &["input"]).saturating_add(tokens(&step["cache"], &["read", "write"]));
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(read);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(tokens(step, &["output", "reasoning"]));
        Signal::Usage(self.usage)
    }
}

/// What went wrong, in its own words.
fn complaint(error: &Value) -> String {
    let said = error["data"]["message"].as_str().or_else(|| error["name"].as_str());
    said.unwrap_or("it says no more").to_owned()
}
