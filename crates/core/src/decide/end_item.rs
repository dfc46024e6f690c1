//! A person ends an item. What is open is withdrawn and kept.

use super::{Now, rights};
use crate::event::{Event, ItemEnded, QuestionWithdrawn};
use crate::id::QuestionId;
use crate::item::Outcome;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, outcome: Outcome) -> Result<Vec<Event>, Refusal> {
    rights::human(now.command, "end an item")?;
    if now.item.has_ended() {
        let message = format!("item `{}` has already ended: it is {}", now.item.id, now.item.stage);
        return Err(Refusal::new(Code::InvalidTransition, message, "an ended item stays as it is; open a new one"));
    }
    Ok(end(now, outcome, None, None))
}

/// The end of the item, with the withdrawal of all that is open but `settled`.
pub(super) fn end(now: &Now<'_>, outcome: Outcome, reason: Option<String>, settled: Option<&QuestionId>) -> Vec<Event> {
    let open = now.item.open.keys().map(|number| now.item.question_id(*number));
    let withdrawn = open.filter(|id| Some(id) != settled).map(|question| {
        let reason = Some(format!("item `{}` ended as {outcome}", now.item.id));
        QuestionWithdrawn { question, reason, via: now.command.via }.into()
    });
    withdrawn.chain([ItemEnded { outcome, reason }.into()]).collect()
}
