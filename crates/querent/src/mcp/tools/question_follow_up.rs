//! `question_follow_up`: the next round.

use std::sync::Arc;

use querent_core::reply::BriefAskReply;
use querent_core::{Action, OperationId, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::question_create::{output, told};
use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, number, question_id, text};
use crate::mcp::waiting::{self, MOST_SECONDS, Patience};

pub(super) const TOOL: Tool = Tool {
    name: "question_follow_up",
    title: "Ask on",
    description: "\
Ask on about an answered question of yours when the answer is not enough: it opens the next round with the same addressee. \
After the last round the question goes to a human.",
    nature: Nature::Adds,
    waited: Some(told),
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    question_id: QuestionId,
    prompt: String,
    wait_seconds: Option<u64>,
    operation_id: Option<OperationId>,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { question_id, prompt, wait_seconds, operation_id } = super::read(arguments)?;
    let id = if let Some(question) = call.resumed()? {
        question
    } else {
        let action = Action::FollowUp { question: question_id.clone(), prompt };
        let envelope = call.execute(question_id.item.clone(), action, operation_id).await?;
        BriefAskReply::of(&envelope)?.question_id
    };
    let (question, item) = waiting::wait(&call, &id, Patience::of(wait_seconds, 0)).await?;
    Ok(told(&item, &question))
}

fn input() -> Arc<JsonObject> {
    arguments(
        [
            ("question_id", question_id()),
            ("prompt", text("What is asked now, up to 2000 characters")),
            ("wait_seconds", number(0, MOST_SECONDS, "Wait so long for the answer; 0 without it")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["question_id", "prompt"],
    )
}
