//! What Claude Code sends to a hook. It sends more, and more with every version; what is not needed is passed over.

use querent_core::{ProgramHandle, Refusal};
use serde::Deserialize;
use serde_json::Value;

/// The JSON on a hook's standard input.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Input {
    /// Which hook it is.
    #[serde(rename = "hook_event_name")]
    pub(crate) event: String,
    session_id: String,
    /// Where the session works.
    pub(crate) cwd: String,
    /// The tool that is called.
    pub(crate) tool_name: String,
    /// Its arguments.
    #[serde(rename = "tool_input")]
    pub(crate) arguments: Value,
    /// The id of the call.
    pub(crate) tool_use_id: String,
    /// What came of it.
    pub(crate) tool_response: Value,
    /// Whether the session goes on because of an earlier Stop hook.
    pub(crate) stop_hook_active: bool,
    /// The subagent that calls, if it is one.
    pub(crate) agent_id: Option<String>,
    /// What a form says.
    pub(crate) message: String,
}

impl Input {
    /// Reads it.
    pub(crate) fn read(text: &str) -> Result<Self, Refusal> {
        let input: Self = serde_json::from_str(text).map_err(|error| {
            let hint = "run it as a hook of Claude Code, which sends JSON on standard input";
            Refusal::invalid("stdin", format!("this is no hook of Claude Code: {error}"), hint)
        })?;
        if input.event.is_empty() {
            let hint = "run it as a hook of Claude Code, which sends JSON on standard input";
            return Err(Refusal::invalid("hook_event_name", "`hook_event_name` is missing", hint));
        }
        Ok(input)
    }

    /// What Claude calls the session.
    pub(crate) fn handle(&self) -> Result<ProgramHandle, Refusal> {
        self.session_id.parse()
    }

    /// The tool of this MCP server that is called, if it is one of it.
    pub(crate) fn tool_of(&self, server: &str) -> Option<&str> {
        self.tool_name.strip_prefix("mcp__")?.strip_prefix(server)?.strip_prefix("__")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_claude_adds_is_passed_over() {
        let text = r#"{"hook_event_name":"PreToolUse","session_id":"be40-6c","cwd":"/shop","effort":{"level":"medium"},
            "tool_name":"mcp__querent__question_create","tool_input":{"topic":"T"},"tool_use_id":"toolu_1"}"#;

        let input = Input::read(text).unwrap();

        assert_eq!((input.event.as_str(), input.handle().unwrap().as_str()), ("PreToolUse", "be40-6c"));
        assert_eq!(input.tool_of("querent"), Some("question_create"));
        assert_eq!(input.tool_of("other"), None);
    }

    #[test]
    fn what_is_no_hook_is_refused() {
        for text in ["", "{}", "[]", "{\"hook_event_name\":3}"] {
            assert!(Input::read(text).is_err(), "{text}");
        }
    }
}
