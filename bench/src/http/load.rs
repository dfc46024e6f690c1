//! Everything at once: questions, answers and lists from many connections, and whether all of it is there in the end.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::client::{Client, data};
use super::serve;
use crate::Outcome;
use crate::commands::project;
use crate::measure::rate;
use crate::process::alternate;
use crate::rows::{Row, scratch};
use crate::served::Server;

/// Set by `cargo xtask bench`: a Python that has `FastAPI`.
const PYTHON: &str = "QUERENT_BENCH_FASTAPI";
const FASTAPI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fastapi/server.py");

/// How many connections there are, each on an item of its own.
const CONNECTIONS: usize = 64;

/// A server, and what it has said yes to.
struct Side {
    server: Server,
    asked: Vec<Asked>,
}

/// A question that the server has said is there, and its answer if that is there too.
struct Asked {
    id: String,
    answer: Option<String>,
}

pub(super) fn row(run: &Path, runtime: &Runtime, rounds: usize, span: Duration) -> Outcome<Row> {
    let python = std::env::var_os(PYTHON).map(PathBuf::from);
    let python = python.ok_or("this is measured by `cargo xtask bench`, which installs FastAPI")?;
    let (dir, other) = (scratch(run)?, scratch(run)?);
    project(&dir, CONNECTIONS)?;
    let mut ours = Side { server: serve(&dir)?, asked: Vec::new() };
    let server = Server::start(&python, &[FASTAPI, "questions.db", "PORT"], &other)?;
    let mut theirs = Side { server, asked: Vec::new() };
    let (ratio, our, their) =
        alternate(rounds, || runtime.block_on(drive(&mut ours, span)), || runtime.block_on(drive(&mut theirs, span)))?;
    let (kept, their_kept) = (runtime.block_on(check(ours))?, runtime.block_on(check(theirs))?);
    let seen = format!("{our:.0}/s against {their:.0}/s; {kept} and {their_kept} acknowledged, all there");
    Ok(Row::at_least("ask + answer + list, 64 connections / FastAPI + SQLite", ratio, 5.0, seen))
}

/// Requests a second, of all connections together.
async fn drive(side: &mut Side, span: Duration) -> Outcome<f64> {
    let (port, start) = (side.server.port(), Instant::now());
    let mut connections = JoinSet::new();
    for number in 1..=CONNECTIONS {
        connections.spawn(talk(port, number, start + span));
    }
    let mut count = 0;
    while let Some(done) = connections.join_next().await {
        let (requests, asked) = done??;
        count += requests;
        side.asked.extend(asked);
    }
    Ok(rate(count, start))
}

/// What one connection does: of five calls two ask, two answer the oldest of its open questions, and one lists.
async fn talk(port: u16, number: usize, end: Instant) -> Outcome<(usize, Vec<Asked>)> {
    let mut client = Client::connect(port).await?;
    let (mut asked, mut open, mut requests): (Vec<Asked>, VecDeque<usize>, usize) = (Vec::new(), VecDeque::new(), 0);
    let mut dice = number as u64;
    while Instant::now() < end {
        requests += 1;
        match roll(&mut dice) % 5 {
            0 => {
                let body = client.get("/api/v1/questions?limit=20").await?;
                if !body.starts_with(b"{\"ok\":true") {
                    return Err(format!("no list: {}", String::from_utf8_lossy(&body)).into());
                }
            }
            1 | 2 if !open.is_empty() => {
                let Some(it) = open.pop_front().map(|place| &mut asked[place]) else { continue };
                let answer = format!("Postgres holds what {} asks for", it.id);
                let body = json!({ "answer": answer, "by": "architect" }).to_string();
                client.post(&format!("/api/v1/questions/{}/answer", it.id), &body).await?;
                it.answer = Some(answer);
            }
            _ => {
                let said = data(&client.post("/api/v1/questions", &question(number)).await?)?;
                let id = said["question_id"].as_str().ok_or("a question without an id")?.to_owned();
                open.push_back(asked.len());
                asked.push(Asked { id, answer: None });
            }
        }
    }
    Ok((requests, asked))
}

/// A question of a usual size that nobody asked before.
pub(super) fn question(item: usize) -> String {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let table = ASKED.fetch_add(1, Ordering::Relaxed);
    json!({
        "item": item.to_string(),
        "from": "engineer",
        "to": "architect",
        "topic": "Storage of sessions",
        "prompt": format!("The ADR says Postgres, the ticket says Redis. Which holds the table {table}?"),
        "kind": "clarifying",
    })
    .to_string()
}

/// The same numbers for both servers (xorshift).
fn roll(dice: &mut u64) -> u64 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    *dice
}

/// Everything that the server has said yes to is there, once and with its answer. How much that is.
async fn check(side: Side) -> Outcome<usize> {
    let Side { server, mut asked } = side;
    let count = asked.len() + asked.iter().filter(|it| it.answer.is_some()).count();
    asked.sort_by(|a, b| a.id.cmp(&b.id));
    if let Some(twice) = asked.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(format!("two questions are called {}", twice[0].id).into());
    }
    let mut connections = JoinSet::new();
    while !asked.is_empty() {
        let share = asked.split_off(asked.len() - asked.len().div_ceil(CONNECTIONS).max(500).min(asked.len()));
        let port = server.port();
        connections.spawn(async move {
            let mut client = Client::connect(port).await?;
            for Asked { id, answer } in share {
                let said = data(&client.get(&format!("/api/v1/questions/{id}")).await?)?;
                let found = &said["question"]["answer"];
                let found = found["value"].as_str().or(found.as_str());
                if found != answer.as_deref() {
                    return Err(format!("{id} should have the answer {answer:?}: {said}").into());
                }
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = connections.join_next().await {
        done??;
    }
    Ok(count)
}
