//! `question_list`: what is asked, and of whom.

use std::fmt::Write;
use std::sync::Arc;

use querent_core::view::{Filter, QuestionView, StatusFilter};
use querent_core::{ItemId, Party, Question};
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Nature, Tool};
use crate::mcp::call::Call;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, number, or_null, reply, text, word};
use crate::paging::{self, MOST, Page};

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
    run: |arguments, call| Box::pin(async move { run(arguments, &call) }),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    item: Option<ItemId>,
    to: Option<Party>,
    #[serde(default)]
    status: StatusFilter,
    limit: Option<usize>,
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Reply<'a> {
    questions: Vec<QuestionView<'a>>,
    count: usize,
    next_cursor: Option<String>,
}

fn run(arguments: JsonObject, call: &Call) -> Result<Said, Halt> {
    let Args { item, to, status, limit, cursor } = super::read(arguments)?;
    let (filter, limit) = (Filter { to, status }, paging::limit(limit));
    let Page { entries: found, next } =
        call.look(|hub| paging::questions(hub, item.as_ref(), &filter, cursor.as_deref(), limit))?;
    let questions: Vec<_> = found.iter().map(|question| QuestionView { question, with_thread: false }).collect();
    let text = words(&found, next.as_deref());
    Ok(Said::new(&Reply { count: questions.len(), questions, next_cursor: next }, text))
}

fn words(questions: &[Question], next: Option<&str>) -> String {
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
