//! `question_list`: what is asked, and of whom.

use std::fmt::Write;
use std::sync::Arc;

use querent_core::Question;
use querent_core::view::StatusFilter;
use rmcp::model::JsonObject;
use serde_json::json;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, number, or_null, reply, text, word};
use crate::paging::{Listed, MOST, Wanted};

pub(super) const TOOL: Tool = Tool {
    name: "question_list",
    title: "List questions",
    description: "\
List questions, the oldest first: without arguments, all that still concern somebody. Use to with your own name to find what \
you are to answer, and item to see what is open where you work. A long list comes in pages: call again with next_cursor.",
    nature: Nature::Reads,
    waited: None,
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let wanted: Wanted = super::read(arguments)?;
    let found = call.on_hub(move |hub| wanted.find(hub)).await?;
    let text = words(&found.entries, found.next.as_deref());
    Ok(call.says(&Listed::of(&found), text))
}

fn words(questions: &[Arc<Question>], next: Option<&str>) -> String {
    let mut text = match questions.len() {
        0 => "No questions.".to_owned(),
        1 => "1 question:".to_owned(),
        count => format!("{count} questions:"),
    };
    for question in questions {
        let (from, to) = (&question.from.agent, &question.to);
        let _ = write!(text, "\n{} ({}, {from} asks {to}): {}", question.id, question.status, question.prompt);
        if let Some(answer) = &question.answer {
            let _ = write!(text, "\n  Answer of {}: {}", answer.by, answer.text);
        }
    }
    if let Some(next) = next {
        let _ = write!(text, "\nThere are more: call again with cursor {next}.");
    }
    text
}

fn input() -> Arc<JsonObject> {
    arguments(
        [
            ("item", text("Only those of this item")),
            ("to", text("Only those that this agent, or human, is to answer")),
            ("status", word(StatusFilter::ALL, StatusFilter::as_str, "Only those of this status; active without it")),
            ("limit", number(1, MOST, "How many at most; 100 without it")),
            ("cursor", text("next_cursor of the last page")),
        ],
        &[],
    )
}

fn output() -> Arc<JsonObject> {
    let question = json!({
        "type": "object",
        "properties": { "id": text("Its id"), "status": text("Its status"), "prompt": text("What is asked") },
        "required": ["id", "item", "from", "to", "status", "topic", "prompt", "answer"],
    });
    reply(
        [
            ("questions", json!({ "type": "array", "items": question })),
            ("count", json!({ "type": "integer" })),
            ("next_cursor", or_null(text("Where the next page begins"))),
        ],
        &[],
    )
}
