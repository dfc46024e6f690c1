//! What an agent is allowed when it asks: to read and edit below its directory, once, and to call Querent's own tools. Nobody
//! is there to be asked about anything else, so that is rejected, and put on record.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

/// What Querent's MCP server is called in a session.
pub(super) const SERVER: &str = "querent";

/// A request of the agent for permission.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wanted {
    tool_call: Call,
    options: Vec<Choice>,
}

/// What is known of a call of a tool. A request for permission says of it only what was not said before.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Call {
    tool_call_id: String,
    title: Option<String>,
    name: Option<String>,
    kind: Option<String>,
    locations: Option<Vec<Location>>,
    content: Option<Vec<Location>>,
}

/// The calls of which the agent has told.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<String, Call>);

impl Calls {
    /// How many are remembered. One that is forgotten is judged by what its request says.
    const MOST: usize = 256;

    /// Takes in what is said of a call.
    pub(super) fn learn(&mut self, call: Call) {
        let known = self.with(&call);
        self.0.insert(call.tool_call_id, known);
        if self.0.len() > Self::MOST {
            self.0.pop_first();
        }
    }

    /// All that is known of a call, if this is said of it now.
    fn with(&self, call: &Call) -> Call {
        let Some(known) = self.0.get(&call.tool_call_id) else { return call.clone() };
        Call {
            tool_call_id: call.tool_call_id.clone(),
            title: call.title.as_ref().or(known.title.as_ref()).cloned(),
            name: call.name.as_ref().or(known.name.as_ref()).cloned(),
            kind: call.kind.as_ref().or(known.kind.as_ref()).cloned(),
            locations: call.locations.as_ref().or(known.locations.as_ref()).cloned(),
            content: call.content.as_ref().or(known.content.as_ref()).cloned(),
        }
    }
}

/// A place that a call touches; also of a diff. Other contents have no path.
#[derive(Clone, Debug, Deserialize)]
struct Location {
    path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    /// The reply to the agent.
    pub(super) reply: Value,
    /// What it wanted.
    pub(super) title: String,
    pub(super) is_allowed: bool,
}

/// Decides on a request.
pub(super) fn decide(wanted: &Wanted, calls: &Calls, has_tools: bool, is_inside: impl Fn(&Path) -> bool) -> Decision {
    let call = &calls.with(&wanted.tool_call);
    let is_allowed = (has_tools && is_ours(call)) || is_harmless(call, is_inside);
    let choices: &[&str] = if is_allowed { &["allow_once"] } else { &[] };
    let choose = |kinds: &[&str]| kinds.iter().find_map(|kind| wanted.options.iter().find(|it| it.kind == *kind));
    let title: String = call.title.as_deref().unwrap_or("a tool").chars().take(200).collect();
    if let Some(choice) = choose(choices) {
        return Decision { reply: selected(choice), title, is_allowed: true };
    }
    // An agent that offers no way to say no is told that nobody said anything.
    let reply = choose(&["reject_once", "reject_always"]).map_or_else(cancelled, selected);
    Decision { reply, title, is_allowed: false }
}

/// The reply where the turn is to stop.
pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn selected(choice: &Choice) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": choice.option_id}})
}

/// Whether it reads or edits named files, all of them inside.
fn is_harmless(call: &Call, is_inside: impl Fn(&Path) -> bool) -> bool {
    let places = call.locations.iter().chain(&call.content).flatten();
    let mut paths = places.filter_map(|place| place.path.as_deref()).peekable();
    matches!(call.kind.as_deref(), Some("read" | "edit"))
        && paths.peek().is_some()
        && paths.all(|path| is_inside(Path::new(path)))
}

/// Whether it calls a tool of our server, by the names that agents give it: `mcp__querent__x`, `x (querent MCP Server)`. A call
/// that says that it does something else, like running a command, is none, whatever its title.
fn is_ours(call: &Call) -> bool {
    let name = call.name.as_deref().or(call.title.as_deref()).unwrap_or_default();
    let before = || name.strip_prefix("mcp__")?.strip_prefix(SERVER)?.strip_prefix("__");
    let after = || name.strip_suffix(" MCP Server)")?.strip_suffix(SERVER)?.strip_suffix(" (");
    let is_tool = |tool: &str| !tool.is_empty() && tool.bytes().all(|it| it.is_ascii_lowercase() || it == b'_');
    before().or_else(after).is_some_and(is_tool) && matches!(call.kind.as_deref(), None | Some("other"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(call: &Value, options: &[&str]) -> String {
        let options: Vec<Value> =
            options.iter().map(|kind| json!({"optionId": format!("id-{kind}"), "name": "x", "kind": kind})).collect();
        let wanted = json!({"sessionId": "s", "toolCall": call, "options": options});
        let wanted = serde_json::from_value(wanted).unwrap();
        let decision = decide(&wanted, &Calls::default(), true, |path| path.starts_with("/grounds"));
        assert_eq!(decision.title, call["title"].as_str().unwrap_or("a tool"));
        let outcome = &decision.reply["outcome"];
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
            json!({"title": "out", "kind": "edit", "locations": [{"path": "/grounds/a"}], "content": [{"type": "diff", "path": "/b"}]}),
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
                decide(&serde_json::from_value(wanted).unwrap(), &calls, true, |path| path.starts_with("/grounds"));
            assert_eq!(decision.is_allowed, is_allowed, "{id}");
        }
        for number in 0..1000 {
            calls.learn(Call { tool_call_id: number.to_string(), ..Call::default() });
        }
        assert_eq!(calls.0.len(), Calls::MOST);
    }
}
