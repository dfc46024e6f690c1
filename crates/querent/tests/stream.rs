//! `/events`: nobody misses an event, across reconnects and restarts.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::Value;

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
                None if line.trim().is_empty() && id > 0 => return Seen { id, event, data },
                // The sizes of chunks, and signs of life.
                _ => {}
            }
        }
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
