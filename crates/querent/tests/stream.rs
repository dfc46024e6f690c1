//! `/events`: nobody misses an event, across reconnects and restarts. And replies that come in parts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::common::Project;
use crate::common::http::Served;

/// An open stream.
struct Stream(BufReader<TcpStream>);

/// One event as it came.
#[derive(Debug, PartialEq)]
struct Seen {
    id: u64,
    event: String,
    data: Value,
}

impl Stream {
    fn open(served: &Served, query: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        write!(stream, "GET /events{query} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", served.address).unwrap();
        Self::of(stream)
    }

    /// The parts of the reply to a question whose asker waits.
    fn asked(served: &Served, key: &str, wait: &str) -> Self {
        let headers = [("Content-Type", "application/json"), ("Accept", "text/event-stream"), ("Idempotency-Key", key)];
        let question = json!({
            "item": "42", "from": "engineer", "to": "human", "topic": "Session store", "prompt": "Where do sessions live?",
            "context": "They must survive a restart.", "wait": wait,
        });
        Self::of(served.send("POST", "/api/v1/questions", &headers, question.to_string().as_bytes()))
    }

    /// What comes after the head of a reply.
    fn of(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "the stream ended in its head");
        }
        Self(reader)
    }

    fn next(&mut self) -> Seen {
        let (mut id, mut event, mut data) = (0, String::new(), Value::Null);
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = value.parse().unwrap(),
                Some(("event", value)) => value.clone_into(&mut event),
                Some(("data", value)) => data = serde_json::from_str(value).unwrap(),
                None if line.trim().is_empty() && !event.is_empty() => return Seen { id, event, data },
                // The sizes of chunks, and signs of life.
                _ => {}
            }
        }
    }

    /// The next part of a reply: its name, the question and where that is in its life.
    fn part(&mut self) -> (String, Value) {
        let Seen { event, data, .. } = self.next();
        assert_eq!(data["ok"], true, "{data}");
        let told = json!([data["data"]["question_id"], data["data"]["status"], data["data"]["answer"]["value"]]);
        (event, told)
    }

    fn is_over(&mut self) -> bool {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        !rest.contains("event")
    }
}

#[test]
fn an_answer_from_another_process_is_heard_at_once_as_the_line_that_it_is() {
    let project = Project::new();
    let served = Served::start(&project);
    let mut stream = Stream::open(&served, "", "");

    let id = project.asks_human();
    project.ok(&["answer", &id, "--answer", "redis"]);

    let mut seen = vec![stream.next()];
    while seen.last().unwrap().event != "item_resumed" {
        seen.push(stream.next());
    }
    let log = project.run(&["events"]).stdout;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<Value> = seen.iter().map(|seen| seen.data.clone()).collect();
    assert_eq!(told, lines[lines.len() - told.len()..]);
    assert!(seen.iter().all(|seen| seen.data["seq"] == seen.id && seen.data["type"] == seen.event.as_str()));
}

#[test]
fn whoever_comes_again_goes_on_where_it_was_also_with_the_next_server() {
    let project = Project::new();
    let served = Served::start(&project);
    let mut stream = Stream::open(&served, "?since=0", "");
    let first = stream.next();
    assert_eq!((first.id, first.event.as_str()), (1, "item_opened"));
    served.kill();
    project.ok(&["item", "add", "43", "--title", "Meanwhile"]);

    let next = Served::start(&project);
    let mut again = Stream::open(&next, "", "Last-Event-ID: 1\r\n");

    assert_eq!((again.next().id, again.next().data["data"]["title"].clone()), (2, "Meanwhile".into()));
}

#[test]
fn a_place_that_is_none_is_refused() {
    let project = Project::new();
    let served = Served::start(&project);

    assert_eq!(served.request("GET", "/events?since=x", &[], b"").status, 400);
    assert_eq!(served.request("GET", "/events", &[("Last-Event-ID", "-1")], b"").status, 400);
}

#[test]
fn a_server_that_is_told_to_stop_lets_its_listeners_go() {
    let project = Project::new();
    let served = Served::start(&project);
    let mut stream = Stream::open(&served, "", "");

    served.stop();

    let mut rest = String::new();
    while stream.0.read_line(&mut rest).unwrap() > 0 {}
}

#[test]
fn metrics_count_what_is_open_and_what_was_served() {
    let project = Project::new();
    let served = Served::start(&project);
    project.asks_human();
    served.get("/questions");

    let text = served.request("GET", "/metrics", &[], b"").body;

    for line in [
        "querent_questions_active{to=\"human\"} 1",
        "querent_questions_active{to=\"agent\"} 0",
        "querent_http_requests_total{status=\"2xx\"} 1",
        "querent_http_requests_open 1",
        "querent_event_streams 0",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn who_asks_and_waits_knows_the_question_before_its_answer() {
    let project = Project::new();
    let served = Served::start(&project);

    let mut reply = Stream::asked(&served, "ask-1", "200s");
    assert_eq!(reply.part(), ("asked".to_owned(), json!(["CLR-42-001", "open", null])));
    project.ok(&["answer", "CLR-42-001", "--answer", "in redis"]);

    assert_eq!(reply.part(), ("awaited".to_owned(), json!(["CLR-42-001", "resolved", "in redis"])));
    assert!(reply.is_over());
}

#[test]
fn who_lost_the_connection_asks_again_and_waits_on() {
    let project = Project::new();
    let served = Served::start(&project);
    let mut reply = Stream::asked(&served, "ask-1", "200s");
    let first = reply.part();
    drop(reply);
    served.kill();
    project.ok(&["answer", "CLR-42-001", "--answer", "in redis"]);

    let served = Served::start(&project);
    let mut again = Stream::asked(&served, "ask-1", "200s");

    assert_eq!(again.part(), first, "the same operation is the same question");
    assert_eq!(again.part().1[2], "in redis");
}

#[test]
fn a_wait_that_runs_out_says_so_and_a_refusal_is_whole() {
    let project = Project::new();
    let served = Served::start(&project);

    let mut reply = Stream::asked(&served, "ask-1", "1ms");
    reply.part();
    assert_eq!(reply.part(), ("awaited".to_owned(), json!(["CLR-42-001", "open", null])));
    assert!(reply.is_over());

    let headers = [("Accept", "text/event-stream")];
    let body = json!({ "item": "42", "from": "nobody", "topic": "t", "prompt": "p?", "wait": "1s" });
    let refused = served.post_with("/questions", &headers, &body);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (422, &json!("unknown_agent")));
    assert_eq!(refused.header("content-type"), Some("application/json"));
}
