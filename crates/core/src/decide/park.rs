//! A session ends in the middle of its work and waits outside of any process, or is seen to go on.

use serde_json::json;

use super::{Now, bounds, rights};
use crate::command::Park;
use crate::event::{Event, SessionParked, SessionWoken};
use crate::parked::Parked;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

pub(super) fn decide(now: &Now<'_>, question: &Question, park: &Park) -> Result<Vec<Event>, Refusal> {
    rights::of_agent(now.command, &question.from.agent)?;
    bounds::text("directory", &park.directory, 1, 4_096)?;
    if let Some(call) = &park.call {
        bounds::text("call", call, 1, 200)?;
    }
    let id = &question.id;
    if !question.status.is_open() {
        let message = format!("{id} is {}; there is nothing to wait for", question.status);
        return Err(Refusal::new(Code::InvalidTransition, message, format!("go on with it: querent show {id}"))
            .with(json!({ "question_id": id, "status": question.status })));
    }
    if !question.blocking {
        let message = format!("{id} blocks nobody");
        return Err(Refusal::invalid("question", message, "go on working; only a blocking question is waited for"));
    }
    // A program keeps one call back and forgets any other, so a second one must not be parked.
    let waits_for = |(number, it): &(&u32, &Parked)| {
        **number != id.number && it.handle == park.handle && now.item.open.contains_key(number)
    };
    if let Some((number, _)) = now.item.parked.iter().find(waits_for) {
        let other = now.item.question_id(*number);
        let message = format!("the {} session `{}` is parked on {other} already", park.program, park.handle);
        return Err(Refusal::new(Code::Conflict, message, format!("it goes on when {other} is settled"))
            .with(json!({ "question_id": other })));
    }
    Ok(vec![
        SessionParked {
            question: id.clone(),
            session: question.from.session.clone(),
            agent: question.from.agent.clone(),
            program: park.program,
            handle: park.handle.clone(),
            directory: park.directory.clone(),
            call: park.call.clone(),
        }
        .into(),
    ])
}

/// It goes on. Unless somebody resumes it and waits for its end, that is all.
pub(super) fn wake(now: &Now<'_>, question: &Question, resumed: bool) -> Result<Vec<Event>, Refusal> {
    let parked = of(now, question)?;
    rights::of_agent(now.command, &parked.agent)?;
    let kept = resumed && parked.claim.is_some();
    Ok(vec![SessionWoken { question: question.id.clone(), session: parked.session.clone(), kept }.into()])
}

/// The session that is parked on a question.
pub(super) fn of<'a>(now: &Now<'a>, question: &Question) -> Result<&'a Parked, Refusal> {
    now.item.parked.get(&question.id.number).ok_or_else(|| {
        let message = format!("no session is parked on {}", question.id);
        Refusal::new(Code::InvalidTransition, message, "there is nothing to resume; see who waits: querent state")
            .with(json!({ "question_id": question.id, "status": question.status }))
    })
}
