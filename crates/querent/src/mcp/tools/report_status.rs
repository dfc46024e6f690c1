//! `report_status`: how the work goes.

use std::sync::Arc;

use querent_core::monitor::{FindingKind, Severity};
use querent_core::{Action, Alarm, ItemId, OperationId, SharedAction, SharedCommand, Via};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{any_object, arguments, or_null, reply, text};

pub(super) const TOOL: Tool = Tool {
    name: "report_status",
    title: "Report how the work goes",
    description: "\
Say how your work on an item goes. working: you began or go on. done: your step is finished, and the item goes to the next \
one. stuck: you cannot go on and no question would help; people are alerted, so say why in note.",
    nature: Nature::Adds,
    waited: None,
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    item: Option<ItemId>,
    status: How,
    note: Option<String>,
    operation_id: Option<OperationId>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum How {
    Working,
    Done,
    Stuck,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { item, status, note, operation_id } = super::read(arguments)?;
    let item = call.item(item)?;
    let session = call.caller().session(&item)?;
    let own = call.caller().session.clone();
    let action = match status {
        How::Done => Action::FinishSession { session: own, keep: false },
        How::Working | How::Stuck => Action::StartSession { session: own, process: None },
    };
    if status == How::Stuck {
        let message = note.unwrap_or_else(|| "it gave no reason".to_owned());
        let alarm = Alarm {
            kind: FindingKind::StuckTask,
            severity: Severity::Warning,
            source: session.to_string(),
            message: format!("{session} says that it is stuck: {}", message.chars().take(1_000).collect::<String>()),
            context: json!({ "session": session, "item": item }),
        };
        let by = call.caller().party()?.clone();
        let raise = SharedCommand { by, via: Via::Mcp, action: SharedAction::Raise(Box::new(alarm)) };
        call.execute_shared(raise, operation_id).await?.read::<serde_json::Value>()?;
        let view = call.look(|hub| Ok(querent_core::view::ItemView::of(&hub.item(&item)?)))?;
        let reply = json!({ "session": null, "item": view, "alerted": true });
        return Ok(Said::new(&reply, "People are alerted. Ask a question if an answer would help."));
    }
    let envelope = call.execute(item, action, operation_id).await?;
    Said::reply(&envelope, |at| format!("Item {} stands in {}.", at("/item/id"), at("/item/stage")))
}

fn input() -> Arc<JsonObject> {
    let status = json!({ "type": "string", "enum": ["working", "done", "stuck"], "description": "How it goes" });
    arguments(
        [
            ("item", text("The item; without it, the server's own or the only one")),
            ("status", status),
            ("note", text("In a sentence; for stuck, why")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["status"],
    )
}

fn output() -> Arc<JsonObject> {
    reply(
        [
            ("session", or_null(any_object("Your session"))),
            ("item", any_object("The item")),
            ("alerted", json!({ "type": "boolean", "description": "People were alerted" })),
        ],
        &["alerted"],
    )
}
