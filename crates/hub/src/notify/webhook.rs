//! Programs: a signed POST of JSON.
//!
//! `Querent-Signature` is the HMAC-SHA256 of `timestamp.body`. `Querent-Delivery` is the same however often one notification
//! is sent, so that a receiver can drop what it has.

use querent_core::{Moment, canonical};
use serde_json::json;

use super::client::Request;
use super::links::{hex, signature};
use super::message::Letter;

pub(crate) fn request(url: &str, secret: &str, letter: &Letter, at: Moment) -> Request {
    let (id, body) = match letter {
        Letter::Question(message) => (message.effect.clone(), message.json()),
        // A program wants each by itself: the config allows no digest here.
        Letter::Digest(messages) => {
            let all: Vec<_> = messages.iter().map(super::message::Message::json).collect();
            ("digest".to_owned(), json!({ "event": "digest", "questions": all }))
        }
        Letter::Alert(alert) => (format!("notify:{}", alert.id), json!({ "event": "alert_raised", "alert": alert })),
        Letter::Test { project } => ("test".to_owned(), json!({ "event": "test", "project": project })),
    };
    let (body, timestamp) = (canonical::text(&body), at.millis().div_euclid(1_000).to_string());
    let signed = signature(secret.as_bytes(), format!("{timestamp}.{body}").as_bytes());
    let headers = vec![
        ("Querent-Timestamp", timestamp),
        ("Querent-Signature", format!("v1={}", hex(&signed))),
        ("Querent-Delivery", id),
    ];
    Request { url: url.to_owned(), headers, body }
}
