//! Slack: an incoming webhook that takes Block Kit.

use querent_core::canonical;
use serde_json::{Value, json};

use super::client::Request;
use super::message::Letter;
use super::text::{cut, escaped};

/// What Slack takes: of a header, of a section, of a button, and how many buttons are still readable.
const HEADER: usize = 150;
const SECTION: usize = 2_900;
const BUTTON: usize = 75;
const BUTTONS: usize = 20;

pub(crate) fn request(url: &str, letter: &Letter) -> Request {
    let note = letter.note();
    let text = |kind: &str, text: String| json!({ "type": kind, "text": text });
    // Escaping makes a text longer: it is cut before, and the limit is far below Slack's.
    let section = escaped(&cut(&note.body, SECTION / 2));
    let mut blocks = vec![
        json!({ "type": "header", "text": text("plain_text", cut(&note.title, HEADER)) }),
        json!({ "type": "section", "text": text("mrkdwn", cut(&section, SECTION)) }),
    ];
    let mut buttons: Vec<Value> = Vec::new();
    for (place, choice) in letter.choices().iter().take(BUTTONS).enumerate() {
        let label = text("plain_text", cut(&choice.label, BUTTON));
        buttons.push(
            json!({ "type": "button", "text": label, "url": choice.url, "action_id": format!("answer-{place}") }),
        );
    }
    if let Some(open) = &note.open {
        let label = text("plain_text", "Open".to_owned());
        buttons.push(json!({ "type": "button", "text": label, "url": open, "action_id": "open" }));
    }
    if !buttons.is_empty() {
        blocks.push(json!({ "type": "actions", "elements": buttons }));
    }
    blocks.push(json!({ "type": "context", "elements": [text("mrkdwn", escaped(&note.foot))] }));
    let body = json!({ "text": escaped(&note.title), "blocks": blocks, "unfurl_links": false });
    Request { url: url.to_owned(), headers: Vec::new(), body: canonical::text(&body) }
}
