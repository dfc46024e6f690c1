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
}

impl Client {
    /// A client of its own.
    pub(crate) async fn connect(port: u16, path: &'static str) -> Outcome<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream: BufReader::new(stream), path, port, session: None };
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
        let body = self.body().await?;
        let data = body.lines().rev().find_map(|line| line.strip_prefix("data:").map(str::trim));
        Ok(data.unwrap_or(&body).to_owned())
    }

    async fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err("the server closed the connection".into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    async fn body(&mut self) -> Outcome<String> {
        let status = self.line().await?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let header = self.line().await?;
            let Some((name, value)) = header.split_once(':') else { break };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse()?,
                ("transfer-encoding", value) => chunked = value == "chunked",
                ("mcp-session-id", value) => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        while chunked {
            let size = usize::from_str_radix(&self.line().await?, 16)?;
            self.piece(size, &mut body).await?;
            self.line().await?;
            chunked = size > 0;
        }
        self.piece(length, &mut body).await?;
        let body = String::from_utf8(body)?;
        if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
            Ok(body)
        } else {
            Err(format!("{status}: {body}").into())
        }
    }

    async fn piece(&mut self, size: usize, body: &mut Vec<u8>) -> Outcome<()> {
        let begin = body.len();
        body.resize(begin + size, 0);
        self.stream.read_exact(&mut body[begin..]).await?;
        Ok(())
    }
}
