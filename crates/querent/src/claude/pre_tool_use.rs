//! Before a tool runs: a headless session that would wait for an answer is parked, and nothing is edited while the item waits
//! for a human.

use querent_core::reply::AskReply;
use querent_core::{Action, Code, Item, Park, Program, Question, Refusal, Stage};
use querent_hub::Handle;
use serde_json::{Value, json};

use super::{Input, Reaction, Seat, question};

/// The tools that change files. What a shell does cannot be told from outside, and reading is fine.
const EDITS: [&str; 4] = ["Edit", "MultiEdit", "NotebookEdit", "Write"];

pub(super) fn react(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    if input.tool_of(&seat.server) == Some("question_create") {
        return asks(hub, seat, input);
    }
    if EDITS.contains(&input.tool_name.as_str()) {
        let denied = denied(&seat.item(hub)?);
        return Ok(Reaction { says: denied, ..Reaction::default() });
    }
    Ok(Reaction::default())
}

/// The tool itself waits where somebody sits in front of the session, and says why an ask is refused. A subagent's call cannot
/// be deferred.
fn asks(hub: &Handle, seat: &Seat, input: &Input) -> Result<Reaction, Refusal> {
    let allowed = || Ok(Reaction::saying(decision("allow", "Querent's own tool")));
    if !seat.headless || input.agent_id.is_some() {
        return allowed();
    }
    let Some((command, operation)) = question::of(hub, seat, input) else { return allowed() };
    if !question::blocks(&command) {
        return allowed();
    }
    let Ok(reply) = hub.execute(&command, Some(operation)).read::<AskReply>() else { return allowed() };
    let question = hub.question(&reply.question_id)?;
    let item = hub.item(&question.id.item)?;
    if !question.status.is_open() || !question.blocking {
        let parked = item.parked.get(&question.id.number);
        let parked = parked.is_some_and(|parked| input.handle().is_ok_and(|handle| parked.handle == handle));
        let resumed = seat.resumed_for.as_ref() == Some(&question.id);
        let wake = Action::Wake { question: question.id.clone(), resumed };
        let then = parked.then(|| seat.command(&item.id, wake)).into_iter().collect();
        return Ok(Reaction { then, ..allowed()? });
    }
    if park(hub, seat, input, &item, &question)? { Ok(Reaction::saying(deferred(&question))) } else { allowed() }
}

/// Parks the session on a question; says whether it is. It is not if it is parked on another one: Claude keeps back one call.
fn park(hub: &Handle, seat: &Seat, input: &Input, item: &Item, question: &Question) -> Result<bool, Refusal> {
    let park = Park {
        program: Program::Claude,
        handle: input.handle()?,
        directory: input.cwd.clone(),
        call: Some(input.tool_use_id.clone()),
    };
    let is_known = item.parked.get(&question.id.number).is_some_and(|known| {
        (&known.handle, &known.directory, &known.call) == (&park.handle, &park.directory, &park.call)
            && known.claim.is_none()
    });
    if is_known {
        return Ok(true);
    }
    let command = seat.command(&item.id, Action::Park { question: question.id.clone(), park: Box::new(park) });
    match hub.execute(&command, None).read::<Value>() {
        Ok(_) => Ok(true),
        // It was answered meanwhile, or the session waits for another answer.
        Err(refusal) if matches!(refusal.code, Code::InvalidTransition | Code::Conflict) => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// Nothing is edited while the item waits for a human.
fn denied(item: &Item) -> Option<Value> {
    if item.stage != Stage::AwaitingInput {
        return None;
    }
    let (id, _) = item.blocking_human().next()?;
    let reason = format!(
        "Item {} waits for a human's answer to {id}, so nothing is edited until then. Wait for it with the tool await_answer \
         (question_id {id}); you may read and search meanwhile. If the question has become moot, take it back with \
         question_withdraw.",
        item.id
    );
    Some(decision("deny", &reason))
}

fn deferred(question: &Question) -> Value {
    let (id, to) = (&question.id, &question.to);
    decision("defer", &format!("{id} waits for {to}; `querent resume` goes on with this session when it is settled"))
}

fn decision(decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
    } })
}
