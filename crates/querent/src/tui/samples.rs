//! Questions for the tests of the inbox.

use std::collections::BTreeSet;

use querent_core::view::{ItemView, Waiting};
use querent_core::{Moment, Party, Question, QuestionId, Status};
use querent_hub::{Inbox, InboxEntry};
use serde_json::{Value, json};

use super::app::App;
use super::message::{Effect, Found, Key, Message};

/// The moment at which the tests look.
pub(super) fn now() -> Moment {
    "2026-11-15T10:14:00Z".parse().unwrap()
}

/// A question to a person with two options, and a fallback among them.
pub(super) fn entry(number: u32, topic: &str) -> InboxEntry {
    let id = format!("CLR-42-{number:03}");
    let asked = json!({
        "seq": 1, "round": 1, "from": "engineer", "type": "question", "body": "Where are the sessions kept?",
        "value": null, "via": "cli", "at": "2026-11-15T10:02:00.000Z",
    });
    let question = json!({
        "id": id, "item": "42", "from": { "agent": "engineer", "session": "engineer@42" },
        "to": "human", "asked": "human", "kind": "blocking", "category": "clarification", "blocker": "none",
        "topic": topic, "prompt": "Where are the sessions kept?", "context": "The ticket does not say.",
        "details": null,
        "options": [
            { "id": "redis", "label": "Redis", "description": "Fast, and one more service.", "recommended": true },
            { "id": "sql", "label": "The SQL database", "implications": "Slower sign-in." },
        ],
        "expected": { "kind": "single_choice" }, "allow_free_text": true, "blocking": true,
        "fallback": { "answer": "sql", "reason": "it is there already", "risk": "low" },
        "evidence": { "docs": "nothing found" }, "tags": [], "round": 1, "max_rounds": 5, "status": "open",
        "created_at": "2026-11-15T10:02:00.000Z", "stale_at": null, "remind_at": null,
        "expires_at": "2026-11-15T10:17:00.000Z", "resume_stage": null, "answer": null, "thread": [asked], "version": 3,
    });
    let question: Question = serde_json::from_value(question).unwrap();
    let item: ItemView = serde_json::from_value(json!({
        "id": "42", "title": "Sign in by e-mail", "workflow": "feature", "stage": "awaiting_input",
        "resume_stage": "implement", "open_question_id": id, "open_question_count": 1,
        "awaiting_since": "2026-11-15T10:02:00.000Z", "needs_rework": false, "status_reason": null,
    }))
    .unwrap();
    let waiting = Waiting {
        id: question.id.clone(),
        created_at: question.created_at,
        expires_at: question.expires_at,
        blocking: true,
        holds_up: BTreeSet::from([question.from.session.clone()]),
    };
    InboxEntry { question, item, waiting }
}

/// The same, answered by somebody.
pub(super) fn answered(mut entry: InboxEntry, by: &str, text: &str) -> InboxEntry {
    let by: Party = by.parse().unwrap();
    entry.question.status = Status::Resolved;
    entry.question.version += 1;
    entry.question.answer = serde_json::from_value(json!({
        "value": "redis", "text": text, "free_text": false, "by": by, "via": "web",
        "at": "2026-11-15T10:13:57.000Z", "provenance": "human",
    }))
    .unwrap();
    entry
}

pub(super) fn id(number: u32) -> QuestionId {
    format!("CLR-42-{number:03}").parse().unwrap()
}

/// An app that has read an inbox with these.
pub(super) fn watching(entries: Vec<InboxEntry>) -> App {
    let mut app = App::new(now(), false);
    assert_eq!(finds(&mut app, entries), []);
    app
}

pub(super) fn finds(app: &mut App, entries: Vec<InboxEntry>) -> Vec<Effect> {
    let inbox = Inbox { total: entries.len(), entries };
    let example = "querent item add 42 --title \"Sign in by e-mail\"".to_owned();
    app.update(Message::Found(Box::new(Found { inbox, example, now: now() })))
}

/// Presses keys: letters, and `\n` for Enter, `\t` for Tab, `\u{1b}` for Esc, `\u{7f}` for Backspace.
pub(super) fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let key = |letter| match letter {
        '\n' => Key::Enter,
        '\t' => Key::Tab,
        '\u{1b}' => Key::Esc,
        '\u{7f}' => Key::Backspace,
        letter => Key::Char(letter),
    };
    keys.chars().flat_map(|letter| app.update(Message::Key(key(letter)))).collect()
}

/// The effect of an answer.
pub(super) fn answers(number: u32, answer: impl Into<Value>, note: Option<&str>) -> Vec<Effect> {
    vec![Effect::Answer { question: id(number), answer: answer.into(), note: note.map(str::to_owned) }]
}
