//! A person moves an item.

use serde_json::json;

use super::{Now, not_runnable, rights};
use crate::event::{Event, ItemMoved};
use crate::item::Stage;
use crate::nearest;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, to: &str) -> Result<Vec<Event>, Refusal> {
    rights::human(now.command, "move an item")?;
    let item = now.item;
    // A blocked item may have such a question too: moved on, it would run while a human is to decide.
    let waits_for_human = item.stage == Stage::AwaitingInput || item.blocking_human().next().is_some();
    if item.has_ended() || waits_for_human {
        return Err(not_runnable(item, "it cannot be moved"));
    }
    let to = Stage::from(to.to_owned());
    let id = &item.id;
    match &to {
        Stage::Step(step) => {
            let workflow = now.rules.workflow(&item.workflow)?;
            if workflow.step(step).is_none() {
                return Err(unknown_step(step, workflow.steps.iter().map(|step| step.name.as_str()).collect()));
            }
        }
        Stage::Blocked | Stage::ReadyToMerge => {}
        Stage::AwaitingInput => {
            let hint = "ask a blocking question to a human; the item then waits by itself";
            return Err(Refusal::new(Code::InvalidTransition, "no item is moved to awaiting_input by hand", hint));
        }
        Stage::Merged | Stage::Failed => {
            let hint = format!("end it: querent item end {id} --as {to}");
            return Err(Refusal::new(Code::InvalidTransition, format!("{to} is an end, not a move"), hint));
        }
    }
    if to == item.stage {
        let hint = "name another stage, or leave it";
        return Err(Refusal::new(Code::InvalidTransition, format!("item `{id}` is already in {to}"), hint));
    }
    Ok(vec![ItemMoved { from: item.stage.clone(), to, reason: None, question: None, resume_stage: None }.into()])
}

fn unknown_step(step: &str, known: Vec<&str>) -> Refusal {
    let known: Vec<&str> = known.into_iter().chain(["blocked", "ready_to_merge"]).collect();
    let hint = match nearest::of(step, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of: {}", known.join(", ")),
    };
    Refusal::invalid("to", format!("there is no stage `{step}`"), hint).with(json!({ "field": "to", "known": known }))
}
