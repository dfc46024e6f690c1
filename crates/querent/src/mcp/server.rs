//! The server that every transport carries.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use querent_core::{Action, Code, Command, ItemId, Party, QuestionId, Refusal, Via};
use querent_hub::{Handle, Project};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, Implementation, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::{Mutex as Turns, MutexGuard as Turn};

use super::call::Call;
use super::caller::Caller;
use super::outcome::{response, told};
use super::seal::Seal;
use super::watch::{self, Watched};
use super::{prompts, resources, tasks, tools};

/// A server for one caller. Cheap to clone; every clone is the same server.
#[derive(Clone)]
pub(crate) struct Server {
    inner: Arc<Inner>,
    /// What this client wants to be told.
    watched: Arc<Watched>,
    /// Held while this client is sent a sign of life of a call that waits.
    sign: Arc<Turns<()>>,
}

struct Inner {
    hub: Handle,
    project: Project,
    caller: Caller,
    seal: OnceLock<Seal>,
    /// Whether the transport takes data that is spelt already.
    passes_text: bool,
    /// The items on which the caller's session has begun.
    begun: Mutex<BTreeSet<ItemId>>,
    /// The questions whose form a person put away.
    put_away: Mutex<BTreeSet<QuestionId>>,
    /// The tasks that their client waits for no longer.
    cancelled: Mutex<BTreeSet<String>>,
}

const INSTRUCTIONS: &str = "\
Querent carries your questions to whoever can answer them: another agent, or a person. When something is unclear and the \
answer would change what you do, call question_create instead of guessing; one question a call, with the options that you \
see and the one that you would take. A blocking question pauses the item until it is answered: wait with await_answer. \
Call get_context before you begin. A decision that you take without asking goes on record with record_assumption.";

/// How long a client may keep what only a new version changes.
const STABLE_MS: u64 = 300_000;

impl Server {
    pub(crate) fn new(hub: Handle, project: Project, caller: Caller) -> Self {
        Self::on(hub, project, caller, false)
    }

    /// The same for [`Stdio`](super::Stdio), which writes data that is a text as the object that it spells.
    pub(crate) fn passing_text(hub: Handle, project: Project, caller: Caller) -> Self {
        Self::on(hub, project, caller, true)
    }

    fn on(hub: Handle, project: Project, caller: Caller, passes_text: bool) -> Self {
        let (begun, put_away, cancelled) = (Mutex::default(), Mutex::default(), Mutex::default());
        let inner = Inner { hub, project, caller, seal: OnceLock::new(), passes_text, begun, put_away, cancelled };
        Self { inner: Arc::new(inner), watched: Arc::default(), sign: Arc::default() }
    }

    /// The same server for another of its clients.
    pub(crate) fn for_client(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), watched: Arc::default(), sign: Arc::default() }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.inner.caller
    }

    pub(crate) fn hub(&self) -> &Handle {
        &self.inner.hub
    }

    /// Whether what a tool says may be spelt already.
    pub(crate) fn passes_text(&self) -> bool {
        self.inner.passes_text
    }

    pub(crate) fn project(&self) -> &Project {
        &self.inner.project
    }

    /// Runs a query about one item. It is answered from memory but for what is new, so no other thread is woken for it.
    pub(crate) fn look<T>(&self, query: impl FnOnce(&Handle) -> Result<T, Refusal>) -> Result<T, Refusal> {
        query(&self.inner.hub)
    }

    /// Runs what waits for the disk, or may be long, where it may block.
    pub(crate) async fn on_hub<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Handle) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let hub = self.inner.hub.clone();
        tokio::task::spawn_blocking(move || job(&hub)).await.unwrap_or_else(|error| {
            let message = format!("the call broke off: {error}");
            Err(Refusal::new(Code::StorageError, message, "try again; if it happens again, run querent doctor"))
        })
    }

    /// What seals the rounds of a call.
    pub(crate) fn seal(&self) -> Result<&Seal, Refusal> {
        if let Some(seal) = self.inner.seal.get() {
            return Ok(seal);
        }
        let made = Seal::of(&self.inner.project)?;
        Ok(self.inner.seal.get_or_init(|| made))
    }

    /// The caller's session on an item begins with its first deed there. An item that cannot be worked on now can still be
    /// asked about, so a refusal here is none of the deed.
    pub(crate) async fn begin(&self, item: &ItemId) -> Result<(), Refusal> {
        let Ok(agent) = self.caller().agent() else { return Ok(()) };
        if !lock(&self.inner.begun).insert(item.clone()) {
            return Ok(());
        }
        let action = Action::StartSession { session: self.caller().session.clone(), process: None };
        let command = Command { item: item.clone(), by: Party::Agent(agent.clone()), via: Via::Mcp, action };
        self.on_hub(move |hub| Ok(hub.execute(&command, None))).await.map(drop)
    }

    /// The items on which the caller's session has begun.
    pub(crate) fn begun(&self) -> BTreeSet<ItemId> {
        lock(&self.inner.begun).clone()
    }

    /// What the client wants to be told.
    pub(crate) fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Waits until no other call shows this client that it lives: where a client does not listen, thousands may want to, and
    /// each takes memory until it is heard.
    pub(crate) async fn turn(&self) -> Turn<'_, ()> {
        self.sign.lock().await
    }

    /// Whether the client of a task waits no longer.
    pub(crate) fn is_cancelled(&self, task: &str) -> bool {
        lock(&self.inner.cancelled).contains(task)
    }

    /// The client of a task waits no longer.
    pub(crate) fn cancel_task(&self, task: &str) {
        lock(&self.inner.cancelled).insert(task.to_owned());
    }

    /// Whether a person may still be shown the form of a question.
    pub(crate) fn may_show(&self, question: &QuestionId) -> bool {
        !lock(&self.inner.put_away).contains(question)
    }

    /// A person put the form of a question away: nobody is there.
    pub(crate) fn put_away(&self, question: &QuestionId) {
        lock(&self.inner.put_away).insert(question.clone());
    }
}

pub(crate) fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tasks()
            .build();
        let mut info = InitializeResult::new(capabilities);
        info.server_info = Implementation::new("querent", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()).with_ttl_ms(STABLE_MS).with_cache_scope(CacheScope::Public))
    }

    /// Thousands may wait in here, so nothing is kept but the tool that runs.
    fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        let running = tools::find(&request.name).map(|tool| {
            let arguments = request.arguments.take().unwrap_or_default();
            tool.call(arguments, Call::new(self, tool.name, &mut request, context))
        });
        let running = running.ok_or_else(|| tools::unknown(&request.name));
        async move { response(running?.await) }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        watch::follow(self, &context.peer).map_err(|refusal| told(&refusal))?;
        let listed = self.on_hub(resources::list).await.map_err(|refusal| told(&refusal))?;
        Ok(ListResourcesResult::with_all_items(listed).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(listed.with_ttl_ms(STABLE_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.on_hub(move |hub| resources::read(hub, &request.uri)).await;
        read.map_err(|refusal| told(&refusal))?.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !resources::is_known(&request.uri) {
            return Err(resources::unknown(&request.uri));
        }
        watch::follow(self, &context.peer).map_err(|refusal| told(&refusal))?;
        self.watched.add(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(watch::granted(self, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        Box::pin(watch::listen(self, context)).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = ListPromptsResult::with_all_items(prompts::list());
        Ok(listed.with_ttl_ms(STABLE_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let server = self.clone();
        let got = self.on_hub(move |hub| prompts::get(hub, server.caller(), &request.name, &arguments)).await;
        got.map_err(|refusal| told(&refusal))?.map(Into::into)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(self, &request.task_id, context)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Box::pin(tasks::update(self, &request.task_id, request.input_responses, context)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(self, &request.task_id, context)
    }
}
