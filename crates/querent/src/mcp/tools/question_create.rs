//! `question_create`: an agent asks.

use std::sync::Arc;

use querent_core::reply::{AskReply, BriefAskReply};
use querent_core::{Action, Ask, Blocker, Category, Item, ItemId, Kind, OperationId, Question, Refusal, Risk, advice};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Nature, Tool, misfit};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{answer, any_object, arguments, flag, next, number, or_null, reply, text, texts, word};
use crate::mcp::waiting::{self, MOST_SECONDS, Patience};

pub(super) const TOOL: Tool = Tool {
    name: "question_create",
    title: "Ask a question",
    description: "\
Ask a person or another agent when something is unclear and the answer would change what you do. Give one question a call, \
so that the reader understands it without your conversation, with the options that you see. A blocking question (the \
default) pauses the item until it is answered. With wait_seconds the call waits for the answer; if the reply is still open, \
call await_answer with its question_id. Sending the same call again never asks twice.",
    nature: Nature::Adds,
    waited: Some(told),
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

/// What was asked, and what is not part of the question itself.
pub(crate) struct Asked {
    /// The item, if one is named.
    pub(crate) item: Option<ItemId>,
    /// The question.
    pub(crate) ask: Ask,
    /// How long the call waits.
    pub(crate) patience: Patience,
    /// The id that makes it happen once.
    pub(crate) operation: Option<OperationId>,
}

/// What the arguments of a call ask. The session is the caller's own.
pub(crate) fn asked(mut arguments: JsonObject) -> Result<Asked, Halt> {
    #[derive(Deserialize)]
    struct Beside {
        item: Option<ItemId>,
        wait_seconds: Option<u64>,
        operation_id: Option<OperationId>,
    }
    let mut beside = JsonObject::new();
    for name in ["item", "wait_seconds", "operation_id"] {
        beside.extend(arguments.remove_entry(name));
    }
    let Beside { item, wait_seconds, operation_id } = super::read(beside)?;
    for name in ["session", "from"] {
        if arguments.contains_key(name) {
            let hint = "leave it out: who asks is fixed when the server starts";
            return Err(Refusal::invalid(name, format!("`{name}` is not yours to choose"), hint).into());
        }
    }
    for name in ["topic", "prompt"] {
        if !arguments.contains_key(name) {
            return Err(misfit(".", &serde::de::Error::missing_field(name)));
        }
    }
    loosen(&mut arguments);
    let ask = super::read(arguments)?;
    Ok(Asked { item, ask, patience: Patience::of(wait_seconds, 0), operation: operation_id })
}

/// Models write short forms; each means one thing.
fn loosen(arguments: &mut JsonObject) {
    if let Some(expected) = arguments.get_mut("expected")
        && let Value::String(kind) = expected
    {
        *expected = json!({ "kind": kind });
    }
    if let Some(Value::Array(options)) = arguments.get_mut("options") {
        for option in options {
            if let Value::String(label) = option {
                *option = json!({ "id": label, "label": label });
            }
        }
    }
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Asked { item, mut ask, patience, operation } = asked(arguments)?;
    ask.session.clone_from(&call.caller().session);
    let (id, reused, advised) = if let Some(question) = call.resumed()? {
        (question, false, None)
    } else {
        let item = call.item(item)?;
        let reply = BriefAskReply::of(&call.execute(item, Action::Ask(Box::new(ask)), operation).await?)?;
        (reply.question_id, reply.reused, Some(reply.advice))
    };
    let (question, item) = waiting::wait(&call, &id, patience).await?;
    let advice = advised.unwrap_or_else(|| advice(&question));
    Ok(told_with(&item, &question, advice).with("reused", reused))
}

/// The question as it is now.
pub(super) fn told(item: &Item, question: &Question) -> Said {
    told_with(item, question, advice(question))
}

fn told_with(item: &Item, question: &Question, advice: Vec<String>) -> Said {
    waiting::told(question, Said::new(&AskReply::of(Some(item), question, advice), waiting::words(question)))
}

fn input() -> Arc<JsonObject> {
    let option = json!({
        "type": "object",
        "properties": {
            "id": text("What a program answers: short, like redis"),
            "label": text("What a person reads"),
            "description": text("More about it"),
            "recommended": flag("You would take this one"),
            "implications": text("What follows from it"),
        },
        "required": ["id", "label"],
        "additionalProperties": false,
    });
    let fallback = json!({
        "type": "object",
        "description": "What you do if nobody answers in time. Only name one that is safe",
        "properties": {
            "answer": text("An option's id, or a value of the expected form"),
            "reason": text("Why it is safe"),
            "risk": word(Risk::ALL, Risk::as_str, "How bad it is if it is wrong"),
        },
        "required": ["answer", "reason"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "description": "What an answer must look like; single_choice if there are options, else text",
        "properties": {
            "kind": { "type": "string", "enum": ["text", "single_choice", "multi_choice", "boolean", "number", "json"] },
            "schema": any_object("The JSON Schema, for json"),
        },
        "required": ["kind"],
    });
    arguments(
        [
            ("item", text("The item that you work on; without it, the server's own or the only one")),
            ("to", text("Who is asked: human, or an agent; without it, the first that your step allows")),
            ("topic", text("The subject in a few words, up to 200 characters")),
            ("prompt", text("The question itself, up to 2000 characters; it must stand alone")),
            ("context", text("What the reader must know to answer, up to 2000 characters")),
            ("kind", word(Kind::ALL, Kind::as_str, "Why it is asked; only blocking, the default, blocks by itself")),
            (
                "category",
                word(Category::ALL, Category::as_str, "What sort of decision; all but clarification go to a human"),
            ),
            ("blocker", word(Blocker::ALL, Blocker::as_str, "What stands in the way without an answer")),
            ("options", json!({ "type": "array", "items": option, "description": "The choices, at most 20" })),
            ("expected", expected),
            ("allow_free_text", flag("An answer may leave the options")),
            ("blocking", flag("You wait for the answer; without it, as the kind says")),
            ("fallback", fallback),
            (
                "evidence",
                json!({
                    "type": "object",
                    "additionalProperties": { "type": "string" },
                    "description": "What you tried before asking, like {\"searched\": \"docs/adr\"}",
                }),
            ),
            ("complex", flag("The matter needed an investigation; put it into evidence")),
            ("details", any_object("More for programs, up to 16 KiB")),
            ("tags", texts("Words to find the question by")),
            ("max_rounds", number(1, 100, "The last round of the thread; never above the step's")),
            ("expires_in", text("When the question ends without an answer, like 30m or 2h")),
            ("wait_seconds", number(0, MOST_SECONDS, "Wait so long for the answer; 0 without it")),
            ("operation_id", text("An id that makes the call happen once, however often it is sent")),
        ],
        &["topic", "prompt"],
    )
}

pub(super) fn output() -> Arc<JsonObject> {
    reply(
        [
            ("question_id", text("Its id")),
            ("status", text("open, answered, resolved, stale, escalated, expired or withdrawn")),
            ("to", text("Who is to answer")),
            ("round", json!({ "type": "integer" })),
            ("max_rounds", json!({ "type": "integer" })),
            ("item_stage", or_null(text("Where the item is"))),
            ("resume_stage", or_null(text("Where the item goes on"))),
            ("answer", answer()),
            ("reused", flag("The answer was there already, so nothing was asked")),
            ("advice", texts("How to ask better next time")),
            ("next", next()),
        ],
        &["next"],
    )
}
