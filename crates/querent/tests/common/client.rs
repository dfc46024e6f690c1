//! A client of the MCP server on its standard streams, one line a message.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::Project;

/// The era that a client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With `initialize`.
    Sessions,
    /// The same, when there were batches.
    Batches,
    /// Without: every request carries what it needs.
    Discover,
}

/// A running server and the client's end of it.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: u64,
    meta: Value,
    /// What came that was no reply.
    pub(crate) heard: Vec<Value>,
}

#[expect(clippy::needless_pass_by_value, reason = "what is said reads better at its place")]
impl Client {
    /// Starts `querent mcp` with these arguments and says hello.
    pub(crate) fn start(project: &Project, args: &[&str], era: Era, capabilities: Value) -> Self {
        let mut command = project.querent(&[&["mcp"], args].concat());
        let mut child = Project::start(command.stdin(Stdio::piped()));
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, stdin, stdout, last: 0, meta: json!({}), heard: Vec::new() };
        let info = json!({ "name": "test", "version": "1" });
        match era {
            Era::Sessions | Era::Batches => {
                let version = if era == Era::Batches { "2025-03-26" } else { "2025-11-25" };
                let hello = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info });
                client.call("initialize", hello);
                client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            }
            Era::Discover => {
                client.meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": info,
                    "io.modelcontextprotocol/clientCapabilities": capabilities,
                });
                client.call("server/discover", json!({}));
            }
        }
        client
    }

    /// The engineer's client.
    pub(crate) fn engineer(project: &Project) -> Self {
        Self::start(project, &["--agent", "engineer"], Era::Sessions, json!({}))
    }

    /// Sends what need not be a request.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends what need not even be JSON.
    pub(crate) fn send_line(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    /// Sends what need not even be text.
    pub(crate) fn send_bytes(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and returns its number.
    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if let (Some(meta), Value::Object(own)) = (params.get("_meta").cloned(), &mut self.meta.clone()) {
            own.extend(meta.as_object().unwrap().clone());
            params["_meta"] = json!(own);
        } else if !self.meta.as_object().unwrap().is_empty() {
            params["_meta"] = self.meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server ended");
        let message = serde_json::from_str(&line);
        assert!(message.is_ok(), "`{line}` is not JSON");
        message.unwrap()
    }

    /// The whole reply to a request; what comes before is kept aside.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The result of a request.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let reply = self.reply(id);
        assert!(reply.get("error").is_none(), "{reply}");
        reply["result"].clone()
    }

    /// The result of a call of a tool.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({ "name": name, "arguments": arguments }))
    }

    /// The data of a call that does what was wanted.
    pub(crate) fn data(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// The error of a request that is malformed.
    pub(crate) fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let reply = self.reply(id);
        assert!(reply.get("result").is_none(), "{reply}");
        reply["error"].clone()
    }

    /// The client's pen, for one who writes while another reads.
    pub(crate) fn detached(&mut self) -> Pen {
        Pen(self.stdin.take().unwrap())
    }

    /// Closes the streams; the server must end well.
    pub(crate) fn close(mut self) {
        self.stdin = None;
        let mut rest = String::new();
        while self.stdout.read_line(&mut rest).unwrap() > 0 {}
        assert!(self.child.wait().unwrap().success());
    }
}

/// Writes requests, whoever reads the replies.
pub(crate) struct Pen(ChildStdin);

impl Pen {
    /// Writes so many of the same.
    pub(crate) fn requests(mut self, count: u64, method: &str, params: &Value) -> Self {
        for id in 1_000..1_000 + count {
            writeln!(self.0, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        }
        self.0.flush().unwrap();
        self
    }

    /// Puts the pen away and closes the client.
    pub(crate) fn close(self, client: Client) {
        drop(self.0);
        client.close();
    }
}
