//! Codex: `codex exec --json`, which prints its thread as a stream of events.

use querent_core::ProgramHandle;
use serde_json::{Value, json};

use super::profile::{Call, Exit, Reader, handle, has, tokens};
use crate::normalise;
use crate::order::Order;
use crate::run::Failure;
use crate::signal::{Signal, Usage};

/// It is handed Querent's tools by settings on its command line, and leave to use them, which its sandbox needs.
pub(super) fn call(given: &[String], order: &Order, resume: Option<&ProgramHandle>) -> Call {
    let mut arguments: Vec<String> = given.iter().filter(|it| *it != "-").cloned().collect();
    if !has(given, &["exec", "e"]) {
        arguments.insert(0, "exec".to_owned());
    }
    let mut add = |more: &[&str]| arguments.extend(more.iter().map(|it| (*it).to_owned()));
    // Not all that `exec` takes may stand behind `resume`.
    if let Some(handle) = resume {
        add(&["resume", handle.as_str()]);
    }
    for option in ["--json", "--skip-git-repo-check"] {
        if !has(given, &[option]) {
            add(&[option]);
        }
    }
    if let Some(mcp) = &order.mcp {
        // A string of JSON is one of TOML.
        let program = json!(mcp.program.to_string_lossy());
        add(&["-c", &format!("mcp_servers.querent.command={program}")]);
        add(&["-c", &format!("mcp_servers.querent.args={}", json!(mcp.arguments))]);
        add(&["-c", "mcp_servers.querent.default_tools_approval_mode=\"approve\""]);
    }
    add(&["-"]);
    Call { arguments, ..Call::default() }
}

/// Reads its events. What it says of tokens counts its whole thread, earlier turns included.
#[derive(Debug, Default)]
pub(super) struct Codex {
    handle: Option<ProgramHandle>,
    text: String,
    /// The last thing that went wrong; it may have got over it.
    error: Option<String>,
    has_failed: bool,
}

impl Reader for Codex {
    fn line(&mut self, line: &str) -> Vec<Signal> {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        match event["type"].as_str() {
            Some("thread.started") => handle(&mut self.handle, &event["thread_id"]).into_iter().collect(),
            Some("item.completed") if event["item"]["type"] == "agent_message" => {
                event["item"]["text"].as_str().unwrap_or_default().clone_into(&mut self.text);
                Vec::new()
            }
            Some("turn.completed") => {
                let usage = &event["usage"];
                let (input, output) = (tokens(usage, &["input_tokens"]), tokens(usage, &["output_tokens"]));
                vec![Signal::Usage(Usage { input_tokens: input, output_tokens: output })]
            }
            Some("turn.failed") => {
                self.has_failed = true;
                self.complains(&event["error"]["message"])
            }
            Some("error") => self.complains(&event["message"]),
            _ => Vec::new(),
        }
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure> {
        if self.has_failed || exit.code != Some(0) {
            return Err(exit.failure(self.error.as_deref()));
        }
        Ok(normalise::final_text(&self.text))
    }
}

impl Codex {
    fn complains(&mut self, message: &Value) -> Vec<Signal> {
        self.error = message.as_str().map(str::to_owned).or(self.error.take());
        Vec::new()
    }
}
