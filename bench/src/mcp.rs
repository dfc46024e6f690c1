//! The MCP server against one that is written with `FastMCP` and keeps everything in memory, and what waiting costs.

pub(crate) mod http;
pub(crate) mod stdio;

use std::path::{Path, PathBuf};
use std::time::Instant;

use querent_core::{Action, Ask, Party, QuestionId};
use querent_hub::{Handle, Project};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Outcome;
use crate::commands::{accepted, ask};
use crate::measure::{median, rate};
use crate::process::{alternate, one_thread, querent};
use crate::rows::{Row, scratch};
use crate::seed::with_open_questions;
use crate::served::Server;

/// Set by `cargo xtask bench`: a Python that has `FastMCP`.
const PYTHON: &str = "QUERENT_BENCH_PYTHON";
const FASTMCP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fastmcp/server.py");

/// How many questions are listed.
const LISTED: usize = 20;

pub(crate) fn rows(dir: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let mut rows = calls(dir, rounds)?;
    rows.push(wake(dir, rounds * 100)?);
    Ok(rows)
}

/// What both servers list and do.
fn calls(dir: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let (querent, python) = (querent()?, python()?);
    let dir = scratch(dir)?;
    with_open_questions(&dir, LISTED, 1)?;
    let mut ours = stdio::Server::start(&querent, &["mcp", "--agent", "engineer"], &dir)?;
    let list = dir.join("list.json");
    std::fs::write(&list, ours.call("question_list", &json!({}))?.to_string())?;
    let list = list.to_string_lossy();
    let mut theirs = stdio::Server::start(&python, &[FASTMCP, &list], &dir)?;
    let mut listed = |in_flight: usize| {
        let of = |server: &mut stdio::Server, count| server.rate("question_list", in_flight, count);
        alternate(rounds, || of(&mut ours, 2_000), || of(&mut theirs, 400))
    };
    let (one, eight) = (listed(1)?, listed(8)?);
    drop((ours, theirs));
    let ours = Server::start(&querent, &["serve", "--listen", "127.0.0.1:PORT"], &dir)?;
    let theirs = Server::start(&python, &[FASTMCP, &list, "PORT"], &dir)?;
    let talked = |clients: usize| {
        alternate(
            rounds,
            || pairs(&ours, ["/mcp/engineer", "/mcp/architect"], clients, 400),
            || pairs(&theirs, ["/mcp", "/mcp"], clients, 80),
        )
    };
    let (pair, pairs) = (talked(1)?, talked(8)?);
    let seen = |(_, ours, theirs): (f64, f64, f64)| format!("{ours:.0}/s against {theirs:.0}/s");
    Ok(vec![
        Row::at_least("MCP list on stdio, one in flight / FastMCP", one.0, 5.0, seen(one)),
        Row::at_least("MCP list on stdio, eight in flight / FastMCP", eight.0, 10.0, seen(eight)),
        Row::at_least("MCP ask + answer over HTTP, one client / FastMCP", pair.0, 3.0, seen(pair)),
        Row::at_least("MCP ask + answer over HTTP, eight clients / FastMCP", pairs.0, 8.0, seen(pairs)),
    ])
}

/// Pairs of a question and its answer a second, of so many clients at once, each on an item of its own.
fn pairs(server: &Server, [asker, answerer]: [&'static str; 2], clients: usize, count: usize) -> Outcome<f64> {
    let each = count / clients;
    one_thread()?.block_on(async {
        let mut connected = Vec::new();
        for _ in 0..clients {
            let asker = http::Client::connect(server.port(), asker).await?;
            connected.push((asker, http::Client::connect(server.port(), answerer).await?));
        }
        let (start, mut work) = (Instant::now(), JoinSet::new());
        for (number, (mut asker, mut answerer)) in connected.into_iter().enumerate() {
            work.spawn(async move {
                for _ in 0..each {
                    pair(&mut asker, &mut answerer, number + 1).await?;
                }
                Outcome::Ok(())
            });
        }
        while let Some(done) = work.join_next().await {
            done??;
        }
        Ok(rate(each * clients, start))
    })
}

async fn pair(asker: &mut http::Client, answerer: &mut http::Client, item: usize) -> Outcome<()> {
    let Action::Ask(it) = ask() else { return Err("no question".into()) };
    let Ask { topic, prompt, .. } = *it;
    let question = json!({
        "item": item.to_string(), "to": "architect", "topic": topic, "prompt": prompt, "wait_seconds": 0,
    });
    let id = asker.call("question_create", &question).await?["question_id"].clone();
    let said = answerer.call("question_answer", &json!({ "question_id": id, "answer": "Postgres" })).await?;
    if said["status"] == "answered" { Ok(()) } else { Err(format!("not answered: {said}").into()) }
}

/// How long after an answer in one process the one who waits in another has it.
fn wake(dir: &Path, count: usize) -> Outcome<Row> {
    let dir = scratch(dir)?;
    let ids = with_open_questions(&dir, count, 1)?;
    let mut server = stdio::Server::start(&querent()?, &["mcp", "--agent", "engineer"], &dir)?;
    let hub = Handle::stay(&Project::find(&dir)?, "bench")?;
    let mut millis = Vec::with_capacity(count);
    for id in &ids {
        let wait = json!({ "question_id": id, "wait_seconds": 50 });
        server.send(&call(1, "await_answer", &wait))?;
        // The reply to a later call shows that the wait has begun, or is about to.
        server.send(&call(2, "question_list", &json!({ "item": id.item, "limit": 1 })))?;
        server.line()?;
        answer(&hub, id)?;
        let start = Instant::now();
        let said = said(&server.line()?)?;
        millis.push(start.elapsed().as_secs_f64() * 1000.0);
        if said["status"] != "answered" {
            return Err(format!("woken for nothing: {said}").into());
        }
    }
    millis.sort_by(f64::total_cmp);
    let p99 = millis[(millis.len() * 99).div_ceil(100) - 1];
    let seen = format!("p50 {:.2} ms, p99 {p99:.2} ms of {count}", median(millis.clone()));
    Ok(Row::at_most("MCP answer in one process, woken in another, p99 ms", p99, 10.0, seen))
}

pub(crate) fn answer(hub: &Handle, question: &QuestionId) -> Outcome<()> {
    let answer = Action::Answer { question: question.clone(), answer: json!("Postgres"), note: None };
    let architect: Party = "architect".parse()?;
    accepted::<Value>(hub, question.item.as_str(), architect, answer).map(drop)
}

fn python() -> Outcome<PathBuf> {
    let set = std::env::var_os(PYTHON).map(PathBuf::from);
    set.ok_or_else(|| "this is measured by `cargo xtask bench`, which installs FastMCP".into())
}

fn initialize() -> String {
    let client = json!({ "name": "bench", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

fn initialized() -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
}

pub(crate) fn call(id: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// A call whose client wants to be told what comes of it before it ends.
pub(crate) fn call_with_progress(id: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// The question that a call waits for, as it tells while it does.
pub(crate) fn waited_for(message: &str) -> Outcome<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        message: &'a str,
    }
    let Message { params } = serde_json::from_str(message)?;
    Ok(params.message.split(' ').next().unwrap_or_default().to_owned())
}

/// What a tool said, if it did not refuse.
pub(crate) fn said(message: &str) -> Outcome<Value> {
    let mut message: Value = serde_json::from_str(message)?;
    match message["result"]["structuredContent"].take() {
        Value::Object(said) if message["result"]["isError"] != true => Ok(Value::Object(said)),
        _ => Err(format!("refused: {message}").into()),
    }
}
