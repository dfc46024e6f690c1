//! Those who call: each insists on every call until it is acknowledged, and remembers what it was told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{PoisonError, RwLock};

use serde_json::{Value, json};

use crate::e2e::http::{Client, Reply};
use crate::e2e::project::{hold, words};

/// What everybody who calls has to know.
pub(super) struct Scene {
    /// Where the servers are.
    pub(super) ports: Vec<u16>,
    /// Held for writing while a server is not there; whoever lost it waits here.
    pub(super) door: RwLock<()>,
    /// The load is over.
    pub(super) over: AtomicBool,
}

/// What one of them was told is done.
#[derive(Default)]
pub(super) struct Done {
    /// The questions, each with its answer.
    pub(super) asked: Vec<(String, Option<String>)>,
    /// How often a call had to be made again.
    pub(super) again: usize,
}

impl Done {
    pub(super) fn answers(&self) -> usize {
        self.asked.iter().filter(|(_, answer)| answer.is_some()).count()
    }
}

impl Scene {
    pub(super) fn new(ports: Vec<u16>) -> Self {
        Self { ports, door: RwLock::default(), over: AtomicBool::new(false) }
    }

    /// Waits while a server is not there.
    fn wait_at_the_door(&self) {
        drop(self.door.read().unwrap_or_else(PoisonError::into_inner));
    }
}

/// One who asks, answers and lists until the load is over; with several servers, at each in turn.
pub(super) struct Caller<'a> {
    number: usize,
    scene: &'a Scene,
    clients: Vec<Client>,
    calls: usize,
    done: Done,
}

impl<'a> Caller<'a> {
    pub(super) fn new(number: usize, scene: &'a Scene) -> Self {
        let clients = scene.ports.iter().map(|port| Client::new(*port)).collect();
        Self { number, scene, clients, calls: number, done: Done::default() }
    }

    /// Calls until the load is over, and says of each call when it is acknowledged.
    pub(super) fn work(mut self, acknowledged: &Sender<()>) -> Result<Done, String> {
        while !self.scene.over.load(Ordering::Acquire) {
            self.ask()?;
            if !self.calls.is_multiple_of(4) {
                self.answer()?;
            }
            self.insist("GET", "/api/v1/questions?limit=20", &Value::Null)?.data()?;
            // Nobody listens any more when the load is over.
            let _ = acknowledged.send(());
        }
        Ok(self.done)
    }

    fn ask(&mut self) -> Result<(), String> {
        let body = question(self.number, self.calls);
        let data = self.insist("POST", "/api/v1/questions", &body)?.data()?;
        self.done.asked.push((words(&data, "/question_id")?.to_owned(), None));
        Ok(())
    }

    /// Answers the question that was asked last.
    fn answer(&mut self) -> Result<(), String> {
        let Some((id, _)) = self.done.asked.last() else { return Ok(()) };
        let (path, answer) = (format!("/api/v1/questions/{id}/answer"), format!("the answer to {id}"));
        let body = json!({ "answer": answer, "by": "architect" });
        let data = self.insist("POST", &path, &body)?.data()?;
        hold(data["answer"]["value"] == answer.as_str(), || format!("another answer was taken: {data}"))?;
        if let Some((_, given)) = self.done.asked.last_mut() {
            *given = Some(answer);
        }
        Ok(())
    }

    /// Calls until there is a reply, with the same key each time.
    fn insist(&mut self, method: &str, path: &str, body: &Value) -> Result<Reply, String> {
        self.calls += 1;
        let key = if body.is_null() { String::new() } else { format!("caller-{}-{}", self.number, self.calls) };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let place = self.calls % self.clients.len();
        let mut error = String::new();
        for _ in 0..MOST {
            match self.clients[place].call(method, path, &key, &body) {
                Ok(reply) => return Ok(reply),
                Err(broken) => error = broken.to_string(),
            }
            self.done.again += 1;
            self.scene.wait_at_the_door();
        }
        Err(format!("{method} {path} was tried {MOST} times: {error}"))
    }
}

/// How often a call is tried: it may meet several servers that are killed, and never this many.
const MOST: usize = 100;

/// A question that nobody asked before.
pub(super) fn question(item: usize, number: usize) -> Value {
    json!({
        "item": item.to_string(),
        "from": "engineer",
        "to": "architect",
        "topic": "Storage of sessions",
        "prompt": format!("The ADR says Postgres, the ticket says Redis. Which holds table {number} of item {item}?"),
        "kind": "clarifying",
    })
}

/// Follows the events from the first one on, over all that happens to its server, until the item `end` is there.
pub(super) fn follow(port: u16, scene: &Scene) -> Result<Vec<String>, String> {
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..MOST {
        if let Ok(mut events) = Client::events(port, seen.len() as u64) {
            while let Ok((id, line)) = events.next() {
                hold(id == seen.len() as u64 + 1, || format!("event {id} came after {}", seen.len()))?;
                let event: Value = serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
                seen.push(line);
                if event["type"] == "item_opened" && event["stream"] == "end" {
                    return Ok(seen);
                }
            }
        }
        scene.wait_at_the_door();
    }
    Err(format!("the stream of events broke {MOST} times"))
}
