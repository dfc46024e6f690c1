//! `question_resolve`: the asker has what it needs.

use std::sync::Arc;

use querent_core::reply::StatusReply;
use querent_core::{Action, OperationId, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, or_null, question_id, reply, text};

pub(super) const TOOL: Tool = Tool {
    name: "question_resolve",
    title: "Settle a question",
    description: "\
Say that an answered question of yours is settled: you have what you need. Asking on is question_follow_up.",
    nature: Nature::Adds,
    waited: None,
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    question_id: QuestionId,
    note: Option<String>,
    operation_id: Option<OperationId>,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { question_id: question, note, operation_id } = super::read(arguments)?;
    let item = question.item.clone();
    let envelope = call.execute(item, Action::Resolve { question, note }, operation_id).await?;
    Said::reply(&envelope, |reply: &StatusReply| format!("{} is {}.", reply.question_id, reply.status))
}

fn input() -> Arc<JsonObject> {
    arguments(
        [
            ("question_id", question_id()),
            ("note", text("What came of it")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["question_id"],
    )
}

fn output() -> Arc<JsonObject> {
    reply(
        [
            ("question_id", question_id()),
            ("status", text("Its status")),
            ("item_stage", or_null(text("Where the item is"))),
        ],
        &[],
    )
}
