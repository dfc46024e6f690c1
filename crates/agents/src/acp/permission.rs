//! What an agent is allowed when it asks: to read and edit below its directory, once, and to call Querent's own tools. Nobody
//! is there to be asked about anything else, so that is rejected, and put on record.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, ToolCall, ToolCallContent, ToolCallUpdate, ToolKind,
};

/// What Querent's MCP server is called in a session.
pub(super) const SERVER: &str = "querent";

/// The calls of which the agent has told. A request for permission says of one only what was not said before.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<Arc<str>, ToolCall>);

impl Calls {
    /// How many are remembered. One that is forgotten is judged by what its request says.
    const MOST: usize = 256;

    /// Takes in what is said of a call.
    pub(super) fn learn(&mut self, said: ToolCallUpdate) {
        let mut call = self.with(said);
        // Only the places that it touches are of use.
        (call.raw_input, call.raw_output) = (None, None);
        call.content.retain_mut(|content| match content {
            ToolCallContent::Diff(diff) => {
                (diff.old_text, diff.new_text) = (None, String::new());
                true
            }
            _ => false,
        });
        self.0.insert(Arc::clone(&call.tool_call_id.0), call);
        if self.0.len() > Self::MOST {
            self.0.pop_first();
        }
    }

    /// All that is known of a call, if this is said of it now.
    fn with(&self, said: ToolCallUpdate) -> ToolCall {
        let known = self.0.get(&said.tool_call_id.0).cloned();
        let mut call = known.unwrap_or_else(|| ToolCall::new(said.tool_call_id, "a tool"));
        call.update(said.fields);
        call
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    /// The reply to the agent.
    pub(super) reply: RequestPermissionResponse,
    /// What it wanted.
    pub(super) title: String,
    pub(super) is_allowed: bool,
}

/// Decides on a request.
pub(super) fn decide(
    wanted: RequestPermissionRequest,
    calls: &Calls,
    has_tools: bool,
    is_inside: impl Fn(&Path) -> bool,
) -> Decision {
    let call = calls.with(wanted.tool_call);
    let options = &wanted.options;
    let choose = |kind: PermissionOptionKind| options.iter().find(|option| option.kind == kind).map(selected);
    let title: String = call.title.chars().take(200).collect();
    let is_allowed = (has_tools && is_ours(&call)) || is_harmless(&call, is_inside);
    if let Some(reply) = choose(PermissionOptionKind::AllowOnce).filter(|_| is_allowed) {
        return Decision { reply, title, is_allowed: true };
    }
    // An agent that offers no way to say no is told that nobody said anything.
    let reject = choose(PermissionOptionKind::RejectOnce).or_else(|| choose(PermissionOptionKind::RejectAlways));
    Decision { reply: reject.unwrap_or_else(cancelled), title, is_allowed: false }
}

/// The reply where the turn is to stop.
pub(super) fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}

fn selected(option: &PermissionOption) -> RequestPermissionResponse {
    let selected = SelectedPermissionOutcome::new(option.option_id.clone());
    RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
}

/// Whether it reads or edits named files, all of them inside.
fn is_harmless(call: &ToolCall, is_inside: impl Fn(&Path) -> bool) -> bool {
    let changed = call.content.iter().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    });
    let mut paths = call.locations.iter().map(|location| &location.path).chain(changed).peekable();
    matches!(call.kind, ToolKind::Read | ToolKind::Edit) && paths.peek().is_some() && paths.all(|path| is_inside(path))
}

/// Whether it calls a tool of our server, by the names that agents give it: `mcp__querent__x`, `x (querent MCP Server)`. A call
/// that says that it does something else, like running a command, is none, whatever its title.
fn is_ours(call: &ToolCall) -> bool {
    let name = call.name.as_deref().unwrap_or(&call.title);
    let before = || name.strip_prefix("mcp__")?.strip_prefix(SERVER)?.strip_prefix("__");
    let after = || name.strip_suffix(" MCP Server)")?.strip_suffix(SERVER)?.strip_suffix(" (");
    let is_tool = |tool: &str| !tool.is_empty() && tool.bytes().all(|it| it.is_ascii_lowercase() || it == b'_');
    before().or_else(after).is_some_and(is_tool) && call.kind == ToolKind::Other
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::ToolCallUpdateFields;
    use serde_json::{Value, json};

    use super::*;

    fn decided(call: &Value, options: &[&str]) -> String {
        let options: Vec<Value> =
            options.iter().map(|kind| json!({"optionId": format!("id-{kind}"), "name": "x", "kind": kind})).collect();
        let mut wanted = json!({"sessionId": "s", "toolCall": call, "options": options});
        wanted["toolCall"]["toolCallId"] = json!("1");
        let wanted = serde_json::from_value(wanted).unwrap();
        let decision = decide(wanted, &Calls::default(), true, |path| path.starts_with("/grounds"));
        assert_eq!(decision.title, call["title"].as_str().unwrap_or("a tool"));
        let outcome = serde_json::to_value(&decision.reply).unwrap()["outcome"].take();
        let choice = outcome["optionId"].as_str().or(outcome["outcome"].as_str()).unwrap().to_owned();
        assert_eq!(decision.is_allowed, choice == "id-allow_once");
        choice
    }

    const ALL: &[&str] = &["allow_always", "allow_once", "reject_always", "reject_once"];

    #[test]
    fn reading_and_editing_inside_is_allowed_once() {
        for kind in ["read", "edit"] {
            let call = json!({"toolCallId": "1", "title": "a.rs", "kind": kind, "locations": [{"path": "/grounds/a.rs", "line": 3}]});
            assert_eq!(decided(&call, ALL), "id-allow_once");
        }
        let diff = json!({"kind": "edit", "content": [{"type": "content", "content": {"type": "text", "text": "x"}},
            {"type": "diff", "path": "/grounds/a.rs", "newText": "x"}]});
        assert_eq!(decided(&diff, ALL), "id-allow_once");
    }

    #[test]
    fn everything_else_is_rejected() {
        for call in [
            json!({"title": "rm", "kind": "execute", "locations": [{"path": "/grounds/a.rs"}]}),
            json!({"title": "out", "kind": "edit", "locations": [{"path": "/grounds/a.rs"}, {"path": "/etc/passwd"}]}),
            json!({"title": "out", "kind": "edit", "locations": [{"path": "/grounds/a"}], "content": [{"type": "diff", "path": "/b", "newText": ""}]}),
            json!({"title": "unknown places", "kind": "read", "locations": []}),
            json!({"title": "unknown places", "kind": "read"}),
            json!({"title": "no kind", "locations": [{"path": "/grounds/a.rs"}]}),
        ] {
            assert_eq!(decided(&call, ALL), "id-reject_once", "{call}");
        }
    }

    #[test]
    fn what_is_not_offered_is_not_chosen() {
        let read = json!({"kind": "read", "locations": [{"path": "/grounds/a.rs"}]});
        assert_eq!(decided(&read, &["allow_always", "reject_once"]), "id-reject_once");
        assert_eq!(decided(&read, &["allow_always", "reject_always"]), "id-reject_always");
        assert_eq!(decided(&read, &["allow_always"]), "cancelled");
    }

    #[test]
    fn our_own_tools_are_allowed() {
        for call in [
            json!({"title": "mcp__querent__question_create", "kind": "other"}),
            json!({"title": "mcp__querent__await_answer"}),
            json!({"title": "await_answer (querent MCP Server)", "kind": "other", "locations": []}),
        ] {
            assert_eq!(decided(&call, ALL), "id-allow_once", "{call}");
        }
        for call in [
            json!({"title": "mcp__querent__question_create", "kind": "execute"}),
            json!({"title": "mcp__querent__x; rm -rf /", "kind": "other"}),
            json!({"title": "mcp__querent__x", "name": "Bash", "kind": "other"}),
            json!({"title": "mcp__other__question_create", "kind": "other"}),
            json!({"title": "ask (other MCP Server)", "kind": "other"}),
            json!({"title": "rm x (querent MCP Server)", "kind": "other"}),
        ] {
            assert_eq!(decided(&call, ALL), "id-reject_once", "{call}");
        }
    }

    #[test]
    fn what_was_said_of_a_call_before_counts() {
        let mut calls = Calls::default();
        let mut learn = |call: Value| calls.learn(serde_json::from_value(call).unwrap());
        learn(json!({"toolCallId": "1", "title": "Write", "kind": "edit", "locations": []}));
        learn(json!({"toolCallId": "1", "title": "Write a.rs", "locations": [{"path": "/grounds/a.rs"}]}));
        learn(json!({"toolCallId": "2", "title": "Write b.rs", "kind": "edit", "locations": [{"path": "/b.rs"}]}));
        learn(json!({"toolCallId": "3", "title": "mcp__querent__question_create", "kind": "execute"}));
        for (id, is_allowed) in [("1", true), ("2", false), ("3", false), ("4", false)] {
            let options = json!([{"optionId": "yes", "name": "Y", "kind": "allow_once"}]);
            let wanted = json!({"sessionId": "s", "toolCall": {"toolCallId": id}, "options": options});
            let decision =
                decide(serde_json::from_value(wanted).unwrap(), &calls, true, |path| path.starts_with("/grounds"));
            assert_eq!(decision.is_allowed, is_allowed, "{id}");
        }
        for number in 0..1000 {
            calls.learn(ToolCallUpdate::new(number.to_string(), ToolCallUpdateFields::new()));
        }
        assert_eq!(calls.0.len(), Calls::MOST);
    }
}
