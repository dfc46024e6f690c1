//! Before a session ends its turn: what it waited for is told, and a headless one that still waits is parked.

use querent_core::{Action, Item, Park, Program, Question, QuestionId, Refusal, SessionId, news};
use querent_hub::Handle;
use serde_json::{Value, json};

use super::{Input, Reaction, Seat};

pub(super) fn react(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    let handle = input.handle()?;
    let untold = hub.untold(&seat.item(hub)?.id, &seat.agent, &handle)?;
    let session = seat.session_on(&untold.item.id);
    let own: Vec<Question> = untold.settled.iter().filter(|it| is_own(it, &session)).cloned().collect();
    // A session that goes on because of a Stop hook is not held again, and a newcomer asked nothing.
    if let Some(text) = news(&untold.item.id, &own, &[]).filter(|_| !input.stop_hook_active && !untold.newcomer) {
        // Recorded first: a session must never be held twice by the same news, whatever fails.
        for question in own {
            let tell = Action::Tell { handle: handle.clone(), upto: 0, question: Some(question.id) };
            hub.execute(&seat.command(&untold.item.id, tell), None).read::<Value>()?;
        }
        let reason = format!("{text}\nYou waited for this: go on with it, or say why nothing follows from it.");
        return Ok(Reaction::saying(json!({ "decision": "block", "reason": reason })));
    }
    if seat.headless
        && let Some(question) = waits_for(&untold.item, &session)
    {
        let park = Park { program: Program::Claude, handle, directory: input.cwd.clone(), call: None };
        let park = Action::Park { question, park: Box::new(park) };
        return Ok(Reaction { says: None, then: vec![seat.command(&untold.item.id, park)] });
    }
    Ok(Reaction::default())
}

fn is_own(question: &Question, session: &SessionId) -> bool {
    question.blocking && question.from.session == *session
}

/// The open blocking question of a session that nobody is parked on.
fn waits_for(item: &Item, session: &SessionId) -> Option<QuestionId> {
    let own = item.open.iter().filter(|(_, it)| it.blocking && !it.about_session && it.session == *session);
    own.map(|(number, _)| *number).find(|number| !item.parked.contains_key(number)).map(|it| item.question_id(it))
}
