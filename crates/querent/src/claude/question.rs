//! The question that a call of `question_create` asks: byte for byte the command that the MCP server makes of it, so that the
//! call that follows is a replay and no second question.

use querent_core::{Action, Ask, Command, ItemId, Kind, OperationId, Party, Refusal, Via};
use querent_hub::Handle;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Input, Seat};

/// The command, and the operation id that the MCP server gives it.
pub(super) fn of(hub: &Handle, seat: &Seat, input: &Input) -> Result<(Command, OperationId), Refusal> {
    let arguments = input.tool_input.as_object().cloned().unwrap_or_default();
    let (item, mut ask, operation) = asked(arguments)?;
    ask.session.clone_from(&seat.session);
    let item = item.or_else(|| seat.item.clone()).map_or_else(|| hub.only_item(), Ok)?;
    let operation = operation.map_or_else(|| format!("claudecode/toolUseId:{}", input.tool_use_id).parse(), Ok)?;
    let by = Party::Agent(seat.agent.clone());
    Ok((Command { item, by, via: Via::Cli, action: Action::Ask(Box::new(ask)) }, operation))
}

/// Whether the asker waits, by what it says itself.
pub(super) fn blocks(command: &Command) -> bool {
    match &command.action {
        Action::Ask(ask) => ask.blocking.unwrap_or(ask.kind.is_none_or(|kind| kind == Kind::Blocking)),
        _ => false,
    }
}

fn asked(mut arguments: Map<String, Value>) -> Result<(Option<ItemId>, Ask, Option<OperationId>), Refusal> {
    let item = arguments.remove("item").map(read).transpose()?.flatten();
    let operation = arguments.remove("operation_id").map(read).transpose()?.flatten();
    arguments.remove("wait_seconds");
    if let Some(Value::String(kind)) = arguments.get("expected").cloned() {
        arguments.insert("expected".to_owned(), json!({ "kind": kind }));
    }
    if let Some(Value::Array(options)) = arguments.get_mut("options") {
        for option in options {
            if let Value::String(label) = option {
                *option = json!({ "id": label, "label": label });
            }
        }
    }
    Ok((item, read(Value::Object(arguments))?, operation))
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| {
        Refusal::invalid("arguments", format!("the arguments do not fit: {error}"), "the tool itself says what fits")
    })
}
