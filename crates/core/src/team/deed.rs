//! What Querent does to a turn, and to a call.

use serde::Serialize;

use super::Purpose;
use crate::event::{SaidKind, Tokens, TurnOutcome};
use crate::id::ProgramHandle;
use crate::moment::Span;
use crate::parked::Claim;
use crate::session::Process;

/// A step in the life of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnDeed {
    /// Somebody is about to invoke the agent.
    Begin {
        /// What for.
        purpose: Purpose,
        /// The process that does.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// An earlier claim that is known to be void.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<Claim>,
    },
    /// Something became known of it.
    Note {
        /// Who drives it.
        claim: Claim,
        /// The process that the agent itself runs in.
        #[serde(skip_serializing_if = "Option::is_none")]
        program: Option<Process>,
        /// What the program itself calls its session.
        #[serde(skip_serializing_if = "Option::is_none")]
        handle: Option<ProgramHandle>,
    },
    /// The agent said something for the record.
    Say {
        /// Who drives it.
        claim: Claim,
        /// What sort of word it is.
        kind: SaidKind,
        /// What it said.
        text: String,
    },
    /// It is over.
    End {
        /// Who drove it.
        claim: Claim,
        /// How it ended.
        outcome: TurnOutcome,
        /// What the agent said, or why it came to nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        said: Option<String>,
        /// The files that came of it.
        artifacts: Vec<String>,
        /// How long it worked.
        worked: Span,
        /// What it cost.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<Tokens>,
    },
}

/// A step in the life of a call of the agent that was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallDeed {
    /// Somebody is about to invoke it.
    Begin {
        /// The process that does.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// An earlier claim that is known to be void.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<Claim>,
    },
    /// It came to nothing.
    Fail {
        /// Who invoked it.
        claim: Claim,
        /// Why.
        error: String,
    },
}
