//! What an agent is told to do in one turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use querent_core::{AgentName, ItemId, QuestionId, SessionId};

/// One turn of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The agent.
    pub agent: AgentName,
    /// The item that it works on.
    pub item: ItemId,
    /// Its session on the item.
    pub session: SessionId,
    /// What the turn is for.
    pub purpose: Purpose,
    /// Which turn of the session it is, from 1.
    pub turn: u32,
    /// All that it is told, as text.
    pub prompt: String,
    /// Where it works.
    pub directory: PathBuf,
    /// Querent's MCP server, which is handed to programs through their own flags; none if it is to ask by its output alone.
    pub mcp: Option<McpServer>,
    /// Variables beside those that the config lets pass.
    pub env: BTreeMap<String, String>,
}

/// What a turn is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The agent does a step of the workflow.
    Step(String),
    /// The agent answers a question.
    Answer {
        /// The question.
        question: QuestionId,
        /// Its subject.
        topic: String,
        /// The round that it is in.
        round: u32,
    },
    /// Something happened that the agent listens to.
    Event(String),
}

/// How Querent's MCP server is started for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}
