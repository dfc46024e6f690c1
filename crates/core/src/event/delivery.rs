//! What the events say that notifications make.

use serde::{Deserialize, Serialize};

use crate::channel::ChannelKind;
use crate::delivery::Occasion;
use crate::id::{AlertId, ChannelName, QuestionId};
use crate::moment::Moment;
use crate::question::words;
use crate::session::Process;

/// Somebody sends a notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectClaimed {
    /// What makes it the same notification.
    pub effect: String,
    /// The question that it is about.
    pub question: QuestionId,
    /// The channel.
    pub channel: ChannelName,
    /// What sort of channel it is.
    pub kind: ChannelKind,
    /// The round that the question is in.
    pub round: u32,
    /// What people are told.
    pub state: Occasion,
    /// 1 for the first.
    pub attempt: u32,
    /// The process that does.
    pub process: Option<Process>,
    /// When the next attempt may be made if this one fails.
    pub until: Moment,
    /// Why the attempt before failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// It is sent, or given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectDone {
    /// What makes it the same notification.
    pub effect: String,
    /// The question that it is about.
    pub question: QuestionId,
    /// What became of it.
    pub outcome: EffectOutcome,
    /// Why it is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the channel calls the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

words!(
    /// What became of a notification.
    EffectOutcome {
        /// The channel has it.
        Delivered = "delivered",
        /// Every attempt failed.
        Failed = "failed",
    }
);

/// People are told of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertTold {
    /// The alert.
    pub alert: AlertId,
    /// Through this channel.
    pub channel: ChannelName,
}

/// What was given up is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectRequeued {
    /// The question that it is about.
    pub question: QuestionId,
    /// What makes them the same notifications.
    pub effects: Vec<String>,
}

/// Somebody opened the link of a notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeliverySeen {
    /// The question that it is about.
    pub question: QuestionId,
    /// The round that it was about.
    pub round: u32,
    /// The channel that it came through.
    pub channel: ChannelName,
}
