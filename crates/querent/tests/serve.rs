use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::common::Project;

/// A running server; ended with the test.
struct Served {
    child: Child,
    address: String,
}

#[expect(clippy::needless_pass_by_value, reason = "what is said reads better at its place")]
impl Served {
    fn start(project: &Project) -> Self {
        let mut child = Project::start(&mut project.querent(&["serve", "--listen", "127.0.0.1:0"]));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address }
    }

    /// A call of the era without sessions. Returns the status line and the body.
    fn post(&self, path: &str, headers: &str, message: &Value) -> (String, Value) {
        let mut message = message.clone();
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = message.to_string();
        let (method, name) = (message["method"].as_str().unwrap(), message["params"]["name"].as_str());
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n\
             {name}Content-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap_or_default())
    }

    fn tool(&self, path: &str, name: &str, arguments: Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        let (status, reply) = self.post(path, "", &call);
        assert!(status.contains("200"), "{status} {reply}");
        reply["result"]["structuredContent"].clone()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_path_says_who_calls_and_without_one_it_only_reads() {
    let project = Project::new();
    let served = Served::start(&project);
    let question = json!({ "to": "architect", "topic": "Tokens", "prompt": "How long?" });

    let asked = served.tool("/mcp/engineer", "question_create", question.clone());
    let own =
        served.tool("/mcp/engineer", "question_answer", json!({ "question_id": "CLR-42-001", "answer": "an hour" }));
    let answered =
        served.tool("/mcp/architect", "question_answer", json!({ "question_id": "CLR-42-001", "answer": "an hour" }));
    let nobody = served.tool("/mcp", "question_create", question);
    let listed = served.tool("/mcp", "question_list", json!({}));

    assert_eq!(asked["question_id"], "CLR-42-001");
    assert_eq!(own["code"], "not_addressee");
    assert_eq!(answered["answer"]["value"], "an hour");
    assert_eq!(nobody["code"], "unauthorized");
    assert_eq!(listed["count"], 1);
}

#[test]
fn strangers_are_turned_away() {
    let project = Project::new();
    let served = Served::start(&project);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });

    assert!(served.post("/mcp/enginer", "", &list).0.contains("404"));
    assert!(served.post("/mcp/engineer", "Origin: https://evil.example\r\n", &list).0.contains("403"));
    let own = format!("Origin: http://{}\r\n", served.address);
    assert!(served.post("/mcp/engineer", &own, &list).0.contains("200"));
    assert!(served.post("/mcp/engineer", "Origin: http://127.0.0.1:1\r\n", &list).0.contains("403"));
    project.refused(&["serve", "--listen", "0.0.0.0:0"], "invalid_input");
    project.refused(&["serve", "--listen", &served.address], "storage_error");
}
