//! Sessions: an agent says that it begins or ends its work.

use querent_core::{Action, ItemId, Refusal, SessionId};
use serde::Deserialize;
use serde_json::Value;

use super::call::{Call, Named};
use super::reply::Said;
use super::schema::{Field, flag, item, maybe, number, session, shape, shaped, worker};
use super::{Route, Run, Verb};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/hooks/start",
        operation: "hook_start",
        tag: "sessions",
        summary: "Report that an agent begins to work on an item",
        description: "The session is `working` from now on; the item is not moved. Refused (item_not_runnable) while the item waits \
for a human, is blocked or has ended. The monitor looks at the project afterwards.",
        fields: || {
            let pid = number(
                1,
                u32::MAX,
                "The process on the server's machine that the agent runs in: when it is gone, the session is given up",
            );
            worked(maybe("pid", pid))
        },
        example: r#"{"agent": "engineer", "item": "42"}"#,
        reply,
        versioned: false,
        run: Run::Now(start),
    },
    Route {
        verb: Verb::Post,
        path: "/hooks/finish",
        operation: "hook_finish",
        tag: "sessions",
        summary: "Report that an agent has finished its work on an item",
        description: "The session is `done`. If the item stands in this agent's step and no blocking question is open, it goes to \
the next step, or to `ready_to_merge` after the last one.",
        fields: || worked(maybe("keep", flag("Leave the item where it is"))),
        example: r#"{"agent": "engineer", "item": "42", "keep": true}"#,
        reply,
        versioned: false,
        run: Run::Now(finish),
    },
];

fn worked(more: Field) -> Vec<Field> {
    vec![worker(), item(), maybe("session", session("The session; without it, <agent>@<item>")), more]
}

fn reply() -> Value {
    shaped([("session", super::schema::shape_or_null("Session")), ("item", shape("Item"))], &[])
}

#[derive(Deserialize)]
struct Args {
    agent: Option<Named>,
    item: Option<ItemId>,
    session: Option<SessionId>,
    pid: Option<u32>,
    #[serde(default)]
    keep: bool,
}

fn start(call: &Call) -> Result<Said, Refusal> {
    let Args { agent, item, session, pid, .. } = call.read()?;
    let by = call.speaks(agent)?;
    let process = pid.map(querent_hub::process).transpose()?;
    Ok(call.execute(call.item(item)?, by, Action::StartSession { session, process }))
}

fn finish(call: &Call) -> Result<Said, Refusal> {
    let Args { agent, item, session, keep, .. } = call.read()?;
    let by = call.speaks(agent)?;
    Ok(call.execute(call.item(item)?, by, Action::FinishSession { session, keep }))
}
