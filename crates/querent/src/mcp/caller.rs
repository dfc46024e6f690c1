//! Who calls, and which call it is.

use querent_core::{AgentName, Code, ItemId, OperationId, Party, Refusal, SessionId};
use rmcp::model::RequestMetaObject;
use serde_json::{Value, json};

/// Who speaks through a server. Fixed when the server is made: no argument of a call changes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caller {
    /// The agent, or the person; nobody may only read.
    pub(crate) party: Option<Party>,
    /// The item of calls that name none.
    pub(crate) item: Option<ItemId>,
    /// The agent's session; without one, `<agent>@<item>`.
    pub(crate) session: Option<SessionId>,
}

impl Caller {
    /// Whoever acts. A server that knows no caller only reads.
    pub(crate) fn party(&self) -> Result<&Party, Refusal> {
        self.party.as_ref().ok_or_else(|| {
            let hint = "call the server of an agent: querent mcp --agent engineer, or /mcp/engineer";
            Refusal::new(Code::Unauthorized, "this server does not know who calls, so it only reads", hint)
        })
    }

    /// The agent that acts.
    pub(crate) fn agent(&self) -> Result<&AgentName, Refusal> {
        let party = self.party()?;
        party.agent().ok_or_else(|| {
            let hint = "use a server that was started for an agent: querent mcp --agent engineer";
            Refusal::invalid("agent", format!("this is for agents, not for `{party}`"), hint)
                .with(json!({ "field": "agent", "caller": party }))
        })
    }

    /// Its session on an item.
    pub(crate) fn session(&self, item: &ItemId) -> Result<SessionId, Refusal> {
        self.session.clone().map_or_else(|| Ok(SessionId::of(self.agent()?, item)), Ok)
    }
}

/// Where clients put the id of a call that stays the same when they send it again.
const CALL_IDS: [&str; 2] = ["claudecode/toolUseId", "callId"];

/// The operation id of a call whose client gave it an id of its own.
pub(crate) fn operation(meta: &RequestMetaObject) -> Option<OperationId> {
    let text = |key: &str| meta.0.0.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (key, id) = CALL_IDS.into_iter().find_map(|key| Some((key, text(key)?)))?;
    // A thread's calls are numbered by its client, so only both together are unique.
    let thread = if key == "callId" { text("threadId").map(|thread| format!("{thread}/")) } else { None };
    format!("{key}:{}{id}", thread.unwrap_or_default()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(value: Value) -> RequestMetaObject {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_operation_is_named_after_the_clients_own_call() {
        let said = |value| operation(&meta(value)).map(|id| id.to_string());

        assert_eq!(said(json!({ "claudecode/toolUseId": "toolu_1" })).unwrap(), "claudecode/toolUseId:toolu_1");
        assert_eq!(said(json!({ "threadId": "t", "callId": "c" })).unwrap(), "callId:t/c");
        assert_eq!(said(json!({ "progressToken": 1 })), None);
        assert_eq!(said(json!({ "callId": "with space" })), None);
    }
}
