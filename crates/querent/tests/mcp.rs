use serde_json::json;

use crate::common::Project;
use crate::common::client::{Client, Era};

fn question() -> serde_json::Value {
    json!({
        "to": "human",
        "topic": "Store",
        "prompt": "Which store?",
        "options": [{ "id": "redis", "label": "Redis" }, { "id": "sql", "label": "Postgres" }],
    })
}

#[test]
fn an_agent_asks_a_person_answers_elsewhere_and_the_waiting_call_returns_it() {
    for era in [Era::Sessions, Era::Discover] {
        let project = Project::new();
        let mut client = Client::start(&project, &["--agent", "engineer"], era, json!({}));

        let asked = client.data("question_create", question());
        assert_eq!(asked["status"], "open");
        assert!(asked["next"].as_str().unwrap().starts_with("call await_answer with question_id CLR-42-001"));
        let waiting = client.request(
            "tools/call",
            json!({ "name": "await_answer", "arguments": { "question_id": "CLR-42-001", "wait_seconds": 50 } }),
        );
        project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);

        let reply = client.reply(waiting);
        assert_eq!(reply["result"]["structuredContent"]["answer"]["value"], "redis");
        assert_eq!(
            reply["result"]["content"][0]["text"],
            "CLR-42-001 is resolved. The answer of human (human): Redis (redis)"
        );
        client.close();
    }
}

#[test]
fn the_same_call_sent_again_asks_once_and_reports_the_question_as_it_is() {
    let project = Project::new();
    let mut client = Client::engineer(&project);
    let call =
        json!({ "name": "question_create", "arguments": question(), "_meta": { "claudecode/toolUseId": "toolu_1" } });

    let first = client.call("tools/call", call.clone());
    project.ok(&["answer", "CLR-42-001", "--answer", "sql"]);
    let second = client.call("tools/call", call.clone());
    let mut other = call;
    other["arguments"]["prompt"] = json!("Which cache?");
    let conflict = client.call("tools/call", other);

    assert_eq!(first["structuredContent"]["status"], "open");
    assert_eq!(second["structuredContent"]["question_id"], "CLR-42-001");
    assert_eq!(second["structuredContent"]["answer"]["value"], "sql");
    assert_eq!(conflict["structuredContent"]["code"], "operation_conflict");
    assert_eq!(conflict["isError"], true);
    client.close();
}

#[test]
fn starting_records_nothing_and_the_session_begins_with_the_first_deed_and_ends_with_the_client() {
    let project = Project::new();
    let before = project.run(&["events"]).stdout;
    let mut client = Client::engineer(&project);
    client.data("question_list", json!({}));
    client.data("get_context", json!({}));
    assert_eq!(project.run(&["events"]).stdout, before);

    let assumption =
        json!({ "decision": "Tabs", "reasoning": "as everywhere", "confidence": "high", "risk_if_wrong": "low" });
    client.data("record_assumption", assumption);
    assert_eq!(project.ok(&["state"])["sessions"][0]["status"], "working");
    client.close();

    assert_eq!(project.ok(&["state"])["sessions"][0]["status"], "done");
    assert_eq!(project.ok(&["item", "show", "42"])["item"]["stage"], "implement");
}

#[test]
fn who_calls_is_fixed_when_the_server_starts() {
    let project = Project::new();
    project.refused(&["mcp"], "invalid_input");
    project.refused(&["mcp", "--agent", "enginer"], "unknown_agent");
    project.refused(&["mcp", "--as", "engineer"], "invalid_input");
    project.refused(&["mcp", "--agent", "human"], "invalid_input");
    let asked = project.asks_architect();
    let mut client = Client::engineer(&project);

    let answer = client.tool("question_answer", json!({ "question_id": asked, "answer": "an hour" }));
    let mut disguised = question();
    disguised["session"] = json!("architect@42");
    let disguised = client.tool("question_create", disguised);

    assert_eq!(answer["structuredContent"]["code"], "not_addressee");
    assert_eq!(disguised["structuredContent"]["code"], "invalid_input");
    client.close();
}

#[test]
fn an_operators_server_answers_as_a_person() {
    let project = Project::new();
    let asked = project.asks_human();
    let mut client = Client::start(&project, &["--as", "human:zoe"], Era::Sessions, json!({}));

    let reply = client.data("question_answer", json!({ "question_id": asked, "answer": "sql", "note": "we know it" }));

    assert_eq!(reply["answer"]["by"], "human:zoe");
    assert_eq!(reply["answer"]["note"], "we know it");
    assert_eq!(project.ok(&["show", &asked])["question"]["thread"][1]["body"], "The SQL database\n\nwe know it");
    client.close();
}

#[test]
fn a_call_that_is_malformed_is_an_error_of_the_protocol_and_the_server_lives() {
    let project = Project::new();
    let mut client = Client::engineer(&project);

    let unknown = client.error("tools/call", json!({ "name": "question_craete", "arguments": {} }));
    let misfit =
        client.error("tools/call", json!({ "name": "question_create", "arguments": { "topic": 1, "prompt": "x" } }));
    let extra = client.error("tools/call", json!({ "name": "question_list", "arguments": { "colour": "red" } }));
    let long = client.tool("question_create", json!({ "topic": "x", "prompt": "x".repeat(5_000_000) }));

    assert_eq!(
        (&unknown["code"], unknown["message"].as_str().unwrap().contains("question_create")),
        (&json!(-32602), true)
    );
    assert_eq!(misfit["code"], -32602);
    assert!(extra["message"].as_str().unwrap().contains("colour"), "{extra}");
    assert_eq!(long["structuredContent"]["code"], "invalid_input");
    assert_eq!(client.data("question_list", json!({}))["count"], 0);
    client.close();
}
