use serde_json::{Value, json};

use crate::common::Project;
use crate::common::http::{Reply, Served};

/// A call of the era without sessions.
fn call(served: &Served, path: &str, headers: &[(&str, &str)], message: &Value) -> Reply {
    let mut message = message.clone();
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let (method, name) = (message["method"].as_str().unwrap(), message["params"]["name"].as_str());
    let mut all = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    all.extend(name.map(|name| ("Mcp-Name", name)));
    all.extend(headers);
    served.request("POST", path, &all, message.to_string().as_bytes())
}

/// What a tool replied.
#[expect(clippy::needless_pass_by_value, reason = "what is said reads better at its place")]
pub(crate) fn tool(served: &Served, path: &str, headers: &[(&str, &str)], name: &str, arguments: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let reply = call(served, path, headers, &message);
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.json()["result"]["structuredContent"].clone()
}

#[test]
fn the_path_says_who_calls_and_without_one_it_only_reads() {
    let project = Project::new();
    let served = Served::start(&project);
    let question = json!({ "to": "architect", "topic": "Tokens", "prompt": "How long?" });

    let asked = tool(&served, "/mcp/engineer", &[], "question_create", question.clone());
    let own = tool(
        &served,
        "/mcp/engineer",
        &[],
        "question_answer",
        json!({ "question_id": "CLR-42-001", "answer": "an hour" }),
    );
    let answered = tool(
        &served,
        "/mcp/architect",
        &[],
        "question_answer",
        json!({ "question_id": "CLR-42-001", "answer": "an hour" }),
    );
    let nobody = tool(&served, "/mcp", &[], "question_create", question);
    let listed = tool(&served, "/mcp", &[], "question_list", json!({}));

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

    let status = |path, headers: &[(&str, &str)]| call(&served, path, headers, &list).status;
    assert_eq!(status("/mcp/enginer", &[]), 404);
    assert_eq!(status("/mcp/engineer", &[("Origin", "https://evil.example")]), 403);
    assert_eq!(status("/mcp/engineer", &[("Origin", &format!("http://{}", served.address))]), 200);
    assert_eq!(status("/mcp/engineer", &[("Origin", "http://127.0.0.1:1")]), 403);
    project.refused(&["serve", "--listen", "0.0.0.0:0"], "invalid_input");
    project.refused(&["serve", "--listen", &served.address], "storage_error");
}
