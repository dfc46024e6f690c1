//! One call of a tool: who makes it, on which item, and through which hub.

use std::sync::Arc;

use querent_core::{
    Action, Command, Envelope, Item, ItemId, OperationId, Party, Question, QuestionId, Refusal, SharedCommand, Via,
};
use querent_hub::Handle;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, InputResponses, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;

use super::caller::{self, Caller};
use super::outcome::{Halt, Said};
use super::server::Server;

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) server: Server,
    pub(crate) context: RequestContext<RoleServer>,
    /// The tool.
    pub(crate) tool: &'static str,
    /// What the client carried for us since the last round.
    pub(crate) request_state: Option<String>,
    /// What a person said to our form.
    pub(crate) input_responses: InputResponses,
}

impl Call {
    pub(crate) fn new(
        server: &Server,
        tool: &'static str,
        params: &mut CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Self {
        let (request_state, input_responses) = (params.request_state.take(), params.input_responses.take());
        let input_responses = input_responses.unwrap_or_default();
        Self { server: server.clone(), context, tool, request_state, input_responses }
    }

    /// The call of a tool that became a task.
    pub(crate) fn of_task(server: &Server, tool: &'static str, context: RequestContext<RoleServer>) -> Self {
        let (request_state, input_responses) = (None, InputResponses::default());
        Self { server: server.clone(), context, tool, request_state, input_responses }
    }

    pub(crate) fn caller(&self) -> &Caller {
        self.server.caller()
    }

    /// Whether the client speaks the era without sessions.
    pub(crate) fn is_modern(&self) -> bool {
        let version = self.context.protocol_version();
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    /// Says `data`, which is `text` in words, in the form that costs least on the way to this client.
    pub(crate) fn says(&self, data: &impl Serialize, text: impl Into<String>) -> Said {
        if self.server.passes_text() { Said::spelt(data, text) } else { Said::new(data, text) }
    }

    /// Runs a query.
    pub(crate) fn look<T>(&self, query: impl FnOnce(&Handle) -> Result<T, Refusal>) -> Result<T, Halt> {
        Ok(self.server.look(query)?)
    }

    /// Runs what waits for the disk where it may block.
    pub(crate) async fn on_hub<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Handle) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Halt> {
        Ok(self.server.on_hub(job).await?)
    }

    /// The item that is meant: the named one, else the server's, else the only one that has not ended.
    pub(crate) fn item(&self, named: Option<ItemId>) -> Result<ItemId, Halt> {
        match named.or_else(|| self.caller().item.clone()) {
            Some(item) => Ok(item),
            None => self.look(Handle::only_item),
        }
    }

    /// Carries out a command of the caller, once for each operation id or call id of the client.
    pub(crate) async fn execute(
        &self,
        item: ItemId,
        action: Action,
        operation: Option<OperationId>,
    ) -> Result<Envelope, Halt> {
        let by = self.caller().party()?.clone();
        self.server.begin(&item).await?;
        let operation = operation.or_else(|| caller::operation(&self.context.meta));
        self.execute_as(Command { item, by, via: Via::Mcp, action }, operation).await
    }

    /// The same as somebody else, where the client is only the messenger.
    pub(crate) async fn execute_as(&self, command: Command, operation: Option<OperationId>) -> Result<Envelope, Halt> {
        Ok(self.server.hub().execute_later(command, None, operation).await)
    }

    /// Carries out a command that is about what all items share.
    pub(crate) async fn execute_shared(
        &self,
        command: SharedCommand,
        operation: Option<OperationId>,
    ) -> Result<Envelope, Halt> {
        let operation = operation.or_else(|| caller::operation(&self.context.meta));
        self.on_hub(move |hub| Ok(hub.execute_shared(&command, operation))).await
    }

    /// A question as it is now, with its item.
    pub(crate) fn question(&self, id: &QuestionId) -> Result<(Arc<Question>, Arc<Item>), Halt> {
        self.look(|hub| hub.question_and_item(id))
    }

    /// Binds what is sealed to this caller and tool.
    pub(crate) fn bound(&self) -> String {
        let party = self.caller().party.as_ref().map(Party::to_string);
        format!("{}|{}", party.unwrap_or_default(), self.tool)
    }

    /// The question of an earlier round of this call.
    pub(crate) fn resumed(&self) -> Result<Option<QuestionId>, Halt> {
        let Some(sealed) = &self.request_state else { return Ok(None) };
        Ok(Some(self.server.seal()?.open(sealed, &self.bound())?))
    }
}

/// A client that gave up is told nothing.
pub(crate) fn cancelled() -> Halt {
    Halt::Malformed(ErrorData::invalid_request("the call was cancelled; the question stays open", None))
}
