//! What a session has not been told yet, put where its model reads it. Each news once a session.

use querent_core::{Action, Parked, QuestionId, Refusal, news};
use querent_hub::{Handle, Untold};
use serde_json::{Value, json};

use super::{Input, Reaction, Seat};

/// At the start of a session, and with each prompt.
pub(super) fn react(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    let handle = input.handle()?;
    let untold = hub.untold(&seat.item(hub)?.id, &seat.agent, &handle)?;
    let item = &untold.item;
    let is_here = |(_, it): &(&u32, &Parked)| it.handle == handle;
    let parked = item.parked.iter().find(is_here).map(|(number, it)| (item.question_id(*number), it));
    let goes_on = parked.filter(|_| input.event == "UserPromptSubmit").filter(|(id, it)| {
        // A prompt for a session that is parked on an open question drops the call that was kept back. Whoever resumes a
        // session says so itself.
        let is_resumed = seat.resumed_for.as_ref() == Some(id);
        item.open.contains_key(&id.number) || (it.call.is_none() && !is_resumed)
    });
    let dropped = goes_on.as_ref().filter(|(id, _)| item.open.contains_key(&id.number)).map(|(id, _)| still_open(id));
    let wake = goes_on.map(|(question, _)| seat.command(&item.id, Action::Wake { question, resumed: false }));
    let told = news(&item.id, &untold.settled, &untold.overturned);
    // A newcomer is known from now on, even if there was nothing to tell.
    let is_told = told.is_some() || untold.newcomer;
    let tell = Action::Tell { handle, upto: item.version, question: None };
    let then = wake.into_iter().chain(is_told.then(|| seat.command(&item.id, tell))).collect();
    let says: Vec<String> = told.into_iter().chain(dropped).collect();
    let says = (!says.is_empty()).then(|| context(&input.event, &says.join("\n")));
    Ok(Reaction { says, then })
}

/// An answer that one of our tools gave is not told again.
pub(super) fn after_tool(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    if input.tool_of(&seat.server).is_none() {
        return Ok(Reaction::default());
    }
    let (handle, mut response) = (input.handle()?, String::new());
    texts(&input.tool_response, &mut response);
    let untold = hub.untold(&seat.item(hub)?.id, &seat.agent, &handle)?;
    let then = given(&untold, &response).map(|question| {
        let tell = Action::Tell { handle: handle.clone(), upto: 0, question: Some(question.clone()) };
        seat.command(&question.item, tell)
    });
    Ok(Reaction { says: None, then: then.collect() })
}

/// The questions whose answer stands in what a tool said.
fn given<'a>(untold: &'a Untold, response: &'a str) -> impl Iterator<Item = &'a QuestionId> {
    // What a tool said may be words, or JSON as text.
    let stands = |text: &str| {
        let quoted = Value::from(text).to_string();
        response.contains(text) || response.contains(quoted.trim_matches('"'))
    };
    let settled = untold.settled.iter().filter(move |question| {
        let answer = question.answer.as_ref();
        stands(&question.id.to_string()) && answer.is_some_and(|answer| stands(&answer.text))
    });
    settled.map(|question| &question.id)
}

/// Adds every text in a value, a line each.
fn texts(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| texts(value, all)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn still_open(id: &QuestionId) -> String {
    format!(
        "Your call for {id} was dropped by this prompt; the question itself is still open. Do not ask it again and do not \
         guess: wait with the tool await_answer (question_id {id}), or end your turn; you are resumed when it is settled."
    )
}

fn context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}
