//! A call that waits, as a task: the client polls instead of holding a call open. A task is nothing of its own: it is read
//! from its question, so it outlives the server that made it.

use querent_core::{Question, QuestionId, Status};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, InputResponses, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::call::Call;
use super::elicitation;
use super::outcome::{Halt, response_error};
use super::server::Server;
use super::tools::{self, Tool};

/// How often a client should look.
const POLL_MS: u64 = 1_000;

/// A task's name: the tool that was called, and the question that it waits for.
struct Name {
    tool: &'static Tool,
    question: QuestionId,
}

/// The task that a waiting call becomes, if its client has tasks.
pub(crate) fn begun(call: &Call, question: &Question) -> Option<CreateTaskResult> {
    let has_tasks = call.context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    (call.is_modern() && has_tasks).then(|| CreateTaskResult::new(task(call.tool, question)))
}

/// `tasks/get`.
pub(crate) fn get(server: &Server, id: &str, context: RequestContext<RoleServer>) -> Result<GetTaskResult, ErrorData> {
    let name = named(id)?;
    let call = Call::of_task(server, name.tool.name, context);
    let (question, item) = call.question(&name.question).map_err(response_error)?;
    let payload = if question.status.is_open() && server.is_cancelled(id) {
        TaskPayload::Cancelled
    } else if !question.status.is_open() {
        let result = CallToolResult::from(tools::waited(name.tool, &item, &question));
        TaskPayload::Completed { result: object(serde_json::to_value(result)) }
    } else {
        match elicitation::forms(&call, &question) {
            Some(input_requests) => TaskPayload::InputRequired { input_requests },
            None => TaskPayload::Working,
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(task(name.tool.name, &question), payload)))
}

/// `tasks/update`: what a person said to the form of a task.
pub(crate) async fn update(
    server: &Server,
    id: &str,
    responses: InputResponses,
    context: RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let name = named(id)?;
    let call = Call { input_responses: responses, ..Call::of_task(server, name.tool.name, context) };
    call.question(&name.question).map_err(response_error)?;
    elicitation::take(&call, &name.question).await.map_err(response_error)
}

/// `tasks/cancel`: the client waits no longer. The question stays open.
pub(crate) fn cancel(server: &Server, id: &str, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let name = named(id)?;
    Call::of_task(server, name.tool.name, context).question(&name.question).map_err(response_error)?;
    server.cancel_task(id);
    Ok(())
}

fn named(id: &str) -> Result<Name, ErrorData> {
    let parts = id.split_once(':').and_then(|(tool, question)| Some((tools::find(tool)?, question.parse().ok()?)));
    let name = parts.filter(|(tool, _)| tool.waits()).map(|(tool, question)| Name { tool, question });
    name.ok_or_else(|| ErrorData::invalid_params("there is no such task", None))
}

fn task(tool: &str, question: &Question) -> Task {
    let changed = question.thread.last().map_or(question.created_at, |entry| entry.at);
    let (created, changed) = (question.created_at.to_string(), changed.to_string());
    let message = match question.status {
        status @ (Status::Open | Status::Stale | Status::Escalated) => {
            format!("{} is {status}; {} has not answered yet", question.id, question.to)
        }
        status => format!("{} is {status}", question.id),
    };
    Task::new(format!("{tool}:{}", question.id), TaskStatus::Working, created, changed)
        .with_status_message(message)
        .with_poll_interval_ms(POLL_MS)
}

fn object(value: serde_json::Result<Value>) -> JsonObject {
    match value {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

/// The end of a call that becomes a task.
pub(crate) fn instead(created: CreateTaskResult) -> Halt {
    Halt::Other(Box::new(created.into()))
}
