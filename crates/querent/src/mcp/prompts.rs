//! Prompts that people choose in their client.

use std::fmt::Write;

use querent_core::view::{Filter, thread};
use querent_core::{ItemId, Refusal, guide};
use querent_hub::Handle;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::caller::Caller;

/// All of them.
pub(crate) fn list() -> Vec<Prompt> {
    let item = PromptArgument::new("item")
        .with_description("The item, like 42; without it, the server's own or the only one")
        .with_required(false);
    let clarify = "What is unclear on an item: its questions that are not settled, with their threads";
    let ask_well = "How to ask so that the answer comes soon and is right, and when not to ask";
    vec![
        Prompt::new("clarify", Some(clarify), Some(vec![item])).with_title("Clarify an item"),
        Prompt::new("ask-well", Some(ask_well), None).with_title("How to ask well"),
    ]
}

/// One of them, as it is now.
pub(crate) fn get(
    hub: &Handle,
    caller: &Caller,
    name: &str,
    arguments: &JsonObject,
) -> Result<Result<GetPromptResult, ErrorData>, Refusal> {
    let text = match name {
        "clarify" => match arguments.get("item").and_then(Value::as_str) {
            Some(item) => match item.parse() {
                Ok(item) => clarify(hub, &item)?,
                Err(refusal) => return Ok(Err(wrong(&refusal))),
            },
            None => clarify(hub, &caller.item.clone().map_or_else(|| hub.only_item(), Ok)?)?,
        },
        "ask-well" => {
            let agent = caller.party.as_ref().and_then(|party| party.agent());
            guide(hub.rules()?.as_ref(), agent)?.markdown()
        }
        _ => {
            let shown: String = name.chars().take(100).collect();
            let message = format!("there is no prompt `{shown}`; there are clarify and ask-well");
            return Ok(Err(ErrorData::invalid_params(message, None)));
        }
    };
    Ok(Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])))
}

fn wrong(refusal: &Refusal) -> ErrorData {
    ErrorData::invalid_params(format!("{}; {}", refusal.message, refusal.hint), None)
}

fn clarify(hub: &Handle, id: &ItemId) -> Result<String, Refusal> {
    let item = hub.item(id)?;
    let questions = hub.questions(Some(id), &Filter::default())?;
    let mut text = format!("# Item {id}: {}\n\nIt stands in {}.\n", item.title, item.stage);
    if questions.is_empty() {
        text.push_str("\nNothing is unclear: every question is settled.\n");
    }
    for question in &questions {
        let (from, to) = (&question.from.agent, &question.to);
        let _ = write!(text, "\n## {}: {} ({}, {from} asks {to})\n\n", question.id, question.topic, question.status);
        text.push_str(&thread(question, |at| at.to_string()));
    }
    text.push_str("\nSettle what you can: answer what is addressed to you, resolve what you have the answer to, ask on where an answer is not enough.\n");
    Ok(text)
}
