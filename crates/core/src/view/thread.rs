//! A thread that reads as a conversation, the same on every surface.

use std::fmt::Write;

use crate::moment::Moment;
use crate::question::{Entry, EntryKind, Question};

/// The conversation. `clock` says how a moment is shown.
pub fn thread(question: &Question, clock: impl Fn(Moment) -> String) -> String {
    let mut text = String::new();
    for entry in &question.thread {
        let at = clock(entry.at);
        let head = head(question, entry);
        // Writing to a string does not fail.
        let _ = match mark(entry.kind) {
            Some(mark) => writeln!(text, "{head} ({at})\n{}", indented(mark, &entry.body)),
            None => writeln!(text, "{head} {}", indented_after(&body(entry), 2)),
        };
    }
    text
}

fn mark(kind: EntryKind) -> Option<&'static str> {
    match kind {
        EntryKind::Question => Some("Q"),
        EntryKind::Answer | EntryKind::LateAnswer => Some("A"),
        _ => None,
    }
}

fn head(question: &Question, entry: &Entry) -> String {
    let (asker, addressee, round) = (&question.from.agent, &question.asked, entry.round);
    match entry.kind {
        EntryKind::Question => format!("[Round {round}] {} -> {addressee}", entry.from),
        EntryKind::Answer => format!("[Round {round}] {} -> {asker}", entry.from),
        EntryKind::LateAnswer => format!("[Late] {} -> {asker}", entry.from),
        EntryKind::Resolution => "[RESOLVED]".to_owned(),
        EntryKind::Escalation => "[ESCALATED]".to_owned(),
        EntryKind::Reminder => "[REMINDER]".to_owned(),
        EntryKind::Retry => "[RETRY]".to_owned(),
        EntryKind::Expiry => "[EXPIRED]".to_owned(),
        EntryKind::Withdrawal => "[WITHDRAWN]".to_owned(),
    }
}

fn body(entry: &Entry) -> String {
    match (entry.kind, entry.body.is_empty()) {
        (EntryKind::Resolution | EntryKind::Withdrawal, true) => format!("by {}", entry.from),
        (EntryKind::Resolution | EntryKind::Withdrawal, false) => format!("{} (by {})", entry.body, entry.from),
        _ => entry.body.clone(),
    }
}

fn indented(mark: &str, body: &str) -> String {
    format!("  {mark}: {}", indented_after(body, 5))
}

/// The lines after the first stand under it.
fn indented_after(body: &str, by: usize) -> String {
    body.lines().collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(by)))
}
