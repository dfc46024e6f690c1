//! `querent serve` and its HTTP API: a client asks and answers on one connection, and waits on another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Deserialize;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::MOST_CLIENTS;
use super::question::{self, ANSWER};
use super::subject::{About, Sample, Subject, answers_in};
use crate::Outcome;
use crate::commands::project;
use crate::http::client::Client;
use crate::process::version;
use crate::rows::scratch;
use crate::served::Server;

pub(crate) struct Http {
    server: Server,
    dir: PathBuf,
    runtime: Runtime,
}

impl Http {
    pub(crate) fn start(run: &Path, binary: &Path) -> Outcome<Self> {
        let dir = scratch(run)?;
        project(&dir, MOST_CLIENTS)?;
        let server = Server::start(binary, &["serve", "--listen", "127.0.0.1:PORT"], &dir)?;
        // One thread does for all clients, and none of them has to be woken by another.
        Ok(Self { server, dir, runtime: Builder::new_current_thread().enable_all().build()? })
    }
}

impl Subject for Http {
    fn about(&self) -> About {
        About {
            key: "querent-http",
            name: "Querent, HTTP".to_owned(),
            version: version().to_owned(),
            durable: true,
            setting: "`querent serve` as it comes; a client asks and answers on one connection and waits on another, each on an \
                      item of its own."
                .to_owned(),
        }
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        let port = self.server.port();
        self.runtime.block_on(async {
            let mut pairs = Vec::new();
            for _ in 0..clients {
                pairs.push((Client::connect(port).await?, Client::connect(port).await?));
            }
            let (begun, mut work, start) = (Arc::new(AtomicUsize::new(0)), JoinSet::new(), Instant::now());
            for (number, (mut client, mut waiter)) in pairs.into_iter().enumerate() {
                let begun = Arc::clone(&begun);
                work.spawn(async move {
                    let mut latencies = Vec::new();
                    while begun.fetch_add(1, Ordering::Relaxed) < cycles {
                        let start = Instant::now();
                        cycle(&mut client, &mut waiter, number + 1).await?;
                        latencies.push(u64::try_from(start.elapsed().as_micros())?);
                    }
                    Outcome::Ok(latencies)
                });
            }
            let mut latencies = Vec::with_capacity(cycles);
            while let Some(done) = work.join_next().await {
                latencies.extend(done??);
            }
            Ok(Sample { cycles: latencies.len(), seconds: start.elapsed().as_secs_f64(), latencies })
        })
    }

    fn project(&self) -> Option<&Path> {
        Some(&self.dir)
    }

    fn end(self: Box<Self>) -> Outcome<Option<usize>> {
        // It is killed.
        drop(self.server);
        answers_in(&self.dir).map(Some)
    }
}

/// As much of a reply as a client must read.
#[derive(Deserialize)]
struct Said<T> {
    data: T,
}

#[derive(Deserialize)]
struct Asked<'a> {
    question_id: &'a str,
}

#[derive(Deserialize)]
struct Woken<'a> {
    #[serde(borrow)]
    answer: Answered<'a>,
}

#[derive(Deserialize)]
struct Answered<'a> {
    text: &'a str,
}

async fn cycle(client: &mut Client, waiter: &mut Client, item: usize) -> Outcome<()> {
    let asked = question::with(json!({ "item": item.to_string(), "from": "engineer", "prompt": question::prompt() }));
    let asked = client.post("/api/v1/questions", &asked.to_string()).await?;
    let id = serde_json::from_slice::<Said<Asked<'_>>>(&asked)?.data.question_id;
    waiter.ask_for(&format!("/api/v1/questions/{id}/await?timeout=60s"), "").await?;
    let answer = json!({ "answer": ANSWER, "by": "architect" }).to_string();
    client.post(&format!("/api/v1/questions/{id}/answer"), &answer).await?;
    let woken = waiter.reply().await?;
    match serde_json::from_slice::<Said<Woken<'_>>>(&woken)?.data.answer.text {
        ANSWER => Ok(()),
        other => Err(format!("woken for nothing: {other}").into()),
    }
}
