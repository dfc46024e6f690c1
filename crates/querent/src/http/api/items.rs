//! Items: the units of work.

use querent_core::reply::ItemReply;
use querent_core::view::ItemView;
use querent_core::{Action, AgentName, Autonomy, EventName, ItemId, Outcome, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{
    Field, agent, by, formed, item_cursor, item_id, list, maybe, needed, next_cursor, paged, shape, shaped, text, word,
    words,
};
use super::{Route, Run, Verb};
use crate::paging::{self, Page};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/items",
        operation: "item_add",
        tag: "items",
        summary: "Add an item; it stands in its workflow's first step",
        description: "The id is yours to choose. One that exists already is refused (conflict).",
        fields: || {
            vec![
                needed("id", item_id("The item's id")),
                needed("title", words(200, "What it is about")),
                maybe("workflow", text("The workflow that it follows; without it, the project's own")),
                maybe(
                    "autonomy",
                    word(
                        Autonomy::ALL,
                        Autonomy::as_str,
                        "How readily its agents ask; without it, as the project says",
                    ),
                ),
            ]
        },
        example: r#"{"id": "43", "title": "Sign in by e-mail"}"#,
        reply: one,
        versioned: false,
        run: Run::Now(add),
    },
    Route {
        verb: Verb::Get,
        path: "/items",
        operation: "item_list",
        tag: "items",
        summary: "List all items, sorted by id",
        description: "Also those that have ended.",
        fields: pages,
        example: "",
        reply: many,
        versioned: false,
        run: Run::Now(listed),
    },
    Route {
        verb: Verb::Get,
        path: "/items/{id}",
        operation: "item_show",
        tag: "items",
        summary: "Show an item: where it stands, what it waits for and why",
        description: "The ETag is the version of the item, which every event on it or on its questions raises.",
        fields: own_id,
        example: "",
        reply: one,
        versioned: true,
        run: Run::Now(show),
    },
    Route {
        verb: Verb::Post,
        path: "/items/{id}/move",
        operation: "item_move",
        tag: "items",
        summary: "Move an item to a step of its workflow, or to blocked or ready_to_merge",
        description: "For people: agents move an item on by finishing their work.",
        fields: || vec![own_id().remove(0), needed("to", words(200, "The stage that it goes to"))],
        example: r#"{"to": "implement"}"#,
        reply: one,
        versioned: true,
        run: Run::Now(moves),
    },
    Route {
        verb: Verb::Post,
        path: "/items/{id}/end",
        operation: "item_end",
        tag: "items",
        summary: "End an item as merged or failed",
        description: "Its open questions are withdrawn and kept. An ended item stays as it is.",
        fields: || vec![own_id().remove(0), needed("as", word(Outcome::ALL, Outcome::as_str, "How it ends"))],
        example: r#"{"as": "merged"}"#,
        reply: one,
        versioned: true,
        run: Run::Now(end),
    },
    Route {
        verb: Verb::Post,
        path: "/items/{id}/send",
        operation: "send",
        tag: "items",
        summary: "Tell the agents of an item something",
        description: "Whoever works on it next reads it. It never answers a question.",
        fields: || {
            let message = needed("message", words(4_000, "What is said"));
            vec![
                own_id().remove(0),
                message,
                maybe("to", agent("Whom it is for; without it, whoever works next")),
                by(),
            ]
        },
        example: r#"{"message": "Leave the export out"}"#,
        reply: one,
        versioned: false,
        run: Run::Now(send),
    },
    Route {
        verb: Verb::Post,
        path: "/items/{id}/emit",
        operation: "emit",
        tag: "items",
        summary: "Tell that something happened, for the agents that listen to it",
        description: "Which agents do is a matter of `on` in the config; `querent run` invokes them.",
        fields: || {
            let pattern = "^[a-z][a-z0-9_.-]{0,99}$";
            let event = needed("event", formed(pattern, "spec.approved", "What happened"));
            let data = maybe("data", json!({ "type": "object", "description": "What is known about it" }));
            vec![own_id().remove(0), event, data, by()]
        },
        example: r#"{"event": "spec.approved", "data": {"spec": "docs/spec.md"}}"#,
        reply: one,
        versioned: false,
        run: Run::Now(emit),
    },
    Route {
        verb: Verb::Get,
        path: "/status",
        operation: "status",
        tag: "items",
        summary: "Show the items: where each stands, which question holds it and since when",
        description: "The question is the oldest blocking one to a human.",
        fields: pages,
        example: "",
        reply: many,
        versioned: false,
        run: Run::Now(listed),
    },
];

fn own_id() -> Vec<Field> {
    vec![needed("id", item_id("The item's id"))]
}

fn pages() -> Vec<Field> {
    paged(&item_cursor(), "42").into()
}

fn one() -> Value {
    shaped([("item", shape("Item"))], &[])
}

fn many() -> Value {
    shaped([("items", list(shape("Item"))), ("next_cursor", next_cursor())], &[])
}

/// The reply of a list of items.
#[derive(Serialize)]
pub(super) struct Items<T> {
    pub(super) items: Vec<T>,
    pub(super) next_cursor: Option<String>,
}

/// Which page of a list.
#[derive(Deserialize)]
pub(super) struct Paging {
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

fn add(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
        title: String,
        workflow: Option<String>,
        autonomy: Option<Autonomy>,
    }
    let Args { id, title, workflow, autonomy } = call.read()?;
    Ok(call.execute(id, call.speaks(None)?, Action::OpenItem { title, workflow, autonomy }))
}

fn listed(call: &Call) -> Result<Said, Refusal> {
    let Paging { limit, cursor } = call.read()?;
    let items = call.site.hub.item_views()?;
    let page = paging::sorted(items, |it| it.id.clone(), cursor.as_deref(), paging::limit(limit))?;
    let Page { entries, next } = page;
    Ok(Said::new(&Items { items: entries, next_cursor: next }))
}

fn show(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
    }
    let item = call.site.hub.item(&call.read::<Args>()?.id)?;
    Ok(Said::new(&ItemReply { item: ItemView::of(&item) }).at(item.version))
}

fn moves(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
        to: String,
    }
    let Args { id, to } = call.read()?;
    Ok(call.execute(id, call.speaks(None)?, Action::Advance { to }))
}

fn send(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
        message: String,
        to: Option<AgentName>,
        by: Option<Named>,
    }
    let Args { id, message: text, to, by } = call.read()?;
    Ok(call.execute(id, call.speaks(by)?, Action::Send { text, to }))
}

fn emit(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
        event: EventName,
        data: Option<Value>,
        by: Option<Named>,
    }
    let Args { id, event, data, by } = call.read()?;
    Ok(call.execute(id, call.speaks(by)?, Action::Emit { event, data: data.unwrap_or(Value::Null) }))
}

fn end(call: &Call) -> Result<Said, Refusal> {
    #[derive(Deserialize)]
    struct Args {
        id: ItemId,
        r#as: Outcome,
    }
    let Args { id, r#as: outcome } = call.read()?;
    Ok(call.execute(id, call.speaks(None)?, Action::EndItem { outcome }))
}
