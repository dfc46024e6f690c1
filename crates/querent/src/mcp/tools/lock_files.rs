//! `lock_files`: files for one session at a time.

use std::sync::Arc;
use std::time::Duration;

use querent_core::{Action, OperationId, Refusal, Span, Via};
use querent_hub::Wanted;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::{Nature, Tool};
use crate::mcp::call::{Call, cancelled};
use crate::mcp::caller;
use crate::mcp::outcome::{Halt, Said};
use crate::mcp::schema::{arguments, flag, number, reply, text, texts};
use crate::mcp::waiting::MOST_SECONDS;

pub(super) const TOOL: Tool = Tool {
    name: "lock_files",
    title: "Lock files",
    description: "\
Lock files, directories or globs for yourself before you change what others may be working on; all of them or none. Files \
that another session holds are refused with the holder's name, or waited for with wait_seconds. With release, give them back.",
    nature: Nature::Settles,
    waited: None,
    input,
    output,
    run: |arguments, call| Box::pin(run(arguments, call)),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    paths: Vec<String>,
    wait_seconds: Option<u64>,
    ttl_seconds: Option<u64>,
    #[serde(default)]
    release: bool,
    operation_id: Option<OperationId>,
}

const USUAL: Span = Span::minutes(30);

async fn run(arguments: JsonObject, call: Call) -> Result<Said, Halt> {
    let Args { paths, wait_seconds, ttl_seconds, release, operation_id } = super::read(arguments)?;
    let item = call.item(None)?;
    let session = call.caller().session(&item)?;
    call.server.begin(&item).await?;
    let project = call.server.project();
    let paths = paths.iter().map(|path| project.path(project.root(), path)).collect::<Result<_, Refusal>>()?;
    if release {
        let envelope = call.execute(item, Action::Unlock { session, paths }, operation_id).await?;
        return Said::reply(&envelope, |_| "Given back.".to_owned());
    }
    let ttl = ttl_seconds.map_or(USUAL, Span::seconds);
    let wanted = Wanted { session, paths, ttl, via: Via::Mcp };
    let operation = operation_id.or_else(|| caller::operation(&call.context.meta));
    let envelope = match wait_seconds.unwrap_or_default().min(MOST_SECONDS.into()) {
        0 => call.on_hub(move |hub| hub.lock(&wanted, operation)).await?,
        seconds => tokio::select! {
            envelope = call.server.hub().lock_within(&wanted, Duration::from_secs(seconds), operation) => envelope?,
            () = call.context.ct.cancelled() => return Err(cancelled()),
        },
    };
    Said::reply(&envelope, |at| format!("You hold {}.", at("/granted")))
}

fn input() -> Arc<JsonObject> {
    arguments(
        [
            ("paths", texts("Files, directories or globs inside the project")),
            ("wait_seconds", number(0, MOST_SECONDS, "Wait so long for whoever holds them; 0 without it")),
            ("ttl_seconds", number(1, 7 * 24 * 3_600, "For how long if nobody gives them back; 1800 without it")),
            ("release", flag("Give them back instead; without paths, all that you hold")),
            ("operation_id", text("An id that makes the call happen once")),
        ],
        &["paths"],
    )
}

fn output() -> Arc<JsonObject> {
    let list = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    reply(
        [
            ("granted", list("What you hold")),
            ("waiting", list("What you wait for")),
            ("released", list("What you gave back")),
        ],
        &["granted", "waiting", "released"],
    )
}
