//! Sessions that wait outside of any process: an agent's program has ended, and is resumed when the answer is there.

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, ProgramHandle, SessionId};
use crate::moment::Moment;
use crate::question::words;
use crate::session::Process;

words!(
    /// A program that can be ended in the middle of its work and resumed later.
    Program {
        /// Claude Code.
        Claude = "claude",
    }
);

/// A session that is parked on a question, and what is needed to resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// The session that asked.
    pub session: SessionId,
    /// The agent in it.
    pub agent: AgentName,
    /// The program that it runs in.
    pub program: Program,
    /// What the program itself calls the session.
    pub handle: ProgramHandle,
    /// Where the program is started.
    pub directory: String,
    /// The call that the program makes when it is resumed; none if it ended its turn, or has made the call by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Since when.
    pub since: Moment,
    /// Who resumes it at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// Somebody resumes a parked session, so that nobody else does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The process that does, or that was started for it; none if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Since when.
    pub at: Moment,
}
