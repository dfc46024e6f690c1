//! `await_answer`: until there is an answer.

use std::sync::Arc;

use querent_core::reply::AnswerReply;
use querent_core::{Item, Question, QuestionId};
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{answer, arguments, flag, next, number, or_null, question_id, reply, text};
use crate::mcp::waiting::{self, MOST_SECONDS, Patience};

pub(super) const TOOL: Tool = Tool {
    name: "await_answer",
    title: "Wait for an answer",
    description: "\
Wait for the answer to a question that you asked. Returns as soon as it is answered or settled, at the latest after \
wait_seconds; while it is still open the reply says timed_out: call this again with the same question_id. Waiting changes \
nothing and may be repeated as often as needed, also after a restart.",
    nature: Nature::Reads,
    waited: Some(told),
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    question_id: QuestionId,
    wait_seconds: Option<u64>,
}

/// The wait of a call that names none.
const USUAL_SECONDS: u64 = 25;

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { question_id, wait_seconds } = super::read(arguments)?;
    let id = call.resumed()?.unwrap_or(question_id);
    let (question, item) = waiting::wait(&call, &id, Patience::of(wait_seconds, USUAL_SECONDS)).await?;
    Ok(told(&item, &question))
}

fn told(item: &Item, question: &Question) -> Said {
    let reply = AnswerReply::now(item, question);
    let said = waiting::told(question, Said::new(&reply, waiting::words(question)));
    if question.status.is_open() { said.with("timed_out", true) } else { said }
}

fn input() -> Arc<JsonObject> {
    let seconds = number(0, MOST_SECONDS, "Wait so long; 25 without it");
    arguments([("question_id", question_id()), ("wait_seconds", seconds)], &["question_id"])
}

fn output() -> Arc<JsonObject> {
    reply(
        [
            ("question_id", question_id()),
            ("status", text("open, answered, resolved, stale, escalated, expired or withdrawn")),
            ("item_stage", or_null(text("Where the item is"))),
            ("resumed", flag("The item goes on because of the answer")),
            ("answer", answer()),
            ("timed_out", flag("There is no answer yet")),
            ("next", next()),
        ],
        &["timed_out", "next"],
    )
}
