//! ntfy: a message is published to a topic, with up to three buttons.

use querent_core::canonical;
use serde_json::{Value, json};

use super::client::Request;
use super::message::{Letter, Urgency};
use super::text::{cut, cut_bytes};

/// What ntfy takes before it makes a file of it.
const MESSAGE: usize = 4_000;
const TITLE: usize = 200;
const BUTTONS: usize = 3;

/// `url` names the server and the topic: `https://ntfy.sh/my-topic`.
pub(crate) fn request(url: &str, token: Option<&str>, letter: &Letter) -> Request {
    let (server, topic) = url.trim_end_matches('/').rsplit_once('/').unwrap_or((url, ""));
    let note = letter.note();
    let priority = match note.urgency {
        Urgency::Low => 2,
        Urgency::Normal => 3,
        Urgency::High => 4,
    };
    let button =
        |label: &str, url: &str| json!({ "action": "view", "label": cut(label, 60), "url": url, "clear": true });
    // With more answers than buttons, the page has them all.
    let all = letter.choices();
    let actions: Vec<Value> = match &note.open {
        Some(open) if all.is_empty() || all.len() > BUTTONS => vec![button("Answer", open)],
        _ => all.iter().map(|choice| button(&choice.label, &choice.url)).collect(),
    };
    let mut body = json!({
        "topic": topic,
        "title": cut(&note.title, TITLE),
        "message": cut_bytes(&format!("{}\n\n{}", note.body, note.foot), MESSAGE),
        "priority": priority,
        "tags": ["question"],
        "actions": actions,
    });
    if let Some(open) = note.open {
        body["click"] = json!(open);
    }
    let headers = token.map(|token| ("Authorization", format!("Bearer {token}"))).into_iter().collect();
    Request { url: format!("{server}/"), headers, body: canonical::text(&body) }
}
