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
fn a_call_that_asks_and_waits_tells_at_once_what_it_waits_for() {
    for era in [Era::Sessions, Era::Discover] {
        let project = Project::new();
        let mut client = Client::start(&project, &["--agent", "engineer"], era, json!({}));
        let mut arguments = question();
        arguments["wait_seconds"] = json!(50);

        let asked = client.request(
            "tools/call",
            json!({ "name": "question_create", "arguments": arguments, "_meta": { "progressToken": "tea" } }),
        );
        let told = client.next();
        project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);

        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progressToken"], "tea");
        assert_eq!(told["params"]["message"], "CLR-42-001 waits for its answer");
        assert_eq!(client.reply(asked)["result"]["structuredContent"]["answer"]["value"], "redis");
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

#[test]
fn what_is_no_json_rpc_is_answered_as_such_and_the_server_lives() {
    let project = Project::new();
    let mut client = Client::engineer(&project);

    client.send_line("{ this is not JSON");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send_line("{\"jsonrpc\":\"2.0\",\"id\":8}");
    assert_eq!(client.next()["error"]["code"], -32600);
    client.send_line("[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\"}]");
    assert_eq!(client.next()["error"]["code"], -32600);
    let unknown = client.error("tools/burn", json!({}));

    assert_eq!(unknown["code"], -32601);
    assert_eq!(client.data("question_list", json!({}))["count"], 0);
    client.close();
}

#[test]
fn a_client_hears_of_every_change_from_the_moment_that_it_is_promised() {
    let project = Project::new();
    let inbox = "querent://inbox";
    let mut modern = Client::start(&project, &["--agent", "engineer"], Era::Discover, json!({}));
    let mut earlier = Client::engineer(&project);

    modern.request("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": [inbox] } }));
    assert_eq!(modern.next()["method"], "notifications/subscriptions/acknowledged");
    earlier.call("resources/subscribe", json!({ "uri": inbox }));
    let id = project.asks_human();

    for client in [&mut modern, &mut earlier] {
        let told = loop {
            let message = client.next();
            if message["method"] == "notifications/resources/updated" {
                break message;
            }
        };
        assert_eq!(told["params"]["uri"], inbox);
        let read = client.call("resources/read", json!({ "uri": inbox }));
        assert!(read["contents"][0]["text"].as_str().unwrap().contains(&id), "{read}");
    }
}

#[test]
fn a_batch_is_answered_as_one_where_the_version_has_batches() {
    let project = Project::new();
    let mut client = Client::start(&project, &["--agent", "engineer"], Era::Batches, json!({}));
    let call = |id: u64, arguments: serde_json::Value| {
        let params = json!({ "name": "question_create", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };

    client.send(&json!([call(101, question()), call(102, json!({ "topic": "Store" }))]));
    let replies = client.next();
    client.send(&json!([]));
    let nothing = client.next();

    let of = |id: u64| replies.as_array().unwrap().iter().find(|reply| reply["id"] == id).unwrap();
    assert_eq!(of(101)["result"]["structuredContent"]["question_id"], "CLR-42-001");
    assert_eq!(of(102)["error"]["code"], -32602);
    assert_eq!(nothing["error"]["code"], -32600);
    assert_eq!(client.data("question_list", json!({}))["count"], 1);
    client.close();
}

#[test]
fn a_form_that_is_accepted_answers_and_one_that_is_put_away_leaves_the_question_open() {
    let project = Project::new();
    let forms = json!({ "elicitation": { "form": {} } });
    let mut client = Client::start(&project, &["--agent", "engineer"], Era::Sessions, forms);
    let mut ask = |topic: &str, result: serde_json::Value, seconds: u32| {
        let mut arguments = question();
        arguments["topic"] = json!(topic);
        arguments["prompt"] = json!(format!("{topic}: which one?"));
        arguments["wait_seconds"] = json!(seconds);
        arguments["blocking"] = json!(false);
        let id = client.request("tools/call", json!({ "name": "question_create", "arguments": arguments }));
        let form = loop {
            let message = client.next();
            if message["method"] == "elicitation/create" {
                break message;
            }
        };
        client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": result }));
        client.reply(id)["result"]["structuredContent"].clone()
    };

    let accepted = ask("Store", json!({ "action": "accept", "content": { "answer": "sql" } }), 50);
    let declined = ask("Cache", json!({ "action": "decline" }), 1);
    let wrong = ask("Queue", json!({ "action": "accept", "content": { "answer": "none of them" } }), 1);

    assert_eq!((&accepted["answer"]["value"], &accepted["answer"]["via"]), (&json!("sql"), &json!("elicitation")));
    assert_eq!((&declined["status"], &declined["answer"]), (&json!("open"), &json!(null)));
    assert_eq!(wrong["status"], "open");
    client.close();
}

#[test]
fn a_sealed_round_is_only_taken_back_from_whom_it_was_given_to() {
    let project = Project::new();
    let forms = json!({ "elicitation": { "form": {} } });
    let start = |agent: &str| Client::start(&project, &["--agent", agent], Era::Discover, forms.clone());
    let (mut engineer, mut architect) = (start("engineer"), start("architect"));
    let mut arguments = question();
    arguments["wait_seconds"] = json!(1);
    let mut call = json!({ "name": "question_create", "arguments": arguments });
    let required = engineer.call("tools/call", call.clone());
    assert_eq!(required["resultType"], "input_required");
    let sealed = required["requestState"].as_str().unwrap().to_owned();
    call["inputResponses"] = json!({ "answer": { "action": "accept", "content": { "answer": "redis" } } });

    call["requestState"] = json!(sealed.replace("rs1.", "rs1.A"));
    assert_eq!(engineer.error("tools/call", call.clone())["code"], -32602);
    call["requestState"] = json!(sealed);
    assert_eq!(architect.error("tools/call", call.clone())["code"], -32602);
    assert_eq!(project.ok(&["questions"])["count"], 1);
    engineer.close();
    let mut again = start("engineer");
    let answered = again.call("tools/call", call);

    assert_eq!(answered["structuredContent"]["answer"]["value"], "redis");
    again.close();
    architect.close();
}

#[test]
fn a_server_that_was_killed_loses_nothing_and_its_client_goes_on_waiting_with_the_next() {
    let project = Project::new();
    let mut client = Client::engineer(&project);
    let mut arguments = question();
    arguments["wait_seconds"] = json!(50);
    client.request("tools/call", json!({ "name": "question_create", "arguments": arguments }));
    while project.ok(&["questions"])["count"] == 0 {
        std::thread::yield_now();
    }
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let mut next = Client::engineer(&project);
    let wait = json!({ "name": "await_answer", "arguments": { "question_id": "CLR-42-001", "wait_seconds": 50 } });
    let waiting = next.request("tools/call", wait);

    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);

    assert_eq!(next.reply(waiting)["result"]["structuredContent"]["answer"]["value"], "redis");
    next.close();
}

#[test]
fn a_cancelled_wait_leaves_the_question_open() {
    let project = Project::new();
    let mut client = Client::engineer(&project);
    client.data("question_create", question());
    let wait = json!({ "name": "await_answer", "arguments": { "question_id": "CLR-42-001", "wait_seconds": 50 } });
    let waiting = client.request("tools/call", wait);

    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": waiting } }));

    assert_eq!(client.data("question_list", json!({}))["questions"][0]["status"], "open");
    client.close();
}

#[test]
fn ten_thousand_requests_in_flight_are_all_answered() {
    let project = Project::new();
    let mut client = Client::engineer(&project);
    let call = json!({ "name": "question_list", "arguments": { "item": 42 } });
    let pen = client.detached();
    let sent = std::thread::spawn(move || pen.requests(10_000, "tools/call", &call));

    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 10_000 {
        let reply = client.next();
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        assert!(seen.insert(reply["id"].as_u64().unwrap()), "twice: {reply}");
    }

    sent.join().unwrap().close(client);
}

#[test]
fn a_thread_is_asked_on_settled_handed_on_and_taken_back() {
    let project = Project::new();
    let (asked, other) = (project.asks_architect(), "CLR-42-002");
    let mut engineer = Client::engineer(&project);
    let mut architect = Client::start(&project, &["--agent", "architect"], Era::Sessions, json!({}));
    architect.data("question_answer", json!({ "question_id": asked, "answer": "an hour" }));

    let on = engineer.data("question_follow_up", json!({ "question_id": asked, "prompt": "For guests too?" }));
    architect.data("question_answer", json!({ "question_id": asked, "answer": "yes" }));
    let settled = engineer.data("question_resolve", json!({ "question_id": asked, "note": "an hour for all" }));
    engineer.data("question_create", json!({ "to": "architect", "topic": "Mail", "prompt": "Which sender?" }));
    let handed = engineer.data("question_escalate", json!({ "question_id": other, "summary": "nobody knows" }));
    let misfit = json!({ "name": "question_withdraw", "arguments": { "question_id": other, "note": "moot" } });
    let misfit = engineer.error("tools/call", misfit);
    let taken = engineer.data("question_withdraw", json!({ "question_id": other, "reason": "moot" }));

    assert_eq!((&on["round"], &on["status"]), (&json!(2), &json!("open")));
    assert_eq!(settled["status"], "resolved");
    assert_eq!(handed["status"], "escalated");
    assert!(misfit["message"].as_str().unwrap().contains("note"), "{misfit}");
    assert_eq!(taken["status"], "withdrawn");
    engineer.close();
    architect.close();
}

#[test]
fn clients_on_two_items_wait_at_once_and_each_gets_its_own_answer() {
    let project = Project::new();
    project.ok(&["item", "add", "43", "--title", "Sign out"]);
    project.ok(&["item", "move", "43", "--to", "implement"]);
    let waiting = ["42", "43"].map(|item| {
        let mut client = Client::start(&project, &["--agent", "engineer", "--item", item], Era::Sessions, json!({}));
        let id = client.data("question_create", question())["question_id"].as_str().unwrap().to_owned();
        let wait = json!({ "name": "await_answer", "arguments": { "question_id": id, "wait_seconds": 50 } });
        let call = client.request("tools/call", wait);
        (client, call, id)
    });

    project.ok(&["answer", "CLR-43-001", "--answer", "sql"]);
    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);

    for ((mut client, call, id), answer) in waiting.into_iter().zip(["redis", "sql"]) {
        let reply = client.reply(call)["result"]["structuredContent"].clone();
        assert_eq!((&reply["question_id"], &reply["answer"]["value"]), (&json!(id), &json!(answer)));
        client.close();
    }
}

#[test]
fn of_two_surfaces_that_answer_at_once_one_wins_and_the_other_is_told() {
    let project = Project::new();
    let asked = project.asks_human();
    let mut person = Client::start(&project, &["--as", "human:zoe"], Era::Sessions, json!({}));
    let answer = json!({ "name": "question_answer", "arguments": { "question_id": asked, "answer": "sql" } });

    let call = person.request("tools/call", answer);
    let typed = project.run(&["answer", &asked, "--answer", "sql", "--json"]);

    let clicked = person.reply(call)["result"].clone();
    let told =
        if typed.code == 0 { clicked["structuredContent"].clone() } else { typed.error("question_already_answered") };
    assert_ne!(typed.code == 0, clicked["isError"] == false);
    assert_eq!(told["code"], "question_already_answered");
    person.close();
}

#[test]
fn a_list_of_whatever_agents_write_is_that_of_the_command_line_with_its_keys_in_order() {
    let odd = "\"structuredContent\":null? A \\ and \u{e4}\u{554f}\u{1f600}\u{2028}\n\tÄ";
    let details = json!({ "z": { "b": [1, { "y": null, "x": -0.5e-9 }], "a": {} }, "a\"b": odd, "Ä": [], "": 1e300 });
    for era in [Era::Sessions, Era::Batches, Era::Discover] {
        let project = Project::new();
        let mut client = Client::start(&project, &["--agent", "engineer"], era, json!({}));
        let mut asked = question();
        (asked["prompt"], asked["context"], asked["details"]) = (json!(odd), json!(odd), details.clone());
        client.data("question_create", asked);

        let told = client.tool("question_list", json!({}));

        let data = &told["structuredContent"];
        let mut sorted = data.clone();
        sorted.sort_all_objects();
        assert_eq!(data.to_string(), sorted.to_string());
        assert_eq!(data["questions"], project.ok(&["questions"])["questions"]);
        assert_eq!(data["questions"][0]["details"], details);
        assert!(told["content"][0]["text"].as_str().unwrap().ends_with(odd));
        client.close();
    }
}
