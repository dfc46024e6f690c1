//! A person judges an assumption.

use serde_json::json;

use super::{Now, bounds, known, rights};
use crate::assumption::{AssumptionStatus, Verdict};
use crate::event::{AssumptionConfirmed, AssumptionOverturned, Event};
use crate::id::AssumptionId;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(
    now: &Now<'_>,
    id: &AssumptionId,
    verdict: Verdict,
    note: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    rights::human(now.command, "judge an assumption")?;
    bounds::text("note", note.unwrap_or("-"), 1, 2_000)?;
    let item = &now.item.id;
    let known = now.item.assumptions.get(&id.number).filter(|_| id.item == *item);
    let Some(assumption) = known else {
        let hint = format!("list them: querent assumptions --item {item} --status all");
        let message = format!("there is no assumption `{id}`");
        return Err(Refusal::new(Code::InvalidInput, message, hint).with(json!({ "field": "assumption_id" })));
    };
    let (assumption_id, note, via) = (id.clone(), note.map(str::to_owned), now.command.via);
    match (verdict, assumption.status) {
        // Overturned stays overturned: what was built on it may have been changed since.
        (_, AssumptionStatus::Overturned) => {
            let message = format!("{id} was overturned already");
            let hint = "if the decision is right after all, let the agent record it anew";
            Err(Refusal::new(Code::InvalidTransition, message, hint).with(json!({ "status": assumption.status })))
        }
        (Verdict::Confirm, _) => Ok(vec![AssumptionConfirmed { assumption: assumption_id, note, via }.into()]),
        (Verdict::Overturn, _) => {
            let overturned = AssumptionOverturned { assumption: assumption_id, note, via }.into();
            Ok([overturned].into_iter().chain(known::unlearn(now, assumption)).collect())
        }
    }
}
