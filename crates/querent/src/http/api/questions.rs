//! Questions: lists, threads, and what becomes of them.

use querent_core::view::{ParkedView, QuestionView, StatusFilter};
use querent_core::{Action, Cause, Command, QuestionId, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{
    Field, by, item_id, list, maybe, needed, next_cursor, number, paged, party, question_cursor, question_id, shape,
    shaped, word, words,
};
use super::{Route, Run, Verb};
use crate::paging::{Listed, Wanted};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/questions",
        operation: "questions",
        tag: "questions",
        summary: "List questions, the oldest first",
        description: "Without parameters: what still concerns somebody in the whole project. `to=human` is a person's inbox, \
`to=architect` an agent's.",
        fields: filters,
        example: "",
        reply: many,
        versioned: false,
        run: Run::Now(listed),
    },
    Route {
        verb: Verb::Get,
        path: "/questions/{id}",
        operation: "show",
        tag: "questions",
        summary: "Show a question with its thread",
        description: "The ETag is the version of the question's item.",
        fields: || vec![own_id()],
        example: "",
        reply: || shaped([("question", shape("Question")), ("parked", shape("Parked"))], &["parked"]),
        versioned: true,
        run: Run::Now(show),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/answer",
        operation: "answer",
        tag: "questions",
        summary: "Answer a question",
        description: "The addressee answers, or a human in its place. An option is given by its id, its label or its text, several \
as a list or with commas. The first answer wins on all surfaces; a second one is refused (question_already_answered), and one \
that does not fit is refused with what would (question_invalid_answer).",
        fields: || {
            let any = json!({ "description": "An option's id, a list of ids, true or false, a number, JSON or text" });
            vec![
                own_id(),
                needed("answer", any),
                maybe("note", words(2_000, "Why, or what else should be known")),
                by(),
            ]
        },
        example: r#"{"answer": "redis", "by": "human:alice"}"#,
        reply: || shape("AnswerReply"),
        versioned: true,
        run: Run::Tell(answer),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/resolve",
        operation: "resolve",
        tag: "questions",
        summary: "Settle an answered question",
        description: "The asker says that it has what it needs; a human may do so as well. A human's note on an escalated question \
that nobody has answered is its answer.",
        fields: || vec![own_id(), maybe("note", words(2_000, "What came of it")), by()],
        example: r#"{"by": "engineer", "note": "15 minutes"}"#,
        reply: || shape("StatusReply"),
        versioned: true,
        run: Run::Tell(resolve),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/escalate",
        operation: "escalate",
        tag: "questions",
        summary: "Hand a question over to a human",
        description: "The addressee becomes `human`. If the asker waits for the answer, the item waits too.",
        fields: || vec![own_id(), maybe("summary", words(2_000, "What the human should know")), by()],
        example: r#"{"by": "engineer", "summary": "Security wants 5 minutes, product wants 24 hours"}"#,
        reply: || shape("StatusReply"),
        versioned: true,
        run: Run::Tell(escalate),
    },
    Route {
        verb: Verb::Post,
        path: "/questions/{id}/withdraw",
        operation: "withdraw",
        tag: "questions",
        summary: "Take an open question back",
        description: "It is kept with its thread; an item that waited for it goes on.",
        fields: || vec![own_id(), maybe("reason", words(2_000, "Why")), by()],
        example: r#"{"by": "engineer", "reason": "found it in docs/auth.md"}"#,
        reply: || shape("StatusReply"),
        versioned: true,
        run: Run::Tell(withdraw),
    },
];

fn own_id() -> Field {
    needed("id", question_id("The question's id"))
}

fn filters() -> Vec<Field> {
    let mut fields = vec![
        maybe("item", item_id("Only those of this item")),
        maybe("to", party("human", "Only those that this agent, or human, is to answer")),
        maybe("status", word(StatusFilter::ALL, StatusFilter::as_str, "Only those of this status; active without it")),
    ];
    fields.extend(paged(&question_cursor(), "1767225600000.CLR-42-001"));
    fields
}

fn many() -> Value {
    let questions = list(shape("Question"));
    let count = number(0, crate::paging::MOST, "How many are on this page");
    shaped([("questions", questions), ("count", count), ("next_cursor", next_cursor())], &[])
}

fn listed(call: &Call) -> Result<Said, Refusal> {
    let found = call.read::<Wanted>()?.find(&call.site.hub)?;
    Ok(Said::new(&Listed::of(&found)))
}

fn show(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
    }
    #[derive(Serialize)]
    struct Reply<'a> {
        question: QuestionView<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parked: Option<ParkedView>,
    }
    let Args { id } = call.read()?;
    let (question, item) = call.site.hub.question_and_item(&id)?;
    let parked = ParkedView::of(&item, id.number);
    let question = QuestionView { question: &question, with_thread: true };
    Ok(Said::new(&Reply { question, parked }).at(item.version))
}

fn answer(call: &Call) -> Result<Command, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
        answer: Value,
        note: Option<String>,
        by: Option<Named>,
    }
    let Args { id: question, answer, note, by } = call.read()?;
    Ok(Call::command(question.item.clone(), call.speaks(by)?, Action::Answer { question, answer, note }))
}

fn resolve(call: &Call) -> Result<Command, Refusal> {
    settle(call, "note", |question, note| Action::Resolve { question, note })
}

fn escalate(call: &Call) -> Result<Command, Refusal> {
    settle(call, "summary", |question, summary| Action::Escalate { question, summary, cause: Cause::Requested })
}

fn withdraw(call: &Call) -> Result<Command, Refusal> {
    settle(call, "reason", |question, reason| Action::Withdraw { question, reason })
}

/// What settles a question or hands it on: an id, and a few words in the field `words`.
fn settle(call: &Call, words: &str, action: fn(QuestionId, Option<String>) -> Action) -> Result<Command, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: QuestionId,
        by: Option<Named>,
        #[serde(flatten)]
        rest: std::collections::BTreeMap<String, String>,
    }
    let Args { id, by, mut rest } = call.read()?;
    Ok(Call::command(id.item.clone(), call.speaks(by)?, action(id, rest.remove(words))))
}
