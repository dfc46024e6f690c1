//! The question of a cycle: a prompt of 200 bytes and two options. No two are the same, because Querent would know the answer.

use std::sync::atomic::{AtomicU64, Ordering};

use querent_core::{Ask, Choice};
use serde_json::{Value, json};

pub(crate) const TOPIC: &str = "Storage of sessions";
pub(crate) const OPTIONS: [&str; 2] = ["Postgres", "SQLite"];
pub(crate) const ANSWER: &str = OPTIONS[0];

/// A prompt that nobody has asked before.
pub(crate) fn prompt() -> String {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let table = format!("{}x{}", std::process::id(), ASKED.fetch_add(1, Ordering::Relaxed));
    let said = "The service needs a place for its sessions, and both candidates are there already. Which of the two shall it \
                use, if sessions must survive a restart? This is about the table";
    format!("{said:<178} {table:>20}?")
}

/// The question for the hub.
pub(crate) fn ask() -> Ask {
    let options = OPTIONS.iter().map(|it| Choice {
        id: it.to_lowercase(),
        label: (*it).to_owned(),
        description: None,
        recommended: false,
        implications: None,
    });
    Ask { topic: TOPIC.to_owned(), prompt: prompt(), options: options.collect(), ..Ask::default() }
}

/// The same as JSON, with what else a surface needs.
pub(crate) fn with(rest: Value) -> Value {
    let options: Vec<Value> = OPTIONS.iter().map(|it| json!({ "id": it.to_lowercase(), "label": it })).collect();
    let mut question = rest;
    question["topic"] = TOPIC.into();
    question["options"] = options.into();
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_200_bytes_and_is_new() {
        let (one, other) = (prompt(), prompt());
        assert_eq!((one.len(), other.len()), (200, 200));
        assert_ne!(one, other);
    }
}
