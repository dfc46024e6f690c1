//! An answer to what was asked in one round, and not to what is asked now if that is another.

use serde_json::{Value, json};

use super::{Now, answer};
use crate::event::Event;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, round: u32, given: &Value) -> Result<Vec<Event>, Refusal> {
    if question.round != round {
        let id = &question.id;
        let message = format!("this answers round {round} of {id}, which is in round {}", question.round);
        return Err(Refusal::new(Code::Conflict, message, format!("read what is asked now: querent show {id}"))
            .with(json!({ "question_id": id, "round": question.round })));
    }
    answer::decide(now, question, given, None)
}
