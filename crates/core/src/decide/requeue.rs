//! What was given up is tried again, because a person wants it.

use serde_json::json;

use super::{Now, rights};
use crate::delivery::{Delivery, DeliveryStatus};
use crate::event::{EffectRequeued, Event};
use crate::id::ChannelName;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, channel: Option<&ChannelName>) -> Result<Vec<Event>, Refusal> {
    rights::human(now.command, "have a notification sent again")?;
    if let Some(channel) = channel {
        now.rules.channel(channel)?;
    }
    let id = &question.id;
    let wrong = |message: String, hint: String| {
        Refusal::new(Code::InvalidTransition, message, hint)
            .with(json!({ "question_id": id, "status": question.status }))
    };
    if !question.status.is_open() {
        let message = format!("{id} is {}; nobody needs to be notified of it any more", question.status);
        return Err(wrong(message, format!("read it: querent show {id}")));
    }
    let is_dead = |it: &&Delivery| {
        let wanted = channel.is_none_or(|channel| it.channel == *channel);
        wanted && it.round == question.round && it.status == DeliveryStatus::Failed
    };
    let effects: Vec<String> = question.deliveries.iter().filter(is_dead).map(|it| it.effect(id)).collect();
    if effects.is_empty() {
        let message = format!("no notification of {id} was given up");
        return Err(wrong(message, "list them: querent deliveries".to_owned()));
    }
    Ok(vec![EffectRequeued { question: id.clone(), effects }.into()])
}
