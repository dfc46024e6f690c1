//! A person takes a learned answer back: from now on the question is asked again.

use serde_json::json;

use super::bounds;
use crate::event::{Event, LearnedAnswerRevoked};
use crate::id::LearnedId;
use crate::learned::LearnedStatus;
use crate::party::{Party, Via};
use crate::refusal::{Code, Refusal};
use crate::state::State;

pub(super) fn decide(state: &State, id: LearnedId, note: Option<&str>, by: &Party, via: Via) -> Result<Event, Refusal> {
    if !by.is_human() {
        let message = format!("only a human may take back what was learned from one, not {by}");
        return Err(Refusal::new(Code::HumanOnly, message, "leave it to a person").with(json!({ "learned_id": id })));
    }
    bounds::text("note", note.unwrap_or("-"), 1, 2_000)?;
    let known = state.knowledge.learned.get(&id.0).ok_or_else(|| {
        let message = format!("there is no learned answer `{id}`");
        Refusal::new(Code::InvalidInput, message, "list them: querent learned").with(json!({ "field": "learned_id" }))
    })?;
    if known.status == LearnedStatus::Revoked {
        let message = format!("{id} was taken back already");
        return Err(Refusal::new(Code::InvalidTransition, message, format!("see it: querent learned show {id}"))
            .with(json!({ "status": known.status })));
    }
    Ok(LearnedAnswerRevoked { learned: id, note: note.map(str::to_owned), via }.into())
}
