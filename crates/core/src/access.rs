//! Who may come in over the network: the shared stream `access`. Secrets are known by their hashes alone.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Record};
use crate::id::{AgentName, SecretHash, TokenId, stored_as_text};
use crate::moment::{Moment, Span};
use crate::party::Party;
use crate::refusal::Refusal;

/// For how long a login link may be used.
pub(crate) const LINK_LASTS: Span = Span::minutes(15);
/// How many revoked tokens are remembered.
const REMEMBERED: usize = 256;

/// The tokens of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// How many were made; the next has the number after it.
    pub made: u32,
    /// The tokens, by number.
    pub tokens: BTreeMap<u32, Token>,
    /// How many events made it.
    pub version: u64,
}

/// What somebody shows to come in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// `TOK-<NNN>`.
    pub id: TokenId,
    /// Whose it is.
    pub name: Option<String>,
    /// What its bearer may do.
    pub role: Role,
    /// What the secret is known by.
    pub hash: SecretHash,
    /// When it was made.
    pub created_at: Moment,
    /// Until when it is good.
    pub expires_at: Option<Moment>,
    /// When it was taken back.
    pub revoked_at: Option<Moment>,
    /// The login link that was given out last and is not used yet.
    pub link: Option<LoginLink>,
}

/// A way in that can be used once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoginLink {
    /// What its code is known by.
    pub hash: SecretHash,
    /// Until when it may be used.
    pub expires_at: Moment,
}

/// What the bearer of a token may do. Written `human`, `observer`, `agent:engineer`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Answers, and whatever else a person may do.
    Human,
    /// Only reads.
    Observer,
    /// What this agent may do, and nothing in another's name.
    Agent(AgentName),
}

impl Access {
    /// Whether callers must show a token. One that has expired still says so: time must not open a door.
    pub fn is_guarded(&self) -> bool {
        self.tokens.values().any(|token| token.revoked_at.is_none())
    }

    /// The token that is known by this, if it is good at that time.
    pub fn bearer(&self, hash: &SecretHash, at: Moment) -> Option<&Token> {
        self.tokens.values().find(|token| token.hash == *hash && token.is_good(at))
    }

    /// The token whose login link is known by this and can still be used.
    pub(crate) fn linked(&self, hash: &SecretHash, at: Moment) -> Option<&Token> {
        let fits = |link: &LoginLink| link.hash == *hash && link.expires_at > at;
        self.tokens.values().find(|token| token.is_good(at) && token.link.as_ref().is_some_and(fits))
    }

    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::TokenCreated(it) => {
                self.made = self.made.max(it.token.0);
                let token = Token {
                    id: it.token,
                    name: it.name.clone(),
                    role: it.role.clone(),
                    hash: it.hash.clone(),
                    created_at: record.at,
                    expires_at: it.expires_at,
                    revoked_at: None,
                    link: None,
                };
                self.tokens.insert(it.token.0, token);
            }
            Event::TokenRevoked(it) => {
                if let Some(token) = self.tokens.get_mut(&it.token.0) {
                    token.revoked_at = Some(record.at);
                    token.link = None;
                }
                self.forget();
            }
            Event::LoginOffered(it) => {
                if let Some(token) = self.tokens.get_mut(&it.token.0) {
                    token.link = Some(LoginLink { hash: it.hash.clone(), expires_at: it.expires_at });
                }
            }
            Event::LoginUsed(it) => {
                if let Some(token) = self.tokens.get_mut(&it.token.0) {
                    token.link = None;
                }
            }
            _ => {}
        }
    }

    fn forget(&mut self) {
        let revoked: Vec<u32> =
            self.tokens.iter().filter(|(_, token)| token.revoked_at.is_some()).map(|(number, _)| *number).collect();
        for number in revoked.iter().take(revoked.len().saturating_sub(REMEMBERED)) {
            self.tokens.remove(number);
        }
    }
}

impl Token {
    /// Whether it lets anybody in at that time.
    pub fn is_good(&self, at: Moment) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > at)
    }

    /// In whose name its bearer speaks; an observer is a person who says nothing.
    pub fn party(&self) -> Party {
        match &self.role {
            Role::Agent(agent) => Party::Agent(agent.clone()),
            Role::Human | Role::Observer => Party::Human(self.name.clone()),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human => f.pad("human"),
            Self::Observer => f.pad("observer"),
            Self::Agent(agent) => f.pad(&format!("agent:{agent}")),
        }
    }
}

impl FromStr for Role {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let malformed = || Refusal::malformed("role", text, "human, observer or agent:NAME");
        match text {
            "human" => Ok(Self::Human),
            "observer" => Ok(Self::Observer),
            _ => text
                .strip_prefix("agent:")
                .ok_or_else(malformed)?
                .parse()
                .map(Self::Agent)
                .map_err(|_: Refusal| malformed()),
        }
    }
}

stored_as_text!(Role);
