//! What the events say that a team makes which Querent itself runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AgentName, EventName, ProgramHandle, QuestionId, SessionId};
use crate::moment::Span;
use crate::question::words;
use crate::session::Process;
use crate::team::Purpose;

/// An agent is invoked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnBegun {
    /// Its session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// What for.
    pub purpose: Purpose,
    /// Which turn of the session it is; 1 for the first.
    pub number: u32,
    /// How often this turn was begun; more than once if whoever drove it died.
    pub attempt: u32,
    /// Who drives it.
    pub process: Option<Process>,
}

/// Something became known of a turn under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnNoted {
    /// Its session.
    pub session: SessionId,
    /// The turn.
    pub number: u32,
    /// The process that the agent itself runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Process>,
    /// What the program itself calls its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<ProgramHandle>,
}

/// A turn is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// Its session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The turn.
    pub number: u32,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// What the agent said at its end, or why it came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The files that came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// How long it worked. Time in which a human was waited for does not count.
    pub worked: Span,
    /// What it cost, as far as its program says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// What a model read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// What it read.
    pub input: u64,
    /// What it wrote.
    pub output: u64,
}

/// An agent said something for the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnSaid {
    /// Its session.
    pub session: SessionId,
    /// The turn.
    pub number: u32,
    /// What sort of word it is.
    pub kind: SaidKind,
    /// What it said.
    pub text: String,
}

words!(
    /// What an agent says beside its questions and results.
    SaidKind {
        /// A note.
        Note = "note",
        /// How it means to go about its work.
        Plan = "plan",
        /// Something that nobody could make use of.
        Ignored = "ignored",
    }
);

words!(
    /// How a turn ended.
    TurnOutcome {
        /// What it was for is done.
        Done = "done",
        /// It waits for an answer.
        Asked = "asked",
        /// It came to nothing.
        Failed = "failed",
        /// What it made did not pass a gate.
        Rejected = "rejected",
        /// Whoever drove it stopped: it begins again.
        Stopped = "stopped",
    }
);

/// The agent that was asked is invoked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCalled {
    /// The question.
    pub question: QuestionId,
    /// The agent.
    pub agent: AgentName,
    /// The round that the question is in.
    pub round: u32,
    /// 1 for the first of the round.
    pub attempt: u32,
    /// Who invokes it.
    pub process: Option<Process>,
}

/// It could not be invoked, or came to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCallFailed {
    /// The question.
    pub question: QuestionId,
    /// The agent.
    pub agent: AgentName,
    /// The round that the question is in.
    pub round: u32,
    /// Why.
    pub error: String,
}

/// Somebody told the agents of an item something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageSent {
    /// Its number on the item.
    pub number: u32,
    /// What was said.
    pub text: String,
    /// Whom it is for; whoever works next, if nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentName>,
}

/// Something happened that agents listen to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventEmitted {
    /// Its number on the item.
    pub number: u32,
    /// What happened, like `spec.approved`.
    pub event: EventName,
    /// In detail.
    #[serde(default, skip_serializing_if = "Value::is_null", serialize_with = "crate::canonical::value")]
    pub data: Value,
    /// The agents that listened at that time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<AgentName>,
    /// How many events led to it, each by the turn that the one before began.
    pub hops: u32,
}
