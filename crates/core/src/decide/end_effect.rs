//! A notification is sent, or given up: then people are told where they look anyway.

use serde_json::json;

use super::{Now, alert};
use crate::alert::Alarm;
use crate::delivery::{Delivery, EffectClaim, Occasion};
use crate::event::{EffectDone, EffectOutcome, Event};
use crate::id::ChannelName;
use crate::monitor::{FindingKind, Severity};
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(
    now: &Now<'_>,
    question: &Question,
    (channel, state): (&ChannelName, Occasion),
    claim: &EffectClaim,
    outcome: EffectOutcome,
    (error, receipt): (Option<&str>, Option<&str>),
) -> Result<Vec<Event>, Refusal> {
    // The round may be over by now; the claim tells which one it was.
    let own = |it: &&Delivery| it.channel == *channel && it.state == state && it.claim.as_ref() == Some(claim);
    let Some(delivery) = question.deliveries.iter().find(own) else {
        let message = format!("{} is not being sent through {channel} under this claim", question.id);
        return Err(Refusal::new(Code::Conflict, message, "leave it to those who do")
            .with(json!({ "question_id": question.id, "channel": channel })));
    };
    let effect = delivery.effect(&question.id);
    let alarm = (outcome == EffectOutcome::Failed).then(|| alarm(question, delivery, error.unwrap_or_default()));
    let alert = alarm.and_then(|alarm| alert::raise(now.state, alarm, now.at));
    let (error, receipt) = (error.map(str::to_owned), receipt.map(str::to_owned));
    let done = EffectDone { effect, question: question.id.clone(), outcome, error, receipt };
    Ok([done.into()].into_iter().chain(alert).collect())
}

/// One for each channel: what is wrong with it is wrong for all that it carries.
fn alarm(question: &Question, delivery: &Delivery, error: &str) -> Alarm {
    let (id, Delivery { channel, attempts, .. }) = (&question.id, delivery);
    Alarm {
        kind: FindingKind::DeliveryFailed,
        severity: Severity::Error,
        source: format!("notify:{channel}"),
        message: format!("nobody could be notified of {id} through `{channel}`, in {attempts} attempts: {error}"),
        context: json!({ "question_id": id, "item": id.item, "channel": channel, "effect": delivery.effect(id) }),
    }
}
