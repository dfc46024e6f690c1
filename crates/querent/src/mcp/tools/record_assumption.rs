//! `record_assumption`: a decision that nobody was asked about is put on record.

use std::sync::Arc;

use querent_core::{Action, Assume, Blocker, Confidence, ItemId, OperationId, QuestionId, Risk, RiskIfWrong, Source};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Nature, Tool, misfit};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{any_object, arguments, reply, text, word};

pub(super) const TOOL: Tool = Tool {
    name: "record_assumption",
    title: "Put an assumption on record",
    description: "\
Put a decision on record that you took without asking: what you decided, why it is likely to be right, how sure you are and \
what it costs if it is wrong. People confirm or overturn it later. For everything that is cheap to change; else ask.",
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
    decision: String,
    reasoning: String,
    confidence: Confidence,
    risk_if_wrong: Value,
    blocker: Option<Blocker>,
    question_id: Option<QuestionId>,
    operation_id: Option<OperationId>,
}

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let args: Args = super::read(arguments)?;
    let item = call.item(args.item)?;
    let assume = Assume {
        decision: args.decision,
        reasoning: args.reasoning,
        confidence: args.confidence,
        risk_if_wrong: risk(args.risk_if_wrong)?,
        source: Source::default(),
        blocker: args.blocker,
        question: args.question_id,
    };
    let envelope = call.execute(item, Action::Assume(Box::new(assume)), args.operation_id).await?;
    Said::reply(&envelope, |at| format!("{} is on record: {}", at("/assumption/id"), at("/assumption/decision")))
}

/// A level alone, or with a note.
fn risk(given: Value) -> Result<RiskIfWrong, Halt> {
    let full = if given.is_string() { json!({ "level": given }) } else { given };
    serde_json::from_value(full).map_err(|error| misfit("risk_if_wrong", &error))
}

fn input() -> Arc<JsonObject> {
    let risk = json!({
        "type": "object",
        "description": "What it costs if it is wrong",
        "properties": {
            "level": word(Risk::ALL, Risk::as_str, "How bad"),
            "note": text("What would have to be done then"),
        },
        "required": ["level"],
        "additionalProperties": false,
    });
    arguments(
        [
            ("item", text("The item; without it, the server's own or the only one")),
            ("decision", text("What you decided, up to 500 characters")),
            ("reasoning", text("Why it is likely to be right, up to 2000 characters")),
            ("confidence", word(Confidence::ALL, Confidence::as_str, "How sure you are")),
            ("risk_if_wrong", risk),
            ("blocker", word(Blocker::ALL, Blocker::as_str, "What stood in the way of knowing")),
            ("question_id", text("The question that it answers, if there is one")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["decision", "reasoning", "confidence", "risk_if_wrong"],
    )
}

fn output() -> Arc<JsonObject> {
    reply([("assumption", any_object("The assumption as it is on record"))], &[])
}
