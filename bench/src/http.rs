//! The HTTP server: how soon it tells, how many it can keep waiting, and how much it takes at once.

pub(crate) mod client;
mod crowd;
mod load;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::client::{Client, data};
use crate::Outcome;
use crate::measure::median;
use crate::process::{alternate, querent};
use crate::rows::{Row, scratch};
use crate::seed::with_open_questions;
use crate::served::Server;

/// How long anything may take before it is given up.
const PATIENCE: Duration = Duration::from_mins(1);
/// Pages in a round.
const PAGES: usize = 20;

pub(crate) fn rows(dir: &Path, quick: bool) -> Outcome<Vec<Row>> {
    let runtime = Runtime::new()?;
    let mut rows = vec![runtime.block_on(informed(&scratch(dir)?, if quick { 300 } else { 1_000 }))?];
    rows.push(runtime.block_on(crowd::row(&scratch(dir)?, if quick { 200 } else { 1_000 }))?);
    rows.extend(pages(dir, &runtime, if quick { 5 } else { 15 })?);
    let (rounds, span) = if quick { (2, 1) } else { (6, 5) };
    rows.push(load::row(dir, &runtime, rounds, Duration::from_secs(span))?);
    Ok(rows)
}

/// The server that is measured, on the project in `dir`.
fn serve(dir: &Path) -> Outcome<Server> {
    Server::start(&querent()?, &["serve", "--listen", "127.0.0.1:PORT"], dir)
}

/// How long after an answer was sent a client that follows the events has it.
async fn informed(dir: &Path, count: usize) -> Outcome<Row> {
    let ids = with_open_questions(dir, count, 1)?;
    let server = serve(dir)?;
    let mut events = Client::connect(server.port()).await?;
    events.events().await?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let follower = tokio::spawn(async move {
        while let Ok(event) = events.event().await {
            if event.kind == "question_answered" && tell.send((Instant::now(), event.data)).is_err() {
                break;
            }
        }
    });
    let mut client = Client::connect(server.port()).await?;
    let mut millis = Vec::with_capacity(count);
    let body = json!({ "answer": "Postgres", "by": "architect" }).to_string();
    for id in &ids {
        let start = Instant::now();
        client.post(&format!("/api/v1/questions/{id}/answer"), &body).await?;
        let (at, event) = timeout(PATIENCE, told.recv()).await?.ok_or("the stream ended")?;
        if !event.contains(&id.to_string()) {
            return Err(format!("{id} was answered, and told was {event}").into());
        }
        millis.push(at.duration_since(start).as_secs_f64() * 1000.0);
    }
    follower.abort();
    millis.sort_by(f64::total_cmp);
    let p99 = millis[(millis.len() * 99).div_ceil(100) - 1];
    let seen = format!("p50 {:.2} ms, p99 {p99:.2} ms of {count}", median(millis.clone()));
    Ok(Row::at_most("HTTP answer sent, event at a client, p99 ms", p99, 20.0, seen))
}

/// The first page where much is open and where little is, at rest and after a question of somebody else.
fn pages(dir: &Path, runtime: &Runtime, rounds: usize) -> Outcome<Vec<Row>> {
    let (many, few) = (scratch(dir)?, scratch(dir)?);
    with_open_questions(&many, 10_000, 1)?;
    with_open_questions(&few, 100, 1)?;
    let (many, few) = (serve(&many)?, serve(&few)?);
    let connect = |server: &Server| runtime.block_on(Client::connect(server.port()));
    let (mut of_many, mut of_few) = (connect(&many)?, connect(&few)?);
    let mut compare = |name, changes| -> Outcome<Row> {
        // The first page of a server makes what the others use.
        runtime.block_on(async { page(&mut of_many, changes).await.and(page(&mut of_few, changes).await) })?;
        let (ratio, many, few) = alternate(
            rounds,
            || runtime.block_on(page(&mut of_many, changes)),
            || runtime.block_on(page(&mut of_few, changes)),
        )?;
        let seen = format!("{:.2} ms against {:.2} ms", many * 1000.0, few * 1000.0);
        Ok(Row::at_most(name, ratio, 5.0, seen))
    };
    Ok(vec![
        compare("first page of 100, 10,000 open / 100 open", false)?,
        compare("the same, each after a question was asked", true)?,
    ])
}

/// Seconds that a page takes: the middle of some.
async fn page(client: &mut Client, changes: bool) -> Outcome<f64> {
    let mut seconds = Vec::with_capacity(PAGES);
    for _ in 0..PAGES {
        if changes {
            client.post("/api/v1/questions", &load::question(1)).await?;
        }
        let start = Instant::now();
        let body = client.get("/api/v1/questions?limit=100").await?;
        seconds.push(start.elapsed().as_secs_f64());
        let shown = data(&body)?["questions"].as_array().map(Vec::len);
        if shown != Some(100) {
            return Err(format!("a page of {shown:?}").into());
        }
    }
    Ok(median(seconds))
}
