//! Notifications of a question: what a channel is owed, who sends it, and what became of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::channel::{Channel, ChannelKind};
use crate::event::{EffectOutcome, Event, Record};
use crate::id::{ChannelName, QuestionId};
use crate::moment::Moment;
use crate::party::Via;
use crate::question::{EntryKind, Question, Status, words};
use crate::session::Process;

/// What became of one notification of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The channel.
    pub channel: ChannelName,
    /// What sort of channel it is.
    pub kind: ChannelKind,
    /// What people are told.
    pub state: Occasion,
    /// The round that the question was in.
    pub round: u32,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// How often it was attempted.
    pub attempts: u32,
    /// When its status last changed.
    pub at: Moment,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the channel calls the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// Who sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<EffectClaim>,
}

/// Somebody sends a notification, so that nobody else does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectClaim {
    /// The process that does; none if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Since when.
    pub at: Moment,
    /// When the next attempt may be made if this one fails.
    pub until: Moment,
}

words!(
    /// How far a notification has come.
    DeliveryStatus {
        /// It is to be sent.
        Queued = "queued",
        /// The channel has it.
        Delivered = "delivered",
        /// Somebody opened its link.
        Seen = "seen",
        /// The answer came back through it.
        Answered = "answered",
        /// Every attempt failed: a dead letter.
        Failed = "failed",
    }
);

/// What people are told. Written `asked`, `escalated`, `reminded-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Occasion {
    /// They are asked.
    Asked,
    /// They are to decide what agents could not.
    Escalated,
    /// They still are; the number counts the reminders.
    Reminded(u32),
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.pad("asked"),
            Self::Escalated => f.pad("escalated"),
            Self::Reminded(number) => f.pad(&format!("reminded-{number}")),
        }
    }
}

impl FromStr for Occasion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reminded = || text.strip_prefix("reminded-")?.parse().ok().map(Self::Reminded);
        match text {
            "asked" => Ok(Self::Asked),
            "escalated" => Ok(Self::Escalated),
            _ => reminded().ok_or_else(|| format!("`{text}` is none of asked, escalated, reminded-1")),
        }
    }
}

impl TryFrom<String> for Occasion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Occasion> for String {
    fn from(occasion: Occasion) -> Self {
        occasion.to_string()
    }
}

/// A step in the life of a notification.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// Somebody is about to send it.
    Claim {
        /// Through this channel.
        channel: ChannelName,
        /// What people are told.
        state: Occasion,
        /// The process that does.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// An earlier claim that is known to be void, or is the same process's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<EffectClaim>,
        /// Why the attempt before failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// It is sent, or given up.
    End {
        /// Through this channel.
        channel: ChannelName,
        /// What people are told.
        state: Occasion,
        /// The claim that ends with it.
        claim: EffectClaim,
        /// What became of it.
        outcome: EffectOutcome,
        /// Why it is given up.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// What the channel calls the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        receipt: Option<String>,
    },
    /// Somebody opened its link.
    See {
        /// The channel that it came through.
        channel: ChannelName,
        /// The round that it was about.
        round: u32,
    },
    /// A person wants what was given up to be tried again.
    Requeue {
        /// Through this channel alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        channel: Option<ChannelName>,
    },
}

impl Errand {
    /// Whether it is for Querent itself alone.
    pub(crate) fn is_querents(&self) -> bool {
        matches!(self, Self::Claim { .. } | Self::End { .. })
    }
}

/// What makes it the same notification, however often it is derived.
pub fn effect_id(question: &QuestionId, round: u32, state: Occasion, channel: &ChannelName) -> String {
    format!("notify:{question}:{round}:{state}:{channel}")
}

impl Delivery {
    /// What makes it the same notification.
    pub fn effect(&self, question: &QuestionId) -> String {
        effect_id(question, self.round, self.state, &self.channel)
    }

    /// Whether nothing more is to be done for it.
    pub fn is_over(&self) -> bool {
        self.status != DeliveryStatus::Queued
    }
}

impl Question {
    /// What became of this notification in the round that it is in.
    pub fn delivery(&self, channel: &ChannelName, state: Occasion) -> Option<&Delivery> {
        let same = |it: &&Delivery| it.round == self.round && it.state == state && it.channel == *channel;
        self.deliveries.iter().find(same)
    }

    fn entry_of(&mut self, effect: &str) -> Option<&mut Delivery> {
        let id = self.id.clone();
        self.deliveries.iter_mut().find(|it| it.effect(&id) == effect)
    }
}

/// What a channel is owed for a question, and since when: the word that it waits, and after that the last reminder. A
/// reminder that is older than that word is none any more.
pub fn owed(question: &Question, channel: &Channel) -> Option<(Occasion, Moment)> {
    if !question.status.is_open() || !question.to.is_human() || !channel.carries(question) {
        return None;
    }
    let name = channel.name();
    let entries = |kind: EntryKind| question.thread.iter().filter(move |entry| entry.kind == kind);
    let first = if question.status == Status::Escalated {
        (Occasion::Escalated, entries(EntryKind::Escalation).next_back().map_or(question.created_at, |entry| entry.at))
    } else {
        (Occasion::Asked, question.created_at)
    };
    let Some(told) = question.delivery(&name, first.0).filter(|it| it.is_over()) else { return Some(first) };
    let number = u32::try_from(entries(EntryKind::Reminder).count()).unwrap_or(u32::MAX);
    let last = entries(EntryKind::Reminder).next_back().filter(|entry| channel.reminders && told.at <= entry.at)?;
    let reminder = Occasion::Reminded(number);
    let is_over = question.delivery(&name, reminder).is_some_and(Delivery::is_over);
    (!is_over).then_some((reminder, last.at))
}

/// Takes a record into the notifications of a question.
pub(crate) fn evolve(question: &mut Question, record: &Record) {
    match &record.event {
        Event::EffectClaimed(it) => {
            let claim = EffectClaim { process: it.process.clone(), at: record.at, until: it.until };
            let fresh = Delivery {
                channel: it.channel.clone(),
                kind: it.kind,
                state: it.state,
                round: it.round,
                status: DeliveryStatus::Queued,
                attempts: it.attempt,
                at: record.at,
                error: it.error.clone(),
                receipt: None,
                claim: Some(claim),
            };
            match question.entry_of(&it.effect) {
                Some(known) => *known = fresh,
                None => question.deliveries.push(fresh),
            }
        }
        Event::EffectDone(it) => {
            if let Some(known) = question.entry_of(&it.effect) {
                known.status = match it.outcome {
                    EffectOutcome::Delivered => DeliveryStatus::Delivered,
                    EffectOutcome::Failed => DeliveryStatus::Failed,
                };
                known.error.clone_from(&it.error);
                known.receipt.clone_from(&it.receipt);
                known.claim = None;
                known.at = record.at;
            }
        }
        Event::EffectRequeued(it) => {
            for effect in &it.effects {
                if let Some(known) = question.entry_of(effect) {
                    (known.status, known.attempts, known.at) = (DeliveryStatus::Queued, 0, record.at);
                }
            }
        }
        Event::DeliverySeen(it) => {
            let seen = |known: &&mut Delivery| {
                let same = known.round == it.round && known.channel == it.channel;
                same && known.status == DeliveryStatus::Delivered
            };
            for known in question.deliveries.iter_mut().filter(seen) {
                (known.status, known.at) = (DeliveryStatus::Seen, record.at);
            }
        }
        _ => {}
    }
}

/// The answer came through this surface: what was delivered there has done its work.
pub(crate) fn answered(question: &mut Question, via: Via, at: Moment) {
    let round = question.round;
    let reached = |it: &&mut Delivery| {
        let is_there = matches!(it.status, DeliveryStatus::Delivered | DeliveryStatus::Seen);
        is_there && it.round == round && Via::from(it.kind) == via
    };
    for it in question.deliveries.iter_mut().filter(reached) {
        (it.status, it.at) = (DeliveryStatus::Answered, at);
    }
}
