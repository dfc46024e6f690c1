//! What happens to the inbox, and what it wants done.

use querent_core::{Moment, QuestionId, Refusal};
use querent_hub::{Inbox, InboxEntry};
use serde_json::Value;

/// Something happened.
pub(super) enum Message {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// The inbox as it is now.
    Found(Box<Found>),
    /// A question that is not in the inbox any more, as it is now.
    Looked(Box<InboxEntry>),
    /// An answer was carried out, or not.
    Answered(Box<Answered>),
    /// The inbox cannot be read.
    Failed(Refusal),
    /// Time goes on.
    Tick(Moment),
    /// The screen was drawn.
    Drawn(Drawn),
    /// The terminal has another size.
    Resized,
    /// There will be no keys any more.
    Closed,
}

/// A key, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    NewLine,
    Esc,
    Tab,
    Backspace,
    Delete,
    Erase,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Interrupt,
}

/// The inbox at a moment.
pub(super) struct Found {
    pub(super) inbox: Inbox,
    /// A command that would put something into it.
    pub(super) example: String,
    pub(super) now: Moment,
}

/// What became of an answer.
pub(super) struct Answered {
    pub(super) question: QuestionId,
    pub(super) refusal: Option<Refusal>,
    /// The question after it.
    pub(super) entry: Option<InboxEntry>,
}

/// What was on the screen: how far the detail can be scrolled, and how much of it is seen at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) furthest: usize,
    pub(super) page: usize,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// Give this answer.
    Answer { question: QuestionId, answer: Value, note: Option<String> },
    /// See what became of a question.
    Look(QuestionId),
    /// Call the person.
    Ring(String),
    /// End.
    Quit,
}
