//! Somebody opened the link of a notification.

use serde_json::json;

use super::{Now, rights};
use crate::delivery::{Delivery, DeliveryStatus};
use crate::event::{DeliverySeen, Event};
use crate::id::ChannelName;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    channel: &ChannelName,
    round: u32,
) -> Result<Vec<Event>, Refusal> {
    rights::human(now.command, "see a notification")?;
    let unseen = |it: &Delivery| it.channel == *channel && it.round == round && it.status == DeliveryStatus::Delivered;
    if !question.deliveries.iter().any(unseen) {
        let message = format!("nothing of {} waits to be seen in `{channel}`", question.id);
        return Err(Refusal::new(Code::InvalidTransition, message, "there is nothing left to do")
            .with(json!({ "question_id": question.id, "channel": channel })));
    }
    Ok(vec![DeliverySeen { question: question.id.clone(), round, channel: channel.clone() }.into()])
}
