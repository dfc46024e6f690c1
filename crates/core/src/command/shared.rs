//! What somebody wants to happen to what all items share.

use serde::Serialize;

use crate::access::Role;
use crate::alert::Alarm;
use crate::id::{AgentName, AlertId, ChannelName, Fingerprint, LearnedId, SecretHash, TokenId};
use crate::moment::Span;
use crate::party::{Party, Via};
use crate::path::ProjectPath;
use crate::spelt;
use crate::stream::Shared;

/// A wish that is about no item, but about what all items share.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedCommand {
    /// Who wants it.
    pub by: Party,
    /// Through which surface.
    pub via: Via,
    /// What is wanted.
    pub action: SharedAction,
}

/// What is wanted of what all items share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedAction {
    /// A person takes a learned answer back.
    Revoke {
        /// Which.
        learned: LearnedId,
        /// In words.
        note: Option<String>,
    },
    /// Files are one agent's, whoever works on them now.
    Own {
        /// The files.
        path: ProjectPath,
        /// The agent; none if they are nobody's any more.
        agent: Option<AgentName>,
    },
    /// People should look at something; said once, however often it is found.
    Raise(Box<Alarm>),
    /// People are told of an alert through a channel; once, whoever does it.
    Tell {
        /// Which.
        alert: AlertId,
        /// The channel.
        channel: ChannelName,
    },
    /// Somebody has seen an alert.
    Acknowledge {
        /// Which.
        alert: AlertId,
    },
    /// A person lets somebody in.
    CreateToken {
        /// Whose it is.
        name: Option<String>,
        /// What its bearer may do.
        role: Role,
        /// What the secret is known by.
        hash: SecretHash,
        /// How long it is good.
        expires_in: Option<Span>,
    },
    /// A person lets somebody in no more.
    RevokeToken {
        /// Which.
        token: TokenId,
    },
    /// A person gives out a way in that can be used once.
    OfferLogin {
        /// Whose.
        token: TokenId,
        /// What its code is known by.
        hash: SecretHash,
    },
    /// Somebody comes in by it.
    UseLogin {
        /// What its code is known by.
        hash: SecretHash,
    },
}

impl SharedCommand {
    /// What identifies the command's content: all fields but time and the surface that carried it.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&spelt::bytes(&(&self.by, &self.action)))
    }

    /// The stream that it is about.
    pub fn stream(&self) -> Shared {
        match self.action {
            SharedAction::Revoke { .. } => Shared::Knowledge,
            SharedAction::Own { .. } => Shared::Resources,
            SharedAction::CreateToken { .. }
            | SharedAction::RevokeToken { .. }
            | SharedAction::OfferLogin { .. }
            | SharedAction::UseLogin { .. } => Shared::Access,
            SharedAction::Raise(_) | SharedAction::Tell { .. } | SharedAction::Acknowledge { .. } => Shared::Alerts,
        }
    }
}
