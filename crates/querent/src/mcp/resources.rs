//! Items, questions and the inbox as resources, and who is told when they change.

use std::collections::BTreeSet;

use querent_core::view::{Filter, ItemView, QuestionView, StatusFilter};
use querent_core::{ItemId, Party, QuestionId, Record, Refusal};
use querent_hub::Handle;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

/// What people are to answer.
const INBOX: &str = "querent://inbox";
const ITEMS: &str = "querent://items/";
const QUESTIONS: &str = "querent://questions/";
const JSON: &str = "application/json";
/// How many items a listing names; the templates reach all of them.
const MOST_ITEMS: usize = 200;

/// What a URI names.
enum Named {
    Inbox,
    Item(ItemId),
    Question(QuestionId),
}

/// The inbox, and the items that have not ended.
pub(crate) fn list(hub: &Handle) -> Result<Vec<Resource>, Refusal> {
    let items = hub.items()?.into_iter().filter(|item| !item.has_ended()).take(MOST_ITEMS);
    let inbox = Resource::new(INBOX, "inbox")
        .with_title("Inbox")
        .with_description("What people are to answer, the oldest first")
        .with_mime_type(JSON);
    let items = items.map(|item| {
        let (uri, name) = (format!("{ITEMS}{}", item.id), format!("item {}", item.id));
        Resource::new(uri, name).with_title(item.title).with_mime_type(JSON)
    });
    Ok([inbox].into_iter().chain(items).collect())
}

/// What else can be read.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(JSON)
    };
    vec![
        template(&format!("{ITEMS}{{id}}"), "item", "An item, with its questions that are not settled"),
        template(&format!("{QUESTIONS}{{id}}"), "question", "A question with its thread"),
    ]
}

/// Reads one.
pub(crate) fn read(hub: &Handle, uri: &str) -> Result<Result<ReadResourceResult, ErrorData>, Refusal> {
    let Some(named) = named(uri) else { return Ok(Err(unknown(uri))) };
    let data = match contents(hub, &named) {
        Err(refusal) if refusal.code.as_str().ends_with("_not_found") => return Ok(Err(unknown(uri))),
        contents => contents?,
    };
    let text = serde_json::to_string_pretty(&data).unwrap_or_default();
    Ok(Ok(fresh(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))))
}

/// What is read changes with the next event, so nobody keeps it.
pub(crate) fn fresh(read: ReadResourceResult) -> ReadResourceResult {
    read.with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

fn contents(hub: &Handle, named: &Named) -> Result<Value, Refusal> {
    match named {
        Named::Inbox => {
            let filter = Filter { to: Some(Party::HUMAN), status: StatusFilter::Active };
            let questions = hub.questions(None, &filter)?;
            Ok(json!({ "questions": views(&questions, false), "count": questions.len() }))
        }
        Named::Item(id) => {
            let item = hub.item(id)?;
            let questions = hub.questions(Some(id), &Filter::default())?;
            Ok(json!({ "item": ItemView::of(&item), "questions": views(&questions, false) }))
        }
        Named::Question(id) => {
            let question = hub.question(id)?;
            Ok(json!({ "question": QuestionView { question: &question, with_thread: true } }))
        }
    }
}

fn views(questions: &[querent_core::Question], with_thread: bool) -> Vec<QuestionView<'_>> {
    questions.iter().map(|question| QuestionView { question, with_thread }).collect()
}

/// Whether there can be such a resource.
pub(crate) fn is_known(uri: &str) -> bool {
    named(uri).is_some()
}

fn named(uri: &str) -> Option<Named> {
    if uri == INBOX {
        return Some(Named::Inbox);
    }
    let item = uri.strip_prefix(ITEMS).and_then(|id| id.parse().ok()).map(Named::Item);
    item.or_else(|| uri.strip_prefix(QUESTIONS).and_then(|id| id.parse().ok()).map(Named::Question))
}

pub(crate) fn unknown(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(
        format!("there is no resource `{shown}`; list them, or use querent://questions/CLR-42-001"),
        Some(json!({ "uri": shown })),
    )
}

/// The resources that a record changes.
pub(crate) fn changed_by(record: &Record) -> BTreeSet<String> {
    let mut uris = BTreeSet::new();
    if let Some(item) = record.stream.item() {
        uris.insert(format!("{ITEMS}{item}"));
        if let Some(question) = record.event.question() {
            uris.insert(format!("{QUESTIONS}{question}"));
            uris.insert(INBOX.to_owned());
        }
    }
    uris
}

/// Whether a record changes which resources there are.
pub(crate) fn changes_the_list(record: &Record) -> bool {
    matches!(record.event.type_name(), "item_opened" | "item_ended")
}
