//! A program was told what happened on the item.

use super::Now;
use crate::event::{Event, SessionTold};
use crate::id::{ProgramHandle, QuestionId};
use crate::refusal::Refusal;

pub(super) fn decide(
    now: &Now<'_>,
    handle: &ProgramHandle,
    upto: u64,
    question: Option<&QuestionId>,
) -> Result<Vec<Event>, Refusal> {
    if upto > now.item.version {
        let message = format!("item `{}` is at version {}, not yet at {upto}", now.item.id, now.item.version);
        return Err(Refusal::invalid("upto", message, "tell what has happened, not more"));
    }
    Ok(vec![SessionTold { handle: handle.clone(), upto, question: question.cloned() }.into()])
}
