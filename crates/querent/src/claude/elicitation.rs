//! A form that Claude is about to show: if the question has its answer by now, nobody need fill it in.

use querent_core::{Expected, Question, Refusal};
use querent_hub::Handle;
use serde_json::{Value, json};

use super::{Input, Reaction, Seat};

/// How many of the last questions a form may be about.
const LAST: u32 = 8;

pub(super) fn react(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    let item = seat.item(hub)?;
    for number in (1..=item.asked).rev().take(LAST as usize).filter(|number| !item.open.contains_key(number)) {
        let question = hub.question(&item.question_id(number))?;
        if let Some(says) = filled_in(&question, &input.message) {
            return Ok(Reaction::saying(says));
        }
    }
    Ok(Reaction::default())
}

/// The form, filled in with the answer that stands; none if it is not the form of this question.
fn filled_in(question: &Question, message: &str) -> Option<Value> {
    let answer = question.answer.as_ref().filter(|_| !question.status.is_open())?;
    if !message.starts_with(&format!("{}\n\n{}", question.topic, question.prompt)) {
        return None;
    }
    let value = match question.expected {
        Expected::Json { .. } => Value::from(answer.value.to_string()),
        _ => answer.value.clone(),
    };
    Some(json!({ "hookSpecificOutput": {
        "hookEventName": "Elicitation", "action": "accept", "content": { "answer": value },
    } }))
}
