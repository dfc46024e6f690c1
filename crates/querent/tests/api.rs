//! The HTTP API, with the real server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::Project;
use crate::common::http::{Reply, Served};

fn question() -> Value {
    json!({
        "item": "42", "from": "engineer", "to": "human", "topic": "Store", "prompt": "Where?",
        "options": [{ "id": "redis", "label": "Redis" }, { "id": "sql", "label": "The SQL database" }],
    })
}

/// What differs from one call to the next, and what only lists in pages have.
const TIMES: &[&str] =
    &["at", "via", "awaiting_since", "last_activity", "next_cursor", "since", "until", "time_to_answer"];

/// What a reply says but for times and for the surface that carried it.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !key.ends_with("_at") && !TIMES.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), timeless(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_question_lives_over_http_as_on_the_command_line() {
    let (over_http, typed) = (Project::empty(), Project::empty());
    let served = Served::start(&over_http);
    let same = |reply: Reply, args: &[&str]| {
        let said = typed.ok(args);
        assert_eq!(timeless(&reply.data()), timeless(&said), "{args:?}");
    };

    same(
        served.post("/items", json!({ "id": "42", "title": "Sign in" })),
        &["item", "add", "42", "--title", "Sign in"],
    );
    same(served.post("/items/42/move", json!({ "to": "implement" })), &["item", "move", "42", "--to", "implement"]);
    let worker = json!({ "agent": "engineer", "item": "42" });
    same(served.post("/hooks/start", worker.clone()), &["hook", "start", "--agent", "engineer", "--item", "42"]);
    let ask = ["ask", "--item", "42", "--from", "engineer", "--to"];
    let architect = json!({ "item": "42", "from": "engineer", "to": "architect", "topic": "T", "prompt": "How long?" });
    same(
        served.post("/questions", architect),
        &[&ask[..], &["architect", "--topic", "T", "--question", "How long?"]].concat(),
    );
    same(served.get("/questions"), &["questions"]);
    same(served.get("/state"), &["state"]);
    same(served.get("/ready"), &["ready"]);
    let first = "/questions/CLR-42-001";
    same(
        served.post(&format!("{first}/answer"), json!({ "answer": "an hour", "by": "architect" })),
        &["answer", "CLR-42-001", "--answer", "an hour", "--by", "architect"],
    );
    same(
        served.post(&format!("{first}/follow-up"), json!({ "from": "engineer", "prompt": "And guests?" })),
        &["follow-up", "CLR-42-001", "--from", "engineer", "--question", "And guests?"],
    );
    same(
        served.post(&format!("{first}/escalate"), json!({ "by": "engineer" })),
        &["escalate", "CLR-42-001", "--by", "engineer"],
    );
    same(served.get("/status"), &["status"]);
    same(
        served.post(&format!("{first}/resolve"), json!({ "note": "the same", "by": "human:alice" })),
        &["resolve", "CLR-42-001", "--note", "the same", "--by", "human:alice"],
    );
    same(served.get(first), &["show", "CLR-42-001"]);
    same(served.get(&format!("{first}/await")), &["await", "CLR-42-001"]);
    let options = ["--option", "redis=Redis", "--option", "sql=The SQL database"];
    same(
        served.post("/questions", question()),
        &[&ask[..], &["human", "--topic", "Store", "--question", "Where?"], &options].concat(),
    );
    same(served.post("/questions/CLR-42-002/withdraw", json!({})), &["withdraw", "CLR-42-002"]);
    same(
        served.get("/context?item=42&agent=engineer"),
        &["context", "--item", "42", "--agent", "engineer", "--format", "json"],
    );
    same(served.post("/hooks/finish", worker), &["hook", "finish", "--agent", "engineer", "--item", "42"]);
    same(served.get("/digest?since=1d"), &["digest", "--since", "1d"]);
    same(served.get("/guide?agent=engineer"), &["guide", "--agent", "engineer"]);
    same(served.post("/items/42/end", json!({ "as": "merged" })), &["item", "end", "42", "--as", "merged"]);
    same(served.get("/items/42"), &["item", "show", "42"]);
    same(served.get("/items"), &["item", "list"]);
    same(served.get("/doctor"), &["doctor"]);
}

#[test]
fn the_rest_replies_as_the_command_line_does() {
    let (over_http, typed) = (Project::with_a_preference(), Project::with_a_preference());
    let served = Served::start(&over_http);
    let same = |reply: Reply, args: &[&str]| assert_eq!(timeless(&reply.data()), timeless(&typed.ok(args)), "{args:?}");

    let assume = json!({
        "item": "42", "agent": "engineer", "decision": "An hour", "reasoning": "it is so everywhere", "confidence": "high",
        "risk_if_wrong": { "level": "low" },
    });
    typed.assumes("An hour", "low", "high");
    assert_eq!(served.post("/assumptions", assume).data()["assumption"]["id"], "ASM-42-001");
    same(
        served.post("/assumptions/ASM-42-001/review", json!({ "verdict": "overturn", "note": "a day" })),
        &["assumptions", "review", "ASM-42-001", "--overturn", "--note", "a day"],
    );
    let overturned = served.get("/assumptions?status=overturned").data();
    assert_eq!(overturned["assumptions"].as_array().unwrap().len(), 1);
    same(served.get("/learned"), &["learned"]);
    same(served.get("/learned/LRN-001"), &["learned", "show", "LRN-001"]);
    same(served.post("/learned/LRN-001/revoke", json!({})), &["learned", "revoke", "LRN-001"]);
    served.post("/hooks/start", json!({ "agent": "engineer", "item": "42" })).data();
    typed.ok(&["hook", "start", "--agent", "engineer", "--item", "42"]);
    same(
        served.post("/locks", json!({ "paths": ["src/a.rs"], "agent": "engineer", "item": "42" })),
        &["lock", "src/a.rs", "--session", "engineer@42"],
    );
    assert_eq!(served.get("/locks").data()["locks"][0]["session"], "engineer@42");
    served
        .post("/locks", json!({ "paths": ["src/a.rs"], "agent": "architect", "session": "engineer@42" }))
        .refused(422, "not_owner");
    same(served.post("/locks/release", json!({ "session": "engineer@42" })), &["unlock", "--session", "engineer@42"]);
    same(
        served.post("/owners", json!({ "path": "docs", "agent": "architect" })),
        &["own", "docs", "--agent", "architect"],
    );
    same(served.post("/owners", json!({ "path": "docs", "agent": null })), &["own", "docs", "--nobody"]);
    same(served.post("/monitor", json!({ "dry_run": true })), &["monitor", "--dry-run"]);
    same(served.get("/alerts?all=true"), &["alerts", "--all"]);
    same(served.post("/beats", json!({ "component": "runner" })), &["beat", "runner"]);
    same(served.get("/triggers"), &["trigger", "list"]);
    same(
        served.post("/triggers", json!({ "event": "nothing", "item": "42", "from": "engineer" })),
        &["trigger", "nothing", "--item", "42", "--from", "engineer"],
    );
    served.post("/alerts/ALR-001/ack", json!({})).refused(400, "invalid_input");
    let typed_events = over_http.run(&["events", "--since", "3"]).stdout;
    let events = served.get("/events?since=3&limit=2").data();
    let lines: Vec<Value> = typed_events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events["events"], json!(lines[..2]));
    assert_eq!(events["next_cursor"], "5");
}

#[test]
fn every_code_has_its_status() {
    let project = Project::new();
    let served = Served::start(&project);

    served.get("/items/nowhere").refused(404, "item_not_found");
    served.get("/questions/CLR-42-009").refused(404, "question_not_found");
    served.get("/questions/CLR-42").refused(400, "invalid_input");
    served.post("/items", json!({ "id": "42", "title": "Again" })).refused(409, "conflict");
    let stranger = json!({ "from": "nobody", "topic": "T", "prompt": "Q?" });
    served.post("/questions", stranger).refused(422, "unknown_agent");
    served.post("/questions", question()).data();
    served.post("/questions", question()).refused(409, "question_conflict_open");
    let answer =
        |by: &str, value: &str| served.post("/questions/CLR-42-001/answer", json!({ "answer": value, "by": by }));
    answer("architect", "redis").refused(403, "human_only");
    answer("human", "mysql").refused(422, "question_invalid_answer");
    served.post("/hooks/start", json!({ "agent": "engineer", "item": "42" })).refused(422, "item_not_runnable");
    served.post("/questions/CLR-42-001/withdraw", json!({ "by": "architect" })).refused(403, "not_asker");
    answer("human", "redis").data();
    answer("human", "sql").refused(409, "question_already_answered");
    let to_agent = json!({ "from": "engineer", "to": "architect", "topic": "T", "prompt": "Which one?" });
    served.post("/questions", to_agent).data();
    served
        .post("/questions/CLR-42-002/answer", json!({ "answer": "a", "by": "reviewer" }))
        .refused(403, "not_addressee");
}

#[test]
fn what_does_not_fit_is_refused_with_the_field() {
    let project = Project::new();
    let served = Served::start(&project);
    let field = |reply: Reply| reply.refused(400, "invalid_input")["details"]["field"].clone();
    let ask = |more: Value| {
        let mut ask = question();
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        field(served.post("/questions", ask))
    };

    assert_eq!(ask(json!({ "topik": "T" })), "topik");
    assert_eq!(ask(json!({ "topic": " " })), "topic");
    assert_eq!(ask(json!({ "topic": "x".repeat(201) })), "topic");
    assert_eq!(ask(json!({ "kind": "curious" })), "kind");
    assert_eq!(ask(json!({ "from": "querent" })), "from");
    assert_eq!(ask(json!({ "options": [{ "id": "a", "label": "A", "colour": "red" }] })), "options.0");
    assert_eq!(field(served.post("/questions", json!({ "topic": "T" }))), "prompt");
    assert_eq!(field(served.post("/items/42/move", json!({ "id": "43", "to": "review" }))), "id");
    assert_eq!(field(served.get("/questions?stat=all")), "stat");
    assert_eq!(field(served.get("/questions?limit=0")), "limit");
    assert_eq!(field(served.get("/questions?limit=99999999999999999999")), "limit");
    assert_eq!(field(served.get("/questions?limit=1&limit=2")), "limit");
    assert_eq!(field(served.get("/questions?cursor=x")), "cursor");
    assert_eq!(field(served.get("/questions?to=%00")), "to");
    assert_eq!(field(served.get("/questions?to=%ff")), "query");
    assert_eq!(field(served.get("/items/%00")), "id");
    assert_eq!(field(served.get("/items/%ff")), "path");
    let raw = |body: &[u8], kind: &str| served.request("POST", "/api/v1/items", &[("Content-Type", kind)], body);
    assert_eq!(field(raw(b"{", "application/json")), "body");
    assert_eq!(field(raw(b"[]", "application/json")), "body");
    assert_eq!(field(raw(b"\"\\ud800\"", "application/json")), "body");
    assert_eq!(field(raw(b"id=1", "application/x-www-form-urlencoded")), "Content-Type");
    assert_eq!(field(raw(b"", "application/json")), "id");
    let large = json!({ "id": "x", "title": "x".repeat(2 << 20) }).to_string();
    raw(large.as_bytes(), "application/json").refused(413, "invalid_input");
    for key in ["a b", "", &"x".repeat(201)] {
        let reply = served.post_with("/monitor", &[("Idempotency-Key", key)], &json!({}));
        assert_eq!(field(reply), "Idempotency-Key");
    }
    let keys = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    assert_eq!(field(served.post_with("/monitor", &keys, &json!({}))), "idempotency-key");
    assert_eq!(field(served.post_with("/monitor", &[("If-Match", "\"1\"")], &json!({}))), "If-Match");
}

#[test]
fn an_unknown_route_and_a_wrong_method_are_told_in_the_envelope() {
    let project = Project::new();
    let served = Served::start(&project);

    let unknown = served.get("/question").refused(404, "usage");
    let wrong = served.request("DELETE", "/api/v1/items", &[], b"");
    let trailing = served.get("/items/");

    assert!(unknown["hint"].as_str().unwrap().contains("/api/v1/questions"), "{unknown}");
    wrong.refused(405, "usage");
    let allowed: BTreeSet<&str> = wrong.header("allow").unwrap().split(',').map(str::trim).collect();
    assert_eq!(allowed, BTreeSet::from(["GET", "HEAD", "POST"]));
    trailing.refused(404, "usage");
}

/// The same with the keys of every object in another order.
fn turned(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(turned).collect(),
        Value::Object(fields) => fields.iter().rev().map(|(key, value)| (key.clone(), turned(value))).collect(),
        plain => plain.clone(),
    }
}

#[test]
fn a_call_that_is_sent_again_is_replied_to_with_the_same_bytes() {
    let project = Project::new();
    let served = Served::start(&project);
    let key = [("Idempotency-Key", "op-1")];

    let mut asked = question();
    asked["details"] = json!({ "z": [{ "y": 1, "x": { "b": 2, "a": 3 } }], "a": null });
    let first = served.post_with("/questions", &key, &asked);
    served.post("/questions/CLR-42-001/answer", json!({ "answer": "redis" })).data();
    let again = served.post_with("/questions", &key, &asked);
    let turned = served.post_with("/questions", &key, &turned(&asked));
    let mut other = asked;
    other["topic"] = "Else".into();
    let conflict = served.post_with("/questions", &key, &other);

    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!((first.status, &first.body), (turned.status, &turned.body));
    assert_eq!(first.data()["question_id"], "CLR-42-001");
    conflict.refused(409, "operation_conflict");
    assert_eq!(served.get("/questions?status=all").data()["count"], 1);
}

#[test]
fn an_etag_saves_reading_and_guards_writing() {
    let project = Project::new();
    let served = Served::start(&project);
    served.post("/questions", question()).data();

    let shown = served.get("/questions/CLR-42-001");
    let tag = shown.header("etag").unwrap().to_owned();
    let unchanged = served.request("GET", "/api/v1/questions/CLR-42-001", &[("If-None-Match", &tag)], b"");
    let answer = json!({ "answer": "redis" });
    let outdated = served.post_with("/questions/CLR-42-001/answer", &[("If-Match", "\"1\"")], &answer);
    let weak = served.post_with("/questions/CLR-42-001/answer", &[("If-Match", &format!("W/{tag}"))], &answer);
    let accepted = served.post_with("/questions/CLR-42-001/answer", &[("If-Match", &tag)], &answer);
    let changed = served.request("GET", "/api/v1/questions/CLR-42-001", &[("If-None-Match", &tag)], b"");

    assert!(served.get("/items/42").header("etag").is_some());
    assert_eq!((unchanged.status, unchanged.body.as_str(), unchanged.header("etag")), (304, "", Some(tag.as_str())));
    outdated.refused(412, "conflict");
    weak.refused(400, "invalid_input");
    accepted.data();
    assert_eq!(changed.status, 200);
}

#[test]
fn pages_show_every_question_once_while_others_are_added() {
    let project = Project::new();
    let served = Served::start(&project);
    let add = |number: usize| {
        let ask = json!({
            "item": "42", "from": "engineer", "to": "architect", "blocking": false, "topic": "T",
            "prompt": format!("What about number {number}?"),
        });
        served.post("/questions", ask).data()["question_id"].as_str().unwrap().to_owned()
    };
    let before: Vec<String> = (0..1_000).map(add).collect();

    let mut seen = Vec::new();
    let mut path = "/questions?limit=150".to_owned();
    for number in 1_000.. {
        let page = served.get(&path).data();
        let questions = page["questions"].as_array().unwrap();
        assert!(questions.len() <= 150);
        seen.extend(questions.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/questions?limit=150&cursor={cursor}");
        add(number);
    }

    assert_eq!(seen[..1_000], before);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
    assert_eq!(served.get("/questions?limit=1&status=all").data()["count"], 1);
}

#[test]
fn a_wait_ends_with_the_answer() {
    let project = Project::new();
    let served = Served::start(&project);
    let mut ask = question();
    ask["wait"] = "200s".into();
    let body = ask.to_string();
    let json = [("Content-Type", "application/json")];

    let asking = served.send("POST", "/api/v1/questions", &json, body.as_bytes());
    while served.get("/questions").data()["count"] == 0 {
        std::thread::yield_now();
    }
    let waiting = served.send("GET", "/api/v1/questions/CLR-42-001/await?timeout=200s", &[], b"");
    let timed_out = served.get("/questions/CLR-42-001/await?timeout=1ms").data();
    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);

    assert_eq!(timed_out, json!({ "question_id": "CLR-42-001", "status": "open", "timed_out": true }));
    assert_eq!(Reply::read(waiting).data()["answer"]["value"], "redis");
    assert_eq!(Reply::read(asking).data()["status"], "resolved");
}

#[test]
fn the_documented_routes_are_the_served_ones() {
    let project = Project::new();
    let served = Served::start(&project);

    let document = served.request("GET", "/openapi.json", &[], b"").json();

    let ids = [("{id}", "CLR-42-001")];
    for (path, operations) in document["paths"].as_object().unwrap() {
        let concrete = ids.iter().fold(path.clone(), |path, (name, id)| path.replace(name, id));
        for method in ["get", "post", "put", "patch", "delete"] {
            let status = served.request(&method.to_uppercase(), &concrete, &[], b"").status;
            assert_eq!(status != 405, operations.get(method).is_some(), "{method} {path}: {status}");
        }
    }
}
