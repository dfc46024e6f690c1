//! A new item stands in its workflow's first step.

use serde_json::json;

use super::bounds;
use crate::command::Command;
use crate::event::{Event, ItemOpened};
use crate::item::Stage;
use crate::policy::{Autonomy, Rules};
use crate::refusal::{Code, Refusal};
use crate::state::State;

pub(super) fn decide(
    state: &State,
    command: &Command,
    title: &str,
    workflow: Option<&str>,
    autonomy: Option<Autonomy>,
    rules: &Rules,
) -> Result<Vec<Event>, Refusal> {
    let id = &command.item;
    if let Some(item) = &state.item {
        let message = format!("item `{id}` exists already: {}", item.title);
        return Err(Refusal::new(Code::Conflict, message, format!("look at it: querent item show {id}"))
            .with(json!({ "item": id, "item_stage": item.stage })));
    }
    bounds::text("title", title, 1, 200)?;
    let workflow = rules.workflow(workflow.unwrap_or(rules.default_workflow()))?;
    let Some(first) = workflow.first() else {
        return Err(Refusal::invalid(
            "workflow",
            format!("workflow `{}` has no steps", workflow.name),
            "give it a step",
        ));
    };
    let opened = ItemOpened {
        title: title.to_owned(),
        workflow: workflow.name.clone(),
        stage: Stage::Step(first.name.clone()),
        autonomy,
    };
    Ok(vec![opened.into()])
}
