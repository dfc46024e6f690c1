//! Asking, and waiting for the answer.

use std::time::Duration;

use querent_core::reply::{AskReply, BriefAskReply};
use querent_core::{Action, Ask, Blocker, Category, Command, Envelope, ItemId, Kind, QuestionId, Refusal, Risk, Span};
use querent_hub::{Awaited, Handle};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, MOST_SECONDS, Named, patience};
use super::reply::Said;
use super::schema::{
    Field, any_object, flag, item, list, maybe, needed, number, or_null, party, question_id, session, shape, shaped,
    span, text, wait, word, words,
};
use super::{Route, Run, Verb};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/questions",
        operation: "ask",
        tag: "questions",
        summary: "Ask an agent or a human",
        description: "A question must stand alone: whoever answers has not seen the asker's work. A blocking question to an agent \
blocks the asking session; a blocking question to a human pauses the item, which later goes on where it stood. With `wait` the \
call returns when there is an answer, at the latest after that time (300 s at most); the question is then reported as it is. \
Who accepts `text/event-stream` is told in two events: `asked` at once, with the question's id, and `awaited` then.",
        fields,
        example: r#"{"item": "42", "from": "engineer", "to": "human", "topic": "Session store",
            "prompt": "Where do sessions live?", "context": "They must survive a restart",
            "options": [{"id": "redis", "label": "Redis"}, {"id": "sql", "label": "The SQL database"}],
            "fallback": {"answer": "redis", "reason": "it is there already", "risk": "low"}, "expires_in": "30m"}"#,
        reply: || shape("AskReply"),
        versioned: false,
        run: Run::Parts(|call| Box::pin(ask(call))),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/follow-up",
        operation: "follow_up",
        tag: "questions",
        summary: "Ask on: open the next round of an answered question",
        description: "Only the asker or a human asks on. A follow-up after the last round escalates the question to a human and is \
refused (max_rounds_exceeded).",
        fields: || {
            vec![
                needed("id", question_id("The question's id")),
                maybe("from", party("engineer", "Who asks; with a token, its bearer")),
                needed("prompt", words(2_000, "What is asked now")),
            ]
        },
        example: r#"{"from": "engineer", "prompt": "And after a password reset?"}"#,
        reply: || shape("AskReply"),
        versioned: true,
        run: Run::Tell(follow_up),
    },
    Route {
        verb: Verb::Get,
        path: "/questions/{id}/await",
        operation: "await",
        tag: "questions",
        summary: "Wait until a question is answered or settled",
        description: "Returns at once if it is already. A wait that runs out is no failure: the reply says `timed_out`, and the \
question stays open. Waiting changes nothing and may be repeated.",
        fields: || {
            vec![
                needed("id", question_id("The question's id")),
                maybe("timeout", wait("60s", "How long to wait; 60s without it, 300s at most")),
            ]
        },
        example: "",
        reply: waited,
        versioned: false,
        run: Run::Later(|call| Box::pin(await_answer(call))),
    },
];

/// What is not part of the question itself.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Beside {
    pub(super) item: Option<ItemId>,
    pub(super) from: Option<Named>,
    pub(super) wait: Option<Span>,
}

async fn ask(call: Call) -> Result<Said, Refusal> {
    let (beside, ask) = (call.read()?, call.read_without(&["item", "from", "wait"])?);
    asked(call, beside, ask).await
}

/// What comes of this question.
pub(super) async fn asked(call: Call, Beside { item, from, wait }: Beside, ask: Box<Ask>) -> Result<Said, Refusal> {
    let by = call.speaks(from)?;
    let envelope = call.tell(Call::command(call.item(item)?, by, Action::Ask(ask))).await;
    let Some(patience) = wait.map(patience).filter(|_| envelope.is_ok()) else { return Ok(envelope.into()) };
    let hub = call.site.hub.clone();
    if !call.in_parts {
        return awaited(&hub, &envelope, patience).await.map(|reply| Said::new(&reply));
    }
    let (asked, stream) = (envelope.clone(), call.site.metrics.streams());
    let rest = async move {
        let _counted = stream;
        let awaited = awaited(&hub, &asked, patience).await;
        awaited.map_or_else(|refusal| Envelope::refused(&refusal), |reply| Envelope::ok(&reply))
    };
    Ok(Said::from(envelope).then(Box::pin(rest)))
}

/// The question that was asked, as it is when it is waited for no longer.
async fn awaited(hub: &Handle, asked: &Envelope, patience: Duration) -> Result<AskReply, Refusal> {
    let BriefAskReply { question_id, reused, advice } = BriefAskReply::of(asked)?;
    let (question, item) = hub.await_question(&question_id, Some(patience)).await?;
    Ok(AskReply { reused, ..AskReply::of(Some(&item), &question, advice) })
}

fn follow_up(call: &Call) -> Result<Command, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
        from: Option<Named>,
        prompt: String,
    }
    let Args { id: question, from, prompt } = call.read()?;
    Ok(Call::command(question.item.clone(), call.speaks(from)?, Action::FollowUp { question, prompt }))
}

async fn await_answer(call: Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
        timeout: Option<Span>,
    }
    let Args { id, timeout } = call.read()?;
    let timeout = patience(timeout.unwrap_or(Span::seconds(60)));
    Ok(match call.site.hub.await_answer(&id, Some(timeout)).await? {
        Awaited::Settled(reply) => Said::new(&reply),
        Awaited::TimedOut { question_id, status } => {
            Said::new(&json!({ "question_id": question_id, "status": status, "timed_out": true }))
        }
    })
}

fn waited() -> Value {
    let status = text("Where it is in its life");
    let timed_out = shaped(
        [("question_id", text("The question")), ("status", status), ("timed_out", json!({ "const": true }))],
        &[],
    );
    json!({ "anyOf": [shape("AnswerReply"), timed_out] })
}

fn fields() -> Vec<Field> {
    let most = format!("Wait so long for the answer, {MOST_SECONDS}s at most");
    let mut fields = vec![
        item(),
        maybe("from", party("engineer", "The agent that asks; with a token, its bearer")),
        maybe(
            "to",
            party("human", "Who is asked: an agent or human; without it, the first that the asker's step allows"),
        ),
        needed("topic", words(200, "The subject")),
        needed("prompt", words(2_000, "The question itself")),
        maybe("context", words(2_000, "What the reader must know to answer")),
        maybe("kind", word(Kind::ALL, Kind::as_str, "Why it is asked; only blocking, the default, blocks by itself")),
        maybe(
            "category",
            word(Category::ALL, Category::as_str, "What sort of decision; all but clarification go to a human"),
        ),
        maybe("blocker", word(Blocker::ALL, Blocker::as_str, "What stands in the way without an answer")),
        maybe("blocking", flag("The asker waits; without it, as the kind says")),
    ];
    fields.extend(answers());
    fields.extend([
        maybe("evidence", evidence()),
        maybe("complex", flag("The matter needed an investigation, which is in the evidence")),
        maybe("details", any_object("More for programs, up to 16 KiB")),
        maybe("tags", tags()),
        maybe("max_rounds", number(1, 100, "The last round of the thread; never above the step's")),
        maybe("expires_in", span("30m", "When the question ends without an answer")),
        maybe("session", session("The asker's session; without it, <agent>@<item>")),
        maybe("wait", wait("60s", &most)),
    ]);
    fields
}

/// What may be answered, and what is done if nobody does.
fn answers() -> [Field; 4] {
    let mut option = shaped(
        [
            (
                "id",
                json!({ "type": "string", "pattern": "^[^\\s,\\u0085]+$", "maxLength": 64, "description": "What a program answers" }),
            ),
            ("label", words(200, "What a person reads")),
            ("description", or_null(words(2_000, "More about it"))),
            ("recommended", flag("The asker would take this one")),
            ("implications", or_null(words(2_000, "What follows from it"))),
        ],
        &["description", "recommended", "implications"],
    );
    option["additionalProperties"] = json!(false);
    let mut options = list(option);
    options["maxItems"] = json!(20);
    options["description"] = json!("The choices");
    let mut fallback = shaped(
        [
            ("answer", json!({ "description": "An option's id, or a value of the expected form" })),
            ("reason", words(2_000, "Why it is safe")),
            ("risk", word(Risk::ALL, Risk::as_str, "How bad it is if it is wrong; medium where it is not said")),
        ],
        &["risk"],
    );
    fallback["additionalProperties"] = json!(false);
    let kinds = ["text", "single_choice", "multi_choice", "boolean", "number", "json"];
    let expected = json!({
        "type": "object",
        "description": "What an answer must look like; single_choice if there are options, else text",
        "properties": {
            "kind": { "type": "string", "enum": kinds },
            "schema": { "type": "object", "description": "The JSON Schema, for json" },
        },
        "required": ["kind"],
        "additionalProperties": false,
        "if": { "properties": { "kind": { "const": "json" } }, "required": ["kind"] },
        "then": { "required": ["schema"] },
        "else": { "properties": { "schema": false } },
    });
    [
        maybe("options", options),
        maybe("expected", expected),
        maybe("allow_free_text", flag("An answer may leave the options")),
        maybe("fallback", fallback),
    ]
}

fn evidence() -> Value {
    json!({
        "type": "object",
        "maxProperties": 20,
        "propertyNames": { "minLength": 1, "maxLength": 64, "pattern": "[^\\s\\u0085]" },
        "additionalProperties": words(2_000, "What came of it"),
        "description": "What was tried before asking",
    })
}

fn tags() -> Value {
    let mut tags = list(words(64, "A word to find the question by"));
    tags["maxItems"] = json!(20);
    tags
}
