//! Why a call was not carried out: a code to branch on, a sentence to read, and what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Makes [`Code`] from one table, so that a code cannot lack its name or its exit status.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $exit:literal;)*) => {
        /// The kind of a refusal. Each has a page in `docs/errors/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as callers see it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The exit status of a command that ends with it: 1 refused, 2 usage, 3 environment.
            pub const fn exit_status(self) -> u8 {
                match self { $(Self::$name => $exit,)* }
            }

            /// The code that is written `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// There is no `.querent/` here or above.
    NoProject = "no_project", 3;
    /// A file that people edit does not read.
    InvalidConfig = "invalid_config", 3;
    /// The command line does not parse.
    Usage = "usage", 2;
    /// No such item.
    ItemNotFound = "item_not_found", 1;
    /// The item waits, is blocked or has ended.
    ItemNotRunnable = "item_not_runnable", 1;
    /// No such question.
    QuestionNotFound = "question_not_found", 1;
    /// The config declares no such agent.
    UnknownAgent = "unknown_agent", 1;
    /// A field is missing, malformed or out of bounds.
    InvalidInput = "invalid_input", 1;
    /// Not from this state.
    InvalidTransition = "invalid_transition", 1;
    /// The asker's step does not allow this addressee.
    ScopeViolation = "scope_violation", 1;
    /// The asker's step does not allow blocking questions.
    BlockingNotAllowed = "blocking_not_allowed", 1;
    /// Switched off in the config.
    UnsupportedOperation = "unsupported_operation", 1;
    /// A blocking question to a human is already open on the item.
    QuestionConflictOpen = "question_conflict_open", 1;
    /// The conditions for asking are not all met.
    ConditionsNotMet = "conditions_not_met", 1;
    /// The thread had its last round; the question was escalated.
    MaxRoundsExceeded = "max_rounds_exceeded", 1;
    /// Somebody answered first.
    QuestionAlreadyAnswered = "question_already_answered", 1;
    /// The answer is not one that the question accepts.
    QuestionInvalidAnswer = "question_invalid_answer", 1;
    /// The item has ended.
    QuestionAnswerNotAllowedInTerminalState = "question_answer_not_allowed_in_terminal_state", 1;
    /// The question is addressed to another agent.
    NotAddressee = "not_addressee", 1;
    /// Another agent asked the question.
    NotAsker = "not_asker", 1;
    /// The question is addressed to a human.
    HumanOnly = "human_only", 1;
    /// The operation id was used for something else.
    OperationConflict = "operation_conflict", 1;
    /// Another session holds the file.
    FileLocked = "file_locked", 1;
    /// The lock belongs to another session.
    NotOwner = "not_owner", 1;
    /// The journal's lock was not had in time.
    LockTimeout = "lock_timeout", 3;
    /// An agent failed or did not answer.
    AgentError = "agent_error", 3;
    /// The thing is there already, or changed meanwhile.
    Conflict = "conflict", 1;
    /// The disk or the network failed, or stored data is damaged.
    StorageError = "storage_error", 3;
    /// The caller has no right to this.
    Unauthorized = "unauthorized", 1;
    /// The bearer of a token calls too often.
    RateLimited = "rate_limited", 1;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("unknown code `{text}`")))
    }
}

/// A call that changed nothing (but for `max_rounds_exceeded`, which escalates), and what would be accepted instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What to branch on.
    pub code: Code,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do next, in one sentence.
    pub hint: String,
    /// The facts, for a program. Boxed, for every result has room for them.
    #[serde(serialize_with = "crate::canonical::value")]
    pub details: Box<Value>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into(), details: Box::new(json!({})) }
    }

    /// The same with `details`, a JSON object.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = Box::new(details);
        self
    }

    /// A field that is not of its form.
    pub fn malformed(field: &str, value: &str, form: &str) -> Self {
        let shown: String = value.chars().take(80).collect();
        Self::new(Code::InvalidInput, format!("{field} `{shown}` is malformed"), format!("{field} is {form}"))
            .with(json!({ "field": field }))
    }

    /// A field that is outside its limits.
    pub fn invalid(field: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message, hint).with(json!({ "field": field }))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_as_it_is_written() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert!((1..=3).contains(&code.exit_status()));
        }
    }
}
