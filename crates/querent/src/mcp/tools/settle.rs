//! What the tools share that settle a question or hand it on: an id, a few words, and the status that it has then.

use std::sync::Arc;

use querent_core::{Action, OperationId, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::misfit;
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, or_null, question_id, reply, text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    question_id: QuestionId,
    operation_id: Option<OperationId>,
}

/// Does `action` to the question, with what is said in the argument `words`.
pub(super) async fn run(
    mut given: JsonObject,
    call: Call,
    words: &str,
    action: fn(QuestionId, Option<String>) -> Action,
) -> Result<Said, Halt> {
    let said = given.remove(words).map(serde_json::from_value).transpose().map_err(|error| misfit(words, &error))?;
    let Args { question_id: question, operation_id } = super::read(given)?;
    let envelope = call.execute(question.item.clone(), action(question, said), operation_id).await?;
    Said::reply(&envelope, |at| format!("{} is {}.", at("/question_id"), at("/status")))
}

pub(super) fn input(words: &str, description: &str) -> Arc<JsonObject> {
    arguments(
        [
            ("question_id", question_id()),
            (words, text(description)),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["question_id"],
    )
}

pub(super) fn output() -> Arc<JsonObject> {
    reply(
        [
            ("question_id", question_id()),
            ("status", text("Its status")),
            ("item_stage", or_null(text("Where the item is"))),
        ],
        &[],
    )
}
