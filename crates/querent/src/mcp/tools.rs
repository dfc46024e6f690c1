//! The tools, in a stable order. A file each.

pub(crate) mod question_create;

mod await_answer;
mod get_context;
mod lock_files;
mod question_answer;
mod question_escalate;
mod question_follow_up;
mod question_list;
mod question_resolve;
mod question_withdraw;
mod record_assumption;
mod report_status;
mod settle;

use std::pin::Pin;
use std::sync::Arc;

use querent_core::{Item, Question, canonical, nearest};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonObject, MetaObject, Tool as Listed, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::Call;
use super::outcome::{Halt, Said};

/// Every tool there is.
const TOOLS: &[Tool] = &[
    question_create::TOOL,
    question_list::TOOL,
    question_answer::TOOL,
    question_follow_up::TOOL,
    question_resolve::TOOL,
    question_escalate::TOOL,
    question_withdraw::TOOL,
    await_answer::TOOL,
    get_context::TOOL,
    record_assumption::TOOL,
    report_status::TOOL,
    lock_files::TOOL,
];

/// What a tool is, and how it is called.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    title: &'static str,
    /// What a model reads before it calls it.
    description: &'static str,
    nature: Nature,
    /// What it tells of a question that it waited for; none if it waits for none.
    waited: Option<Waited>,
    input: fn() -> Arc<JsonObject>,
    output: fn() -> Arc<JsonObject>,
    run: fn(JsonObject, Call) -> Running,
}

type Waited = fn(&Item, &Question) -> Said;
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Said, Halt>> + Send>>;

/// What a call of it does to the world.
#[derive(Clone, Copy)]
enum Nature {
    /// Nothing.
    Reads,
    /// Adds something, once for each call of the client.
    Adds,
    /// Leads to the same however often it is called.
    Settles,
}

impl Tool {
    /// Calls it.
    pub(crate) fn call(&self, mut arguments: JsonObject, call: Call) -> Running {
        // Some models send every argument that they know of.
        arguments.retain(|_, value| !value.is_null());
        canonical::sort(&mut arguments);
        // Most items are named by a number, and some models send it as one.
        if let Some(item @ Value::Number(_)) = arguments.get_mut("item") {
            *item = Value::String(item.to_string());
        }
        (self.run)(arguments, call)
    }

    /// Whether a call of it can wait for a question.
    pub(crate) fn waits(&self) -> bool {
        self.waited.is_some()
    }

    fn listed(&self) -> Listed {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(matches!(self.nature, Nature::Reads))
            .destructive(false)
            .idempotent(!matches!(self.nature, Nature::Adds))
            .open_world(false);
        let mut meta = MetaObject::new();
        // Claude Code hides tools behind a search; one that is not seen is not called.
        meta.0.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
        Listed::new(self.name, self.description, (self.input)())
            .with_title(self.title)
            .with_raw_output_schema((self.output)())
            .with_annotations(annotations)
            .with_meta(meta)
    }
}

/// What a tool that waited tells of its question.
pub(crate) fn waited(tool: &Tool, item: &Item, question: &Question) -> Said {
    tool.waited.map_or_else(|| Said::new(&(), ""), |waited| waited(item, question))
}

/// All tools, as clients see them.
pub(crate) fn list() -> Vec<Listed> {
    TOOLS.iter().map(Tool::listed).collect()
}

/// The tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The error for a name that no tool has.
pub(crate) fn unknown(name: &str) -> ErrorData {
    let near = nearest::of(name, TOOLS.iter().map(|tool| tool.name));
    let cure = near.map_or_else(|| "list the tools first".to_owned(), |near| format!("did you mean `{near}`?"));
    let shown: String = name.chars().take(100).collect();
    ErrorData::new(
        ErrorCode::INVALID_PARAMS,
        format!("there is no tool `{shown}`; {cure}"),
        Some(json!({ "tool": shown })),
    )
}

/// Arguments of the shape that a tool takes.
fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Halt> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let place = error.path().to_string();
        misfit(&place, error.inner())
    })
}

/// Arguments that do not fit, and where.
fn misfit(place: &str, error: &serde_json::Error) -> Halt {
    let place = if place == "." { "the arguments do not fit".to_owned() } else { format!("`{place}` does not fit") };
    let message: String = format!("{place}: {error}").chars().take(2_000).collect();
    ErrorData::invalid_params(message, None).into()
}
