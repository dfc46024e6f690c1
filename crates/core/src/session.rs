//! One running instance of an agent on an item.

use serde::{Deserialize, Serialize};

use crate::id::AgentName;
use crate::moment::Moment;
use crate::question::words;

/// What was reported of a session. Whether it waits is not stored: it follows from the item's open questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The agent that runs in it.
    pub agent: AgentName,
    /// Whether its work is finished.
    pub finished: bool,
    /// When it was last heard of.
    pub last_activity: Moment,
    /// Since when it works without a sign that it gets on; none if nobody started it, if it is over, or if it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_since: Option<Moment>,
    /// Whether it was given up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// The process that it runs in, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The number of its strict question: it has one, however often it starts again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<u32>,
}

/// A process of a machine, so that one with the same number is not taken for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// What only this process of all with its number has: when it started, as its system says it.
    pub start: String,
    /// The machine.
    pub host: String,
}

words!(
    /// What a session is doing.
    SessionStatus {
        /// Known, with nothing to do.
        Idle = "idle",
        /// Reading its context.
        Loading = "loading",
        /// At work.
        Working = "working",
        /// Another session waits for its answer.
        Clarifying = "clarifying",
        /// Waits for the answer to its own blocking question.
        BlockedClarification = "blocked-clarification",
        /// Finished.
        Done = "done",
        /// Reported that it cannot go on.
        Stuck = "stuck",
    }
);
