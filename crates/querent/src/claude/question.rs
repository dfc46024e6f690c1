//! The question that a call of `question_create` asks: the same command, under the same operation id, that the MCP server makes
//! of it, so that the call that follows is a replay and no second question.

use querent_core::{Action, Command, Kind, OperationId, Party, Via};
use querent_hub::Handle;
use serde_json::json;

use super::{Input, Seat};
use crate::mcp::{Asked, asked, operation};

/// The command and its operation id; none if the call is malformed, which is for the tool to say.
pub(super) fn of(hub: &Handle, seat: &Seat, input: &Input) -> Option<(Command, OperationId)> {
    let Asked { item, mut ask, operation, .. } = asked(input.arguments.as_object()?.clone()).ok()?;
    ask.session.clone_from(&seat.session);
    let item = item.or_else(|| seat.item.clone()).or_else(|| hub.only_item().ok())?;
    let operation = operation.or_else(|| of_call(&input.tool_use_id))?;
    let by = Party::Agent(seat.agent.clone());
    Some((Command { item, by, via: Via::Mcp, action: Action::Ask(Box::new(ask)) }, operation))
}

/// The operation id of a call of Claude's, which arrives at the server as the call's metadata.
fn of_call(tool_use_id: &str) -> Option<OperationId> {
    operation(&serde_json::from_value(json!({ "claudecode/toolUseId": tool_use_id })).ok()?)
}

/// Whether the asker waits, by what it says itself.
pub(super) fn blocks(command: &Command) -> bool {
    match &command.action {
        Action::Ask(ask) => ask.blocking.unwrap_or(ask.kind.is_none_or(|kind| kind == Kind::Blocking)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_is_that_of_the_mcp_server() {
        assert_eq!(of_call("toolu_01").unwrap().to_string(), "claudecode/toolUseId:toolu_01");
        assert_eq!(of_call(""), None);
    }
}
