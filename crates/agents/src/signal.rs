//! What an agent says while it works, in one form for all providers.

use querent_core::{Ask, Assume, ProgramHandle, QuestionId};
use serde_json::Value;

/// Something that an agent said or wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// What the program itself calls its session; it can be resumed by this.
    Handle(ProgramHandle),
    /// It wants something.
    Request(Request),
    /// It says something for the record.
    Note(String),
    /// How it means to go about its work.
    Plan(Value),
    /// A change of files, as a unified diff.
    Patch(String),
    /// It has come to an end.
    Result(TurnResult),
    /// What the turn cost so far.
    Usage(Usage),
    /// Something that nobody can make use of: it is logged, and raises nothing.
    Ignored(String),
}

/// What an agent wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// To ask.
    Ask(Box<Ask>),
    /// To ask on.
    FollowUp {
        /// The question.
        question: QuestionId,
        /// What it asks now.
        prompt: String,
    },
    /// To settle a question that was answered.
    Resolve {
        /// The question.
        question: QuestionId,
        /// What came of it.
        note: Option<String>,
    },
    /// To put a decision on record.
    Assume(Box<Assume>),
    /// To have files for itself.
    Lock {
        /// The files.
        paths: Vec<String>,
    },
    /// To give files back.
    Unlock {
        /// The files; all, if none is named.
        paths: Vec<String>,
    },
    /// To tell other agents that something happened.
    Emit {
        /// What, like `spec.approved`.
        event: String,
        /// In detail.
        data: Value,
    },
}

/// How a turn came to its end, as the agent sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnResult {
    /// The step is done.
    Done {
        /// In words.
        summary: String,
        /// The files that came of it.
        artifacts: Vec<String>,
    },
    /// It cannot be done.
    Failed {
        /// Why.
        summary: String,
    },
    /// The answer to a question.
    Answer {
        /// The answer.
        answer: Value,
        /// What it stands on, and what binds it.
        evidence: Option<String>,
        /// What is not sure about it.
        uncertainty: Option<String>,
    },
    /// A text that says neither: of a program that knows nothing of Querent. Its meaning follows from what it was told to do.
    Text(String),
}

/// What a turn cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
}
