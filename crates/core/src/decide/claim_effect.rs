//! A notification is sent by one at a time, and once.

use serde_json::json;

use super::Now;
use crate::delivery::{Delivery, EffectClaim, Occasion, effect_id, owed};
use crate::event::{EffectClaimed, Event};
use crate::id::ChannelName;
use crate::question::Question;
use crate::refusal::{Code, Refusal};
use crate::session::Process;

/// `over` is an earlier claim that is known to be void, or is the same process's own.
pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    (channel, state): (&ChannelName, Occasion),
    process: Option<&Process>,
    over: Option<&EffectClaim>,
    error: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    let channel = now.rules.channel(channel)?;
    let name = channel.name();
    let effect = effect_id(&question.id, question.round, state, &name);
    let facts = json!({ "question_id": question.id, "effect": effect });
    if owed(question, channel).is_none_or(|(owed, _)| owed != state) {
        let message = format!("{effect} is not owed (any more)");
        return Err(Refusal::new(Code::InvalidTransition, message, "leave notifications to Querent").with(facts));
    }
    let known = question.delivery(&name, state);
    if let Some(claim) = known.and_then(|it| it.claim.as_ref()).filter(|claim| over != Some(claim)) {
        let message = format!("{effect} is being sent since {}", claim.at);
        return Err(Refusal::new(Code::Conflict, message, "leave it to them").with(facts));
    }
    let attempts = known.map_or(0, |it| it.attempts);
    if attempts >= channel.attempts() {
        let message = format!("{effect} had its {attempts} attempts");
        return Err(Refusal::new(Code::InvalidTransition, message, "it is to be given up").with(facts));
    }
    let attempt = attempts + 1;
    let error = error.map(str::to_owned).or_else(|| known.and_then(|it: &Delivery| it.error.clone()));
    Ok(vec![
        EffectClaimed {
            effect,
            question: question.id.clone(),
            channel: name,
            kind: channel.kind,
            round: question.round,
            state,
            attempt,
            process: process.cloned(),
            until: now.at.plus(channel.pause(attempt)),
            error,
        }
        .into(),
    ])
}
