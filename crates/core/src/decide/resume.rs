//! Where an item goes on when a question no longer holds it.

use super::Now;
use crate::event::{Event, ItemPaused, ItemResumed};
use crate::id::QuestionId;
use crate::item::Stage;

/// What follows for the item when `settled` is settled; nothing while another blocking human question is open.
pub(super) fn after(now: &Now<'_>, settled: &QuestionId, how: &str) -> Option<Event> {
    let item = now.item;
    let blocked_by_it = item.stage == Stage::Blocked && item.blocked_by.as_ref() == Some(settled);
    if item.stage != Stage::AwaitingInput && !blocked_by_it {
        return None;
    }
    #[cfg(feature = "fault-injection")]
    if now.rules.config.human_input.faults.drop_resume {
        return None;
    }
    let target = item.resume_stage.clone()?;
    match item.blocking_human().map(|(id, _)| id).find(|id| id != settled) {
        Some(question) if blocked_by_it => Some(ItemPaused { question, resume_stage: target }.into()),
        Some(_) => None,
        None => {
            let (to, reason) = place(now, target, &format!("{settled} was {how}"));
            Some(ItemResumed { to, reason, question: settled.clone() }.into())
        }
    }
}

/// The recorded stage; the first step if the workflow no longer has that one.
fn place(now: &Now<'_>, target: Stage, why: &str) -> (Stage, String) {
    let workflow = now.rules.workflow(&now.item.workflow).ok();
    match (&target, workflow.and_then(|it| Some((it, it.first()?)))) {
        (Stage::Step(gone), Some((workflow, first))) if workflow.step(gone).is_none() => {
            let name = &workflow.name;
            let reason =
                format!("{why}; workflow `{name}` no longer has the step `{gone}`, so back to `{}`", first.name);
            (Stage::Step(first.name.clone()), reason)
        }
        _ => (target, why.to_owned()),
    }
}

/// The pause that a blocking question to a human makes, if the item is not held already: by another such question, or
/// by an expiry whose late answer must still find the stage to go back to.
pub(super) fn pause(now: &Now<'_>, question: &QuestionId) -> Option<Event> {
    let resume_stage = now.item.stage.clone();
    let held = now.item.resume_stage.is_some();
    (!held).then(|| ItemPaused { question: question.clone(), resume_stage }.into())
}

/// The stage that the item goes back to once it waits: the recorded one, or where it stands now.
pub(super) fn stage(now: &Now<'_>) -> Stage {
    now.item.resume_stage.as_ref().unwrap_or(&now.item.stage).clone()
}
