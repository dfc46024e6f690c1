//! A client that speaks MCP over HTTP on one connection that stays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use serde_json::Value;

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
    pub(crate) fn connect(port: u16, path: &'static str) -> Outcome<Self> {
        let stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream: BufReader::new(stream), path, port, session: None };
        client.post(&super::initialize())?;
        client.post(&super::initialized())?;
        Ok(client)
    }

    /// What a tool says.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        self.begin(tool, arguments)?;
        self.end()
    }

    /// Calls a tool; what it says is read later.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> Outcome<()> {
        self.send(&super::call(1, tool, arguments))
    }

    /// What the tool says that was called.
    pub(crate) fn end(&mut self) -> Outcome<Value> {
        super::said(&self.reply()?)
    }

    fn post(&mut self, message: &str) -> Outcome<String> {
        self.send(message)?;
        self.reply()
    }

    fn send(&mut self, message: &str) -> Outcome<()> {
        let Self { path, port, .. } = *self;
        let session = self.session.as_ref().map(|it| format!("mcp-session-id: {it}\r\n")).unwrap_or_default();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n{session}\
             content-length: {}\r\n\r\n{message}",
            message.len()
        );
        Ok(self.stream.get_mut().write_all(request.as_bytes())?)
    }

    /// The reply to a message is the last line of data, whether it comes as a stream of events or as one piece.
    fn reply(&mut self) -> Outcome<String> {
        let body = self.body()?;
        let data = body.lines().rev().find_map(|line| line.strip_prefix("data:").map(str::trim));
        Ok(data.unwrap_or(&body).to_owned())
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn body(&mut self) -> Outcome<String> {
        let status = self.line()?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let header = self.line()?;
            let Some((name, value)) = header.split_once(':') else { break };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse()?,
                ("transfer-encoding", value) => chunked = value == "chunked",
                ("mcp-session-id", value) => self.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let size = u64::from_str_radix(&self.line()?, 16)?;
                self.stream.by_ref().take(size).read_to_end(&mut body)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.stream.by_ref().take(length).read_to_end(&mut body)?;
        }
        let body = String::from_utf8(body)?;
        if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
            Ok(body)
        } else {
            Err(format!("{status}: {body}").into())
        }
    }
}
