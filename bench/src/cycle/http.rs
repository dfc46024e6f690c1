//! `querent serve` and its HTTP API: a client asks and waits on one connection, and answers on another. It does the first two in one
//! call, which tells the question's id before it waits; or in two.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::MOST_CLIENTS;
use super::question::{ANSWER, OPTIONS, TOPIC, prompt};
use super::subject::{About, Sample, Subject, answers_in, share_here};
use crate::Outcome;
use crate::commands::project;
use crate::http::client::Client;
use crate::process::{one_thread, version};
use crate::rows::scratch;
use crate::served::Server;

const QUESTIONS: &str = "/api/v1/questions";

/// How a client asks and waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    One,
    Two,
}

pub(crate) struct Http {
    calls: Calls,
    server: Server,
    dir: PathBuf,
    runtime: Runtime,
}

impl Http {
    pub(crate) fn start(run: &Path, binary: &Path, calls: Calls) -> Outcome<Self> {
        let dir = scratch(run)?;
        project(&dir, MOST_CLIENTS)?;
        let server = Server::start(binary, &["serve", "--listen", "127.0.0.1:PORT"], &dir)?;
        Ok(Self { calls, server, dir, runtime: one_thread()? })
    }
}

impl Subject for Http {
    fn about(&self) -> About {
        let (key, name, calls) = match self.calls {
            Calls::One => {
                ("querent-http", "Querent, HTTP", "asks and waits in one call, which tells the question's id first")
            }
            Calls::Two => {
                ("querent-http-await", "Querent, HTTP, a call to wait", "asks in one call and waits in another")
            }
        };
        About {
            key,
            name: name.to_owned(),
            version: version().to_owned(),
            durable: true,
            setting: format!(
                "`querent serve` as it comes; a client {calls}, and answers on a connection of its own; each on an item of its own."
            ),
        }
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        let (port, calls) = (self.server.port(), self.calls);
        self.runtime.block_on(async { share_here(connected(port, clients, calls).await?, cycles).await })
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

/// Clients that are connected, each on an item of its own.
pub(super) async fn connected(
    port: u16,
    clients: usize,
    calls: Calls,
) -> Outcome<Vec<impl AsyncFnMut() -> Outcome<()>>> {
    let mut connected = Vec::with_capacity(clients);
    for item in 1..=clients {
        let (mut asker, mut answerer) = (Client::connect(port).await?, Client::connect(port).await?);
        connected.push(async move || match calls {
            Calls::One => in_one_call(&mut asker, &mut answerer, item).await,
            Calls::Two => in_two_calls(&mut asker, &mut answerer, item).await,
        });
    }
    Ok(connected)
}

/// What a client asks.
#[derive(Serialize)]
struct Question<'a> {
    item: String,
    from: &'a str,
    topic: &'a str,
    prompt: &'a str,
    options: [Choice<'a>; 2],
    wait: Option<&'a str>,
}

#[derive(Serialize)]
struct Choice<'a> {
    id: String,
    label: &'a str,
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

async fn in_one_call(asker: &mut Client, answerer: &mut Client, item: usize) -> Outcome<()> {
    asker.post_for_events(QUESTIONS, &question(item, Some("60s"))?).await?;
    let first = asker.event().await?;
    answer(answerer, id_in(first.data.as_bytes())?).await?;
    let woken = asker.event().await?;
    asker.end_of_events().await?;
    check(woken.data.as_bytes())
}

async fn in_two_calls(asker: &mut Client, answerer: &mut Client, item: usize) -> Outcome<()> {
    let reply = asker.post(QUESTIONS, &question(item, None)?).await?;
    let id = id_in(&reply)?;
    asker.ask_for(&format!("{QUESTIONS}/{id}/await?timeout=60s"), "").await?;
    answer(answerer, id).await?;
    check(&asker.reply().await?)
}

fn question(item: usize, wait: Option<&str>) -> Outcome<String> {
    let options = OPTIONS.map(|label| Choice { id: label.to_lowercase(), label });
    let prompt = prompt();
    let question = Question { item: item.to_string(), from: "engineer", topic: TOPIC, prompt: &prompt, options, wait };
    Ok(serde_json::to_string(&question)?)
}

fn id_in(asked: &[u8]) -> Outcome<&str> {
    Ok(serde_json::from_slice::<Said<Asked<'_>>>(asked)?.data.question_id)
}

async fn answer(client: &mut Client, id: &str) -> Outcome<()> {
    let answer = format!(r#"{{"answer":"{ANSWER}","by":"architect"}}"#);
    client.post(&format!("{QUESTIONS}/{id}/answer"), &answer).await.map(drop)
}

fn check(woken: &[u8]) -> Outcome<()> {
    match serde_json::from_slice::<Said<Woken<'_>>>(woken)?.data.answer.text {
        ANSWER => Ok(()),
        other => Err(format!("woken for nothing: {other}").into()),
    }
}
