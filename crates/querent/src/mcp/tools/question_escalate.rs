//! `question_escalate`: a human is to decide.

use std::sync::Arc;

use querent_core::reply::StatusReply;
use querent_core::{Action, Cause, OperationId, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, or_null, question_id, reply, text};

pub(super) const TOOL: Tool = Tool {
    name: "question_escalate",
    title: "Hand a question to a human",
    description: "\
Hand a question that an agent cannot settle to a human. Say in the summary what was tried and what is still unclear.",
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
    summary: Option<String>,
    operation_id: Option<OperationId>,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { question_id: question, summary, operation_id } = super::read(arguments)?;
    let item = question.item.clone();
    let envelope =
        call.execute(item, Action::Escalate { question, summary, cause: Cause::Requested }, operation_id).await?;
    Said::reply(&envelope, |reply: &StatusReply| format!("{} is {}.", reply.question_id, reply.status))
}

fn input() -> Arc<JsonObject> {
    arguments(
        [
            ("question_id", question_id()),
            ("summary", text("What the human should know")),
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
