//! Deadlines become commands; no daemon is needed.

use crate::command::{Action, Cause, Command};
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::question::{Question, Status};
use crate::state::State;

/// What has come due on the questions at hand. Each command may make others moot: ask again after each. Costs what is open,
/// not what is settled.
pub fn due(state: &State, at: Moment) -> Vec<Command> {
    let Some(item) = &state.item else { return Vec::new() };
    let open = item.open.keys().filter_map(|number| state.questions.get(&item.question_id(*number)));
    open.filter_map(|question| {
        let action = due_on(question, at)?;
        Some(Command { item: question.item.clone(), by: Party::Querent, via: Via::Querent, action })
    })
    .collect()
}

/// What has come due on a question: the end comes before a retry, a retry before a reminder.
pub(crate) fn due_on(question: &Question, at: Moment) -> Option<Action> {
    let passed = |moment: Option<Moment>| moment.is_some_and(|moment| moment <= at);
    let id = question.id.clone();
    if passed(question.expires_at) {
        Some(Action::Expire { question: id })
    } else if passed(question.stale_at) && question.status == Status::Open {
        Some(Action::Retry { question: id })
    } else if passed(question.stale_at) {
        Some(Action::Escalate { question: id, summary: None, cause: Cause::Sla })
    } else if passed(question.remind_at) {
        Some(Action::Remind { question: id })
    } else {
        None
    }
}
