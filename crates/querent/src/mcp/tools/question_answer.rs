//! `question_answer`: somebody who was asked answers.

use std::sync::Arc;

use querent_core::{Action, OperationId, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{answer, arguments, flag, or_null, question_id, reply, text};

pub(super) const TOOL: Tool = Tool {
    name: "question_answer",
    title: "Answer a question",
    description: "\
Answer a question that is addressed to you (question_list with to shows them). Give an option's id where there are options, \
else a value of the expected form. The first answer counts; whoever asked is woken at once.",
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
    answer: Value,
    note: Option<String>,
    operation_id: Option<OperationId>,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { question_id: question, answer, note, operation_id } = super::read(arguments)?;
    let action = Action::Answer { question: question.clone(), answer, note };
    let envelope = call.execute(question.item.clone(), action, operation_id).await?;
    Said::reply(&envelope, |at| format!("{} is {}: {}", at("/question_id"), at("/status"), at("/answer/text")))
}

fn input() -> Arc<JsonObject> {
    let any = json!({
        "description": "An option's id, a list of ids, true or false, a number, JSON or text",
        "anyOf": [
            { "type": "string" },
            { "type": "boolean" },
            { "type": "number" },
            { "type": "array", "items": { "type": "string" } },
            { "type": "object" },
        ],
    });
    arguments(
        [
            ("question_id", question_id()),
            ("answer", any),
            ("note", text("Why, or what else should be known; up to 2000 characters")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["question_id", "answer"],
    )
}

fn output() -> Arc<JsonObject> {
    reply(
        [
            ("question_id", question_id()),
            ("status", text("Its status")),
            ("item_stage", or_null(text("Where the item is"))),
            ("resumed", flag("The item goes on because of it")),
            ("answer", answer()),
        ],
        &[],
    )
}
