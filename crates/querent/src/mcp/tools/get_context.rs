//! `get_context`: what an agent should know when it goes on.

use std::sync::Arc;

use querent_core::{Context, ItemId};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{any_object, arguments, reply, text};

pub(super) const TOOL: Tool = Tool {
    name: "get_context",
    title: "What to know before going on",
    description: "\
What you should know when you begin or go on with an item: assumptions that were overturned (redo what you built on them), \
open questions, the last answers, assumptions that stand, and what was learned from people's answers. Call it first.",
    nature: Nature::Reads,
    waited: None,
    input,
    output,
    run: |arguments, call| Box::pin(async move { run(arguments, &call) }),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    item: Option<ItemId>,
}

fn run(arguments: JsonObject, call: &Call) -> Result<Said, Halt> {
    let Args { item } = super::read(arguments)?;
    let item = call.item(item)?;
    let agent = call.caller().agent()?;
    call.look(|hub| {
        let (item, open, answered) = hub.context(&item, agent)?;
        let knowledge = hub.knowledge()?;
        let told = Context::new(&item, agent, &open, &answered, &knowledge);
        Ok(Said::new(&told, told.markdown()))
    })
}

fn input() -> Arc<JsonObject> {
    arguments([("item", text("The item; without it, the server's own or the only one"))], &[])
}

fn output() -> Arc<JsonObject> {
    let list = |what: &str| json!({ "type": "array", "description": what });
    reply(
        [
            ("item", any_object("The item")),
            ("agent", text("You")),
            ("overturned", list("Assumptions that turned out to be wrong")),
            ("open_questions", list("What waits for an answer")),
            ("answers", list("The last answers, newest first")),
            ("assumptions", list("Assumptions that stand")),
            ("learned", list("What was learned from people's answers")),
        ],
        &[],
    )
}
