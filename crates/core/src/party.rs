//! Who speaks, and who is spoken to.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::id::AgentName;
use crate::refusal::Refusal;

/// An agent, a human or Querent itself. Written `engineer`, `human`, `human:alice`, `querent`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Party {
    /// A role that the config declares.
    Agent(AgentName),
    /// A person, by name where the surface knows it.
    Human(Option<String>),
    /// Querent, when a deadline acts.
    Querent,
}

impl Party {
    /// A person whose name is not known.
    pub const HUMAN: Self = Self::Human(None);

    /// Whether this is a person, named or not.
    pub fn is_human(&self) -> bool {
        matches!(self, Self::Human(_))
    }

    /// The agent, if it is one.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Human(_) | Self::Querent => None,
        }
    }
}

impl Party {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Agent(agent) => agent.as_str().into(),
            Self::Human(None) => "human".into(),
            Self::Human(Some(name)) => format!("human:{name}").into(),
            Self::Querent => "querent".into(),
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl Serialize for Party {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl FromStr for Party {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text {
            "human" => Ok(Self::HUMAN),
            // `querent` is not among them: nobody who calls may claim to be Querent.
            _ => match text.strip_prefix("human:") {
                Some(name)
                    if name.trim().is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) =>
                {
                    Err(Refusal::malformed("by", text, "human:NAME with 1 to 64 visible characters"))
                }
                Some(name) => Ok(Self::Human(Some(name.to_owned()))),
                None => text.parse().map(Self::Agent),
            },
        }
    }
}

impl TryFrom<String> for Party {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        if text == "querent" { Ok(Self::Querent) } else { text.parse() }
    }
}

/// The surface through which something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The command line.
    Cli,
    /// A Rust program that holds a hub.
    Library,
    /// Querent itself: a deadline that passed.
    Querent,
    /// A trigger: a question that people wrote, raised by an event.
    Trigger,
    /// An agent's call of Querent's MCP server.
    Mcp,
    /// The form that a person filled in where their agent runs.
    Elicitation,
    /// A call of the HTTP API.
    Http,
    /// A page in a browser.
    Web,
    /// The inbox in a terminal.
    Tui,
    /// A notification on a desktop.
    Desktop,
    /// A notification through ntfy.
    Ntfy,
    /// A message in Slack.
    Slack,
    /// A message in Telegram.
    Telegram,
    /// A program that was notified.
    Webhook,
    /// What an agent said whom Querent invoked.
    Team,
}
