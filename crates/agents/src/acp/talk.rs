//! The conversation with an agent: what we ask of it, and what it asks of us meanwhile.

use std::path::PathBuf;

use querent_core::ProgramHandle;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use super::files::{Denied, Grounds};
use super::link::{Link, TooMuch};
use super::permission::{self, Calls, Decision, SERVER, Wanted};
use super::rpc::{self, BAD_PARAMS, Complaint, FAILED, Message, NO_METHOD, NOT_FOUND};
use crate::order::Order;
use crate::program::GO;
use crate::signal::{Signal, Usage};

/// The version of the protocol that is spoken here.
const VERSION: u64 = 1;

/// Why a conversation came to nothing.
#[derive(Debug)]
pub(super) enum Lost {
    /// The agent is gone.
    Gone,
    /// It said more than it may.
    TooMuch,
    /// It replied with an error.
    Refused(&'static str, Complaint),
    /// It replied with something that cannot be read.
    Unreadable(&'static str),
    /// It speaks another version.
    Version(u64),
}

impl From<TooMuch> for Lost {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// A conversation. Its futures may be given up at any time.
#[derive(Debug)]
pub(super) struct Talk {
    link: Link,
    signals: Sender<Signal>,
    grounds: Grounds,
    has_tools: bool,
    /// The number of the last request.
    number: u64,
    session: Option<String>,
    /// The request that is the turn itself, while it is under way.
    prompt: Option<u64>,
    /// What the agent said in the turn.
    text: String,
    /// It did something else since it last spoke.
    is_apart: bool,
    is_stopping: bool,
    calls: Calls,
    /// What it was not allowed, if it has said nothing since.
    rejected: Option<String>,
}

/// How a turn came to its end.
#[derive(Debug)]
pub(super) struct Ending {
    /// Why the agent stopped, in the word of the protocol.
    pub(super) reason: String,
    /// What it said.
    pub(super) text: String,
    /// What it was not allowed at last, if it said nothing after that.
    pub(super) rejected: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Capabilities {
    load_session: bool,
    session_capabilities: SessionCapabilities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SessionCapabilities {
    resume: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    session_id: String,
    update: Value,
}

#[derive(Debug, Deserialize)]
struct FileWanted {
    path: PathBuf,
    line: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
}

impl Talk {
    pub(super) fn new(link: Link, signals: Sender<Signal>, grounds: Grounds, has_tools: bool) -> Self {
        Self {
            link,
            signals,
            grounds,
            has_tools,
            number: 0,
            session: None,
            prompt: None,
            text: String::new(),
            is_apart: false,
            is_stopping: false,
            calls: Calls::default(),
            rejected: None,
        }
    }

    /// Makes the turn.
    pub(super) async fn turn(&mut self, order: &Order, handle: Option<&ProgramHandle>) -> Result<Ending, Lost> {
        self.link.say(GO);
        let session = self.open(order, handle).await?;
        let handle = match session.parse::<ProgramHandle>() {
            Ok(handle) => Signal::Handle(handle),
            Err(_) => {
                Signal::Ignored("the agent's name for its session is none that it could be resumed by".to_owned())
            }
        };
        self.signal(handle).await;
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": order.prompt}]});
        self.session = Some(session);
        let number = self.ask("session/prompt", &prompt);
        self.prompt = Some(number);
        let reply = self.reply("session/prompt", number).await?;
        self.prompt = None;
        if let Some(usage) = reply.get("usage").and_then(usage) {
            self.signal(Signal::Usage(usage)).await;
        }
        let reason = reply.get("stopReason").and_then(Value::as_str).ok_or(Lost::Unreadable("session/prompt"))?;
        Ok(Ending { reason: reason.to_owned(), text: std::mem::take(&mut self.text), rejected: self.rejected.take() })
    }

    /// Asks the agent to stop, and waits until it has.
    pub(super) async fn stop(&mut self) {
        self.is_stopping = true;
        let (Some(session), Some(number)) = (&self.session, self.prompt) else { return };
        self.link.say(&rpc::notice("session/cancel", &json!({"sessionId": session})));
        let _ = self.reply("session/prompt", number).await;
    }

    /// Says nothing any more, and waits until the agent says nothing any more either.
    pub(super) async fn part(&mut self) {
        self.link.hang_up();
        while let Ok(Some(_)) = self.link.hear().await {}
    }

    /// Opens a session: the one of this name if there is one and the agent can go on with it, else a new one.
    async fn open(&mut self, order: &Order, handle: Option<&ProgramHandle>) -> Result<String, Lost> {
        // What an agent writes through us stays in its directory. It reads by itself: one that asks us for a file which is not
        // there yet does not always understand that, and then cannot make it (Gemini). Those that ask are answered.
        let about = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": true}, "terminal": false},
            "clientInfo": {"name": "querent", "title": "Querent", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut about = self.call("initialize", &about).await?;
        match about.get("protocolVersion").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => return Err(Lost::Version(other)),
            None => return Err(Lost::Unreadable("initialize")),
        }
        let can = about.get_mut("agentCapabilities").map(Value::take).unwrap_or_default();
        let can: Capabilities = serde_json::from_value(can).unwrap_or_default();
        let mut place = json!({"cwd": self.grounds.directory(), "mcpServers": servers(order)});
        if let Some(handle) = handle {
            place["sessionId"] = handle.as_str().into();
            // The one goes on; the other first says again all that was said, which we know.
            let method = match can {
                _ if can.session_capabilities.resume.is_some() => Some("session/resume"),
                _ if can.load_session => Some("session/load"),
                _ => None,
            };
            match method {
                None => {}
                Some(method) => match self.call(method, &place).await {
                    Ok(_) => return Ok(handle.to_string()),
                    Err(Lost::Refused(..)) => {
                        let note = "the agent could not go on with its session, so it begins a new one";
                        self.signal(Signal::Note(note.to_owned())).await;
                    }
                    Err(lost) => return Err(lost),
                },
            }
            if let Some(fields) = place.as_object_mut() {
                fields.remove("sessionId");
            }
        }
        let session = self.call("session/new", &place).await?;
        let session = session.get("sessionId").and_then(Value::as_str).filter(|it| !it.is_empty());
        session.map(str::to_owned).ok_or(Lost::Unreadable("session/new"))
    }

    async fn call(&mut self, method: &'static str, params: &Value) -> Result<Value, Lost> {
        let number = self.ask(method, params);
        self.reply(method, number).await
    }

    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.number += 1;
        self.link.say(&rpc::request(self.number, method, params));
        self.number
    }

    /// The reply to our request of this number. What comes before it is dealt with.
    async fn reply(&mut self, method: &'static str, number: u64) -> Result<Value, Lost> {
        loop {
            let line = self.link.hear().await?.ok_or(Lost::Gone)?;
            match rpc::read(&line) {
                Some(Message::Reply { id, result }) if id == number => {
                    return result.map_err(|complaint| Lost::Refused(method, complaint));
                }
                Some(Message::Request { id, method, params }) => {
                    let result = self.serve(&method, params).await;
                    self.link.say(&rpc::reply(&id, &result));
                }
                Some(Message::Notice { method, params }) if method == "session/update" => self.update(params).await,
                Some(Message::Notice { .. } | Message::Reply { .. }) => {}
                None if line.is_empty() => {}
                None => self.signal(Signal::Ignored(line.chars().take(200).collect())).await,
            }
        }
    }

    /// Does what the agent asks of us, if we do such things.
    async fn serve(&mut self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        let misfit = |error: serde_json::Error| (BAD_PARAMS, error.to_string());
        match method {
            "session/request_permission" if self.is_stopping => Ok(permission::cancelled()),
            "session/request_permission" => {
                let wanted: Wanted = serde_json::from_value(params).map_err(misfit)?;
                let is_inside = |path: &std::path::Path| self.grounds.inside(path).is_some();
                let Decision { reply, title, is_allowed } =
                    permission::decide(&wanted, &self.calls, self.has_tools, is_inside);
                let note = if is_allowed { format!("allowed once: {title}") } else { format!("rejected: {title}") };
                self.rejected = (!is_allowed).then_some(title);
                self.signal(Signal::Note(note)).await;
                Ok(reply)
            }
            "fs/read_text_file" | "fs/write_text_file" => {
                let wanted: FileWanted = serde_json::from_value(params).map_err(misfit)?;
                let grounds = self.grounds.clone();
                let is_read = method == "fs/read_text_file";
                let done = tokio::task::spawn_blocking(move || match wanted.content {
                    None if is_read => {
                        grounds.read(&wanted.path, wanted.line, wanted.limit).map(|text| json!({"content": text}))
                    }
                    Some(text) if !is_read => grounds.write(&wanted.path, &text).map(|()| json!({})),
                    _ => Err(Denied::Failed("there must be a content where it is written, and only there".to_owned())),
                });
                let done = done.await.map_err(|_| (FAILED, "it was lost".to_owned()))?;
                done.map_err(|why| (if why == Denied::NotFound { NOT_FOUND } else { FAILED }, why.to_string()))
            }
            _ => Err((NO_METHOD, format!("there is no {method} here"))),
        }
    }

    /// Takes in what the agent does and says.
    async fn update(&mut self, params: Value) {
        let Ok(Update { session_id, mut update }) = serde_json::from_value(params) else { return };
        // What is said before the turn is said again; what is said in another session is not for us.
        if self.prompt.is_none() || self.session.as_deref() != Some(&session_id) {
            return;
        }
        match update.get("sessionUpdate").and_then(Value::as_str) {
            Some("agent_message_chunk") => {
                let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
                if std::mem::take(&mut self.is_apart) && !self.text.is_empty() && !self.text.ends_with('\n') {
                    self.text.push('\n');
                }
                self.text.push_str(text);
                if !text.trim().is_empty() {
                    self.rejected = None;
                }
            }
            Some("tool_call" | "tool_call_update") => {
                self.is_apart = true;
                if let Ok(call) = serde_json::from_value(update) {
                    self.calls.learn(call);
                }
            }
            Some("plan") => {
                let entries = update.get_mut("entries").map(Value::take).unwrap_or_default();
                self.signal(Signal::Plan(json!({ "entries": entries }))).await;
            }
            _ => {}
        }
    }

    /// Says something to whoever listens; if nobody does any more, nothing is lost that somebody wants.
    async fn signal(&self, signal: Signal) {
        let _ = self.signals.send(signal).await;
    }
}

/// Querent's MCP server, as the protocol hands it to agents.
fn servers(order: &Order) -> Value {
    let servers = order.mcp.iter().map(|server| {
        let env: Vec<Value> = order.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"name": SERVER, "command": server.program, "args": server.arguments, "env": env})
    });
    servers.collect()
}

/// What some agents say about what a turn cost.
fn usage(usage: &Value) -> Option<Usage> {
    let tokens = |name: &str| usage.get(name).and_then(Value::as_u64);
    let read = ["inputTokens", "cachedReadTokens", "cachedWriteTokens"];
    let input_tokens = read.into_iter().filter_map(tokens).fold(0, u64::saturating_add);
    Some(Usage { input_tokens, output_tokens: tokens("outputTokens")? })
}
