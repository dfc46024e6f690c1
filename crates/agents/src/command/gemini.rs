//! Gemini CLI: `gemini --output-format stream-json`, which prints its session as a stream of events.
//!
//! It takes servers of tools from its settings files alone: it has no flag or variable for them, and those of the system,
//! whose place a variable names, must belong to root. So Querent's tools are not handed to it; it asks by its output, or by
//! the tools that `querent connect gemini` gives it. In a folder that its user does not trust, it does not start.

use querent_core::ProgramHandle;
use serde_json::Value;

use super::profile::{Call, Exit, Reader, handle, has, tokens};
use crate::normalise;
use crate::order::Order;
use crate::program::Said;
use crate::run::Failure;
use crate::signal::{Signal, Usage};

/// It works without a person because its standard input is no terminal.
pub(super) fn call(given: &[String], _order: &Order, resume: Option<&ProgramHandle>) -> Call {
    let mut arguments = given.to_vec();
    let mut add = |more: &[&str]| arguments.extend(more.iter().map(|it| (*it).to_owned()));
    if !has(given, &["--output-format", "-o"]) {
        add(&["--output-format", "stream-json"]);
    }
    if let Some(handle) = resume {
        add(&["--resume", handle.as_str()]);
    }
    Call { arguments, ..Call::default() }
}

/// Reads its events, or the one object that it prints at its end when it is told to.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    handle: Option<ProgramHandle>,
    said: Said,
    error: Option<String>,
    has_events: bool,
}

impl Reader for Gemini {
    fn line(&mut self, line: &str) -> Vec<Signal> {
        let event = serde_json::from_str::<Value>(line).ok().filter(|event| event["type"].is_string());
        let Some(event) = event else {
            if !self.has_events {
                self.said.push(line);
                self.said.push("\n");
            }
            return Vec::new();
        };
        self.has_events = true;
        match event["type"].as_str() {
            Some("init") => return handle(&mut self.handle, &event["session_id"]).into_iter().collect(),
            Some("message") if event["role"] == "assistant" => self.says(&event),
            // What is said after a call is said anew.
            Some("tool_use") => self.said = Said::default(),
            Some("result") => return self.ends(&event),
            _ => {}
        }
        Vec::new()
    }

    fn finish(mut self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure> {
        let whole = serde_json::from_str::<Value>(self.said.text()).ok().filter(|_| !self.has_events);
        let whole = whole.filter(|it| it["session_id"].is_string() || it["error"].is_object());
        let mut signals = Vec::new();
        if let Some(whole) = &whole {
            self.error = whole["error"]["message"].as_str().map(str::to_owned);
            signals.extend(handle(&mut self.handle, &whole["session_id"]));
            signals.push(Signal::Usage(usage_of(&whole["stats"]["models"])));
        }
        if self.error.is_some() || exit.code != Some(0) {
            return Err(exit.failure(self.error.as_deref()));
        }
        let said = whole.as_ref().map_or(self.said.text(), |it| it["response"].as_str().unwrap_or_default());
        signals.extend(normalise::final_text(said));
        Ok(signals)
    }
}

impl Gemini {
    fn says(&mut self, message: &Value) {
        if message["delta"] != true {
            self.said = Said::default();
        }
        self.said.push(message["content"].as_str().unwrap_or_default());
    }

    fn ends(&mut self, result: &Value) -> Vec<Signal> {
        if result["status"] == "error" {
            let said = result["error"]["message"].as_str().unwrap_or("it says no more");
            self.error = Some(said.to_owned());
        }
        let stats = &result["stats"];
        let (input, output) = (tokens(stats, &["input_tokens"]), tokens(stats, &["output_tokens"]));
        vec![Signal::Usage(Usage { input_tokens: input, output_tokens: output })]
    }
}

/// What all models together cost.
fn usage_of(models: &Value) -> Usage {
    let models = models.as_object().into_iter().flat_map(|models| models.values());
    models.fold(Usage::default(), |sum, model| Usage {
        input_tokens: sum.input_tokens.saturating_add(tokens(&model["tokens"], &["prompt"])),
        output_tokens: sum.output_tokens.saturating_add(tokens(&model["tokens"], &["candidates", "thoughts"])),
    })
}
