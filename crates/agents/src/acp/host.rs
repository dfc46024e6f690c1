//! What an agent asks of us and tells us while it works.

use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    self, ContentBlock, ReadTextFileRequest, ReadTextFileResponse, RequestPermissionRequest, RequestPermissionResponse,
    SessionId, SessionNotification, SessionUpdate, WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{
    Agent, ConnectionTo, Dispatch, Error, ErrorCode, HandleDispatchFrom, Handled, JsonRpcMessage, JsonRpcResponse,
};
use querent_core::canonical;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use super::files::{Denied, Grounds};
use super::permission::{self, Calls, Decision};
use crate::signal::Signal;

/// The one whom an agent works for. Its clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Host(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    signals: Sender<Signal>,
    grounds: Grounds,
    has_tools: bool,
    heard: Mutex<Heard>,
}

/// What was heard of the agent.
#[derive(Debug, Default)]
struct Heard {
    /// The session of the turn, while that is under way.
    session: Option<SessionId>,
    /// What the agent said in the turn.
    text: String,
    /// It did something else since it last spoke.
    is_apart: bool,
    is_stopping: bool,
    calls: Calls,
    /// What it was not allowed, if it has said nothing since.
    rejected: Option<String>,
    /// The last error that it replied with.
    complaint: Option<Error>,
}

/// What an agent said in a turn.
#[derive(Debug)]
pub(super) struct Spoken {
    /// Its words.
    pub(super) text: String,
    /// What it was not allowed at last, if it said nothing after that.
    pub(super) rejected: Option<String>,
}

impl Host {
    pub(super) fn new(signals: Sender<Signal>, grounds: Grounds, has_tools: bool) -> Self {
        Self(Arc::new(Shared { signals, grounds, has_tools, heard: Mutex::default() }))
    }

    /// The directory that the agent works in.
    pub(super) fn directory(&self) -> &Path {
        self.0.grounds.directory()
    }

    /// Says something to whoever listens; if nobody does any more, nothing is lost that somebody wants.
    pub(super) async fn signal(&self, signal: Signal) {
        let _ = self.0.signals.send(signal).await;
    }

    /// The turn begins. What was said before was said in an earlier one.
    pub(super) fn begin(&self, session: SessionId) {
        self.heard().session = Some(session);
    }

    /// The turn is over.
    pub(super) fn end(&self) -> Spoken {
        let mut heard = self.heard();
        heard.session = None;
        Spoken { text: std::mem::take(&mut heard.text), rejected: heard.rejected.take() }
    }

    /// The turn is to stop; its session, if it has begun.
    pub(super) fn stop(&self) -> Option<SessionId> {
        let mut heard = self.heard();
        heard.is_stopping = true;
        heard.session.clone()
    }

    /// The agent replied with an error.
    pub(super) fn complained(&self, error: Error) {
        self.heard().complaint = Some(error);
    }

    /// Whether this is what the agent replied with. Other errors are what became of a reply here.
    pub(super) fn is_complaint(&self, error: &Error) -> bool {
        self.heard().complaint.as_ref() == Some(error)
    }

    /// Does what the agent asks of us, if we do such things.
    async fn serve(&self, method: &str, params: &Value) -> Result<Value, Error> {
        if RequestPermissionRequest::matches_method(method) {
            self.permit(RequestPermissionRequest::parse_message(method, params)?).await.into_json(method)
        } else if ReadTextFileRequest::matches_method(method) {
            self.read(ReadTextFileRequest::parse_message(method, params)?).await?.into_json(method)
        } else if WriteTextFileRequest::matches_method(method) {
            self.write(WriteTextFileRequest::parse_message(method, params)?).await?.into_json(method)
        } else {
            Err(Error::method_not_found().data(method.to_owned()))
        }
    }

    /// Takes in what the agent does and says.
    async fn update(&self, told: SessionNotification) {
        let plan = self.heard().update(told);
        if let Some(plan) = plan {
            self.signal(Signal::Plan(canonical::sorted(json!({ "entries": plan.entries })))).await;
        }
    }

    /// Decides on what the agent wants to do.
    async fn permit(&self, wanted: RequestPermissionRequest) -> RequestPermissionResponse {
        let Shared { grounds, has_tools, .. } = &*self.0;
        let Decision { reply, title, is_allowed } = {
            let mut heard = self.heard();
            if heard.is_stopping {
                return permission::cancelled();
            }
            let decision = permission::decide(wanted, &heard.calls, *has_tools, |path| grounds.inside(path).is_some());
            heard.rejected = (!decision.is_allowed).then(|| decision.title.clone());
            decision
        };
        let note = if is_allowed { format!("allowed once: {title}") } else { format!("rejected: {title}") };
        self.signal(Signal::Note(note)).await;
        reply
    }

    async fn read(&self, wanted: ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
        let read = move |grounds: &Grounds| grounds.read(&wanted.path, wanted.line, wanted.limit);
        self.with_files(read).await.map(ReadTextFileResponse::new)
    }

    async fn write(&self, wanted: WriteTextFileRequest) -> Result<WriteTextFileResponse, Error> {
        let write = move |grounds: &Grounds| grounds.write(&wanted.path, &wanted.content);
        self.with_files(write).await.map(|()| WriteTextFileResponse::new())
    }

    async fn with_files<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Grounds) -> Result<T, Denied> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || act(&shared.grounds)).await;
        let done = done.unwrap_or_else(|_| Err(Denied::Failed("it was lost".to_owned())));
        done.map_err(|why| {
            let code = match why {
                // Agents tell this from all else, for they are about to make the file.
                Denied::NotFound => schema::ErrorCode::ResourceNotFound.into(),
                Denied::Outside | Denied::Failed(_) => ErrorCode::INTERNAL_ERROR,
            };
            Error::new(code, why.to_string())
        })
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One handler for all: the crate's own, one a type, are ten kilobytes of program each.
impl HandleDispatchFrom<Agent> for Host {
    async fn handle_dispatch_from(
        &mut self,
        message: Dispatch,
        _: ConnectionTo<Agent>,
    ) -> Result<Handled<Dispatch>, Error> {
        match message {
            Dispatch::Request(asked, responder) => {
                let reply = self.serve(asked.method(), asked.params()).await;
                responder.respond_with_result(reply)?;
            }
            Dispatch::Notification(told) if SessionNotification::matches_method(told.method()) => {
                self.update(SessionNotification::parse_message(told.method(), told.params())?).await;
            }
            // What else is told is for others.
            Dispatch::Notification(_) => {}
            reply @ Dispatch::Response(..) => return Ok(Handled::No { message: reply, retry: false }),
        }
        Ok(Handled::Yes)
    }

    fn describe_chain(&self) -> impl Debug {
        "querent"
    }
}

impl Heard {
    /// Takes in an update; the plan that it is, if it is one. What is said in another session is not for us.
    fn update(&mut self, told: SessionNotification) -> Option<schema::Plan> {
        if self.session.as_ref() != Some(&told.session_id) {
            return None;
        }
        match told.update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                if let ContentBlock::Text(said) = chunk.content {
                    self.says(&said.text);
                }
            }
            SessionUpdate::ToolCall(call) => {
                self.is_apart = true;
                self.calls.learn(call.into());
            }
            SessionUpdate::ToolCallUpdate(call) => {
                self.is_apart = true;
                self.calls.learn(call);
            }
            SessionUpdate::Plan(plan) => return Some(plan),
            _ => {}
        }
        None
    }

    fn says(&mut self, text: &str) {
        if std::mem::take(&mut self.is_apart) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
        if !text.trim().is_empty() {
            self.rejected = None;
        }
    }
}
