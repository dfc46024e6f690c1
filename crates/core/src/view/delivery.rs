//! A notification as surfaces show it.

use serde::Serialize;

use crate::channel::ChannelKind;
use crate::delivery::{Delivery, DeliveryStatus, Occasion};
use crate::id::ChannelName;
use crate::moment::Moment;

/// What became of one notification of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeliveryView<'a> {
    /// The channel.
    pub channel: &'a ChannelName,
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
    pub error: Option<&'a str>,
}

impl<'a> DeliveryView<'a> {
    /// What is shown of it.
    pub fn of(delivery: &'a Delivery) -> Self {
        Self {
            channel: &delivery.channel,
            kind: delivery.kind,
            state: delivery.state,
            round: delivery.round,
            status: delivery.status,
            attempts: delivery.attempts,
            at: delivery.at,
            error: delivery.error.as_deref(),
        }
    }
}
