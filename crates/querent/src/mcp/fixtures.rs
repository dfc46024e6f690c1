//! What the official conformance suites of MCP ask a server for by name: tools, prompts and resources of no other use.
//! Only in a binary that was built for these suites.
//!
//! Everything else is the server that ships: its transport, lists, subscriptions, seal and errors. A fixture is only
//! what that server has nothing of its own for.

#[cfg(not(debug_assertions))]
compile_error!("the fixtures are for tests: build without the feature conformance-fixtures, or without --release");

mod jobs;
mod library;
mod messages;
mod plain;
mod rounds;
mod tools;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams, CompleteResult,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::Call;
use super::outcome::{Halt, response, response_error};
use super::server::{Server, lock};
use tools::{Fixture, Group};

/// The server that ships, and the fixtures beside what it offers.
#[derive(Clone)]
pub(crate) struct Fixtures {
    server: Server,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    tasks: TaskManager,
    /// Who listens to changes, by number.
    listeners: Mutex<BTreeMap<u64, SubscriptionSink>>,
    next: AtomicU64,
}

impl Fixtures {
    pub(crate) fn new(server: Server) -> Self {
        Self { server, shared: Arc::default() }
    }

    /// The same for another client.
    pub(crate) fn for_client(&self) -> Self {
        Self { server: self.server.for_client(), shared: Arc::clone(&self.shared) }
    }

    async fn run(&self, fixture: &Fixture, arguments: JsonObject, call: Call) -> Result<CallToolResponse, Halt> {
        match fixture.group {
            Group::Plain => plain::call(&arguments, &call),
            Group::Messages => messages::call(&arguments, &call).await,
            Group::Rounds => rounds::call(&call),
            Group::Jobs => jobs::call(&self.shared.tasks, &arguments, &call).await,
            Group::Changes => {
                self.change(fixture.name).await;
                Ok(said("the list changed").into())
            }
        }
    }

    /// Tells everybody who listens that a list changed.
    async fn change(&self, tool: &str) {
        let listeners: Vec<SubscriptionSink> = lock(&self.shared.listeners).values().cloned().collect();
        for listener in listeners {
            // Whoever did not ask for it is not told, and whoever is gone misses nothing.
            let _ = match tool {
                tools::TOOL_CHANGE => listener.notify_tool_list_changed().await,
                _ => listener.notify_prompt_list_changed().await,
            };
        }
    }
}

/// A value of the protocol, written as it is on the wire.
fn wire<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(format!("a fixture: {error}"), None))
}

/// The result of a tool that says these words.
fn said(words: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(words)])
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        info.capabilities.completions = Some(JsonObject::new());
        info.capabilities.logging = Some(JsonObject::new());
        if let Some(tools) = &mut info.capabilities.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut info.capabilities.prompts {
            prompts.list_changed = Some(true);
        }
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(Fixture::listed).or_else(|| self.server.get_tool(name))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(request, context).await?;
        // Some scenarios call the first tool that there is, without arguments.
        listed.tools.splice(0..0, tools::list());
        Ok(listed)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(fixture) = tools::find(&request.name) else {
            return self.server.call_tool(request, context).await;
        };
        let arguments = request.arguments.take().unwrap_or_default();
        let call = Call::new(&self.server, fixture.name, &mut request, context);
        match self.run(&fixture, arguments, call).await {
            Ok(done) => Ok(done),
            Err(halt) => response(Err(halt)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.server.list_resources(request, context).await?;
        listed.resources.extend(library::resources());
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.server.list_resource_templates(request, context).await?;
        listed.resource_templates.push(library::template());
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match library::read(&request.uri)? {
            Some(read) => Ok(read.into()),
            None => self.server.read_resource(request, context).await,
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if library::is_known(&request.uri) {
            self.server.watched().add(request.uri);
            return Ok(());
        }
        #[expect(deprecated, reason = "the older eras subscribe so")]
        self.server.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        #[expect(deprecated, reason = "the older eras subscribe so")]
        self.server.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.server.accepted_subscription_filter(requested)?;
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.shared.listeners).insert(number, context.sink().clone());
        let heard = self.server.listen(context).await;
        lock(&self.shared.listeners).remove(&number);
        heard
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.server.list_prompts(request, context).await?;
        listed.prompts.extend(library::prompts());
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == rounds::PROMPT {
            return rounds::prompt(request.input_responses.as_ref()).map_err(response_error);
        }
        match library::prompt(&request.name, request.arguments.as_ref())? {
            Some(got) => Ok(got.into()),
            None => self.server.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        library::complete(&request)
    }

    #[expect(deprecated, reason = "the suites of the older eras still set the level of a log")]
    async fn set_level(
        &self,
        _request: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        match self.shared.tasks.get_task(&request.task_id) {
            Ok(task) => Ok(GetTaskResult::new(task)),
            Err(_) => self.server.get_task(request, context).await,
        }
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.shared.tasks.get_task(&request.task_id) {
            Ok(_) => self.shared.tasks.update_task(&request.task_id, request.input_responses),
            Err(_) => self.server.update_task(request, context).await,
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.shared.tasks.get_task(&request.task_id) {
            Ok(_) => self.shared.tasks.cancel_task(&request.task_id),
            Err(_) => ServerHandler::cancel_task(&self.server, request, context).await,
        }
    }
}
