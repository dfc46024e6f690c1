//! A message to the agents of an item. It answers no question.

use super::{Now, bounds, emit, not_runnable};
use crate::event::{Event, MessageSent};
use crate::id::{AgentName, EventName};
use crate::refusal::Refusal;

/// The event that a message is, for those who listen to people.
const MESSAGE: &str = "user.message";

pub(super) fn decide(now: &Now<'_>, text: &str, to: Option<&AgentName>) -> Result<Vec<Event>, Refusal> {
    bounds::text("message", text, 1, 4_000)?;
    if let Some(agent) = to {
        now.rules.agent(agent)?;
    }
    if now.item.has_ended() {
        return Err(not_runnable(now.item, "nobody works on it any more"));
    }
    let number = now.item.team.sent + 1;
    let sent = MessageSent { number, text: text.to_owned(), to: to.cloned() }.into();
    // Whoever listens to people is invoked; everybody else reads it in its next turn.
    let event: Option<EventName> = MESSAGE.parse().ok().filter(|_| to.is_none() && now.command.by.is_human());
    let heard = event.and_then(|event| emit::heard(now, event, serde_json::json!({ "message": number })));
    Ok([sent].into_iter().chain(heard).collect())
}
