//! A client that speaks MCP over HTTP on one connection that stays.

use std::net::Ipv4Addr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::Outcome;

/// A connection with its session.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    path: &'static str,
    port: u16,
    session: Option<String>,
    /// What has come of the reply that is read.
    reply: Option<Reply>,
}

/// A reply, as far as it has come.
struct Reply {
    status: String,
    /// How long it is, if it comes as one piece.
    length: usize,
    chunked: bool,
    body: Vec<u8>,
}

impl Client {
    /// A client of its own.
    pub(crate) async fn connect(port: u16, path: &'static str) -> Outcome<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream: BufReader::new(stream), path, port, session: None, reply: None };
        client.post(&super::initialize()).await?;
        client.post(&super::initialized()).await?;
        Ok(client)
    }

    /// What a tool says.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        self.begin(tool, arguments).await?;
        self.end().await
    }

    /// Calls a tool; what it says is read later.
    pub(crate) async fn begin(&mut self, tool: &str, arguments: &Value) -> Outcome<()> {
        self.send(&super::call(1, tool, arguments)).await
    }

    /// Calls a tool that waits for a question, and says for which; what the tool says is read later.
    pub(crate) async fn begin_to_wait(&mut self, tool: &str, arguments: &Value) -> Outcome<String> {
        self.send(&super::call_with_progress(1, tool, arguments)).await?;
        loop {
            let is_over = !self.read_on().await?;
            let body = str::from_utf8(&self.reply.as_ref().ok_or("no reply")?.body)?;
            if let Some(progress) = last_data(body).filter(|it| it.contains("\"notifications/progress\"")) {
                return super::waited_for(progress);
            }
            if is_over {
                return Err(format!("it did not wait: {body}").into());
            }
        }
    }

    /// What the tool says that was called.
    pub(crate) async fn end(&mut self) -> Outcome<Value> {
        super::said(&self.reply().await?)
    }

    async fn post(&mut self, message: &str) -> Outcome<String> {
        self.send(message).await?;
        self.reply().await
    }

    async fn send(&mut self, message: &str) -> Outcome<()> {
        let Self { path, port, .. } = *self;
        let session = self.session.as_ref().map(|it| format!("mcp-session-id: {it}\r\n")).unwrap_or_default();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n{session}\
             content-length: {}\r\n\r\n{message}",
            message.len()
        );
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// The reply to a message is the last line of data, whether it comes as a stream of events or as one piece.
    async fn reply(&mut self) -> Outcome<String> {
        while self.read_on().await? {}
        let Reply { status, body, .. } = self.reply.take().ok_or("no reply")?;
        let body = String::from_utf8(body)?;
        if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
            Ok(last_data(&body).unwrap_or(&body).to_owned())
        } else {
            Err(format!("{status}: {body}").into())
        }
    }

    /// Reads the next piece of the reply; false if that was the last.
    async fn read_on(&mut self) -> Outcome<bool> {
        let mut reply = match self.reply.take() {
            Some(reply) => reply,
            None => self.head().await?,
        };
        let size = if reply.chunked { usize::from_str_radix(&self.line().await?, 16)? } else { reply.length };
        let begin = reply.body.len();
        reply.body.resize(begin + size, 0);
        self.stream.read_exact(&mut reply.body[begin..]).await?;
        if reply.chunked {
            self.line().await?;
        }
        let is_more = reply.chunked && size > 0;
        self.reply = Some(reply);
        Ok(is_more)
    }

    async fn head(&mut self) -> Outcome<Reply> {
        let status = self.line().await?;
        let mut reply = Reply { status, length: 0, chunked: false, body: Vec::new() };
        loop {
            let header = self.line().await?;
            let Some((name, value)) = header.split_once(':') else { return Ok(reply) };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => reply.length = value.parse()?,
                ("transfer-encoding", value) => reply.chunked = value == "chunked",
                ("mcp-session-id", value) => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
    }

    async fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err("the server closed the connection".into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

/// The last line of data of a stream of events.
fn last_data(events: &str) -> Option<&str> {
    events.lines().rev().find_map(|line| line.strip_prefix("data:").map(str::trim))
}
