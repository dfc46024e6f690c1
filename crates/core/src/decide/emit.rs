//! Something happened that agents listen to.

use serde_json::{Value, json};

use super::{Now, not_runnable};
use crate::event::{Event, EventEmitted};
use crate::id::EventName;
use crate::refusal::{Code, Refusal};
use crate::team::MOST_HOPS;

/// The most that the data of an event may take, in bytes.
const MOST_DATA: usize = 16 << 10;

pub(super) fn decide(now: &Now<'_>, event: &EventName, data: &Value) -> Result<Vec<Event>, Refusal> {
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nobody listens on it any more"));
    }
    if !(data.is_object() || data.is_null()) || data.to_string().len() > MOST_DATA {
        let message = "the data of an event is a JSON object of at most 16 KiB";
        return Err(Refusal::invalid("data", message, "write it like --data '{\"spec\": \"docs/spec.md\"}'"));
    }
    let hops = now.item.team.hops(&now.command.by, &now.item.sessions);
    if hops > MOST_HOPS {
        let message = format!("`{event}` is the {hops}th event that follows from another; they go in circles");
        let hint = "look at the events of the item: querent events, and at `on` of the agents in .querent/config.toml";
        return Err(Refusal::new(Code::Conflict, message, hint).with(json!({ "event": event, "hops": hops })));
    }
    let (to, number) = (now.rules.listeners(event), now.item.team.emitted + 1);
    Ok(vec![EventEmitted { number, event: event.clone(), data: data.clone(), to, hops }.into()])
}

/// The same of what happens by itself, if anybody listens or a step waits for it.
pub(super) fn heard(now: &Now<'_>, event: EventName, data: Value) -> Option<Event> {
    let (to, number) = (now.rules.listeners(&event), now.item.team.emitted + 1);
    let is_waited_for = now.rules.workflow(&now.item.workflow).is_ok_and(|it| it.waits_for(&event));
    (is_waited_for || !to.is_empty()).then(|| EventEmitted { number, event, data, to, hops: 0 }.into())
}
