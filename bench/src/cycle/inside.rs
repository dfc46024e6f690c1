//! Querent as a library, in a process of its own that can be killed: a driver like those of the peers.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{Action, Party};
use querent_hub::{Awaited, Handle, Project};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::MOST_CLIENTS;
use super::question::{ANSWER, ask};
use crate::Outcome;
use crate::commands::{accepted_later, project};
use crate::process::one_thread;

/// How long an answer may take before the run is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// Does cycles until its input ends, in a new project in `dir`.
pub(crate) fn drive(dir: &Path) -> Outcome<()> {
    project(dir, MOST_CLIENTS)?;
    let hub = Handle::stay(&Project::find(dir)?, "bench")?;
    let runtime = one_thread()?;
    // Whoever stays follows what happens.
    let _following = runtime.block_on(async { hub.follow(None) })?;
    let setting = "A handle of the hub in the process of the clients, on the files engine; tasks of one thread, each client on an item of its own.";
    say(&json!({
        "ready": true, "name": "Querent, in process", "version": env!("CARGO_PKG_VERSION"), "durable": true, "setting": setting,
    }))?;
    for line in stdin().lock().lines() {
        let wish: Value = serde_json::from_str(&line?)?;
        let number = |name: &str| wish[name].as_u64().and_then(|it| usize::try_from(it).ok()).ok_or("no number");
        say(&run(&hub, &runtime, number("clients")?, number("cycles")?)?)?;
    }
    Ok(())
}

fn say(line: &Value) -> Outcome<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

fn run(hub: &Handle, runtime: &Runtime, clients: usize, cycles: usize) -> Outcome<Value> {
    let (begun, start) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let latencies: Vec<u64> = runtime.block_on(async {
        let mut work = JoinSet::new();
        for number in 1..=clients {
            work.spawn(client(hub.clone(), number.to_string(), Arc::clone(&begun), cycles));
        }
        let mut latencies = Vec::with_capacity(cycles);
        while let Some(done) = work.join_next().await {
            latencies.extend(done??);
        }
        Outcome::Ok(latencies)
    })?;
    let (cycles, seconds) = (latencies.len(), start.elapsed().as_secs_f64());
    Ok(json!({ "cycles": cycles, "seconds": seconds, "latencies_us": latencies, "found": null }))
}

/// Does cycles as long as some are left; says what each took.
async fn client(hub: Handle, item: String, begun: Arc<AtomicUsize>, cycles: usize) -> Outcome<Vec<u64>> {
    let mut latencies = Vec::new();
    while begun.fetch_add(1, Ordering::Relaxed) < cycles {
        let start = Instant::now();
        cycle(&hub, &item).await?;
        latencies.push(u64::try_from(start.elapsed().as_micros())?);
    }
    Ok(latencies)
}

/// One asks, another waits, and when it does a third answers.
async fn cycle(hub: &Handle, item: &str) -> Outcome<()> {
    let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
    let asked: AskReply = accepted_later(hub, item, engineer, Action::Ask(Box::new(ask()))).await?;
    let (question, waits) = (asked.question_id, oneshot::channel());
    let waiter = tokio::spawn({
        let (hub, question) = (hub.clone(), question.clone());
        async move {
            let waiting = hub.await_answer(&question, Some(PATIENCE));
            tokio::pin!(waiting);
            // Once it was polled, it waits.
            let first = at_once(waiting.as_mut()).await;
            let _ = waits.0.send(());
            match first {
                Some(settled) => settled,
                None => waiting.await,
            }
        }
    });
    waits.1.await?;
    let answer = Action::Answer { question, answer: json!(ANSWER), note: None };
    accepted_later::<AnswerReply>(hub, item, architect, answer).await?;
    match waiter.await?? {
        Awaited::Settled(reply) if reply.answer.is_some() => Ok(()),
        other => Err(format!("woken for nothing: {other:?}").into()),
    }
}

/// What a future says at once, if it does.
async fn at_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| match Pin::new(&mut future).poll(context) {
        Poll::Ready(said) => Poll::Ready(Some(said)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::super::subject::answers_in;
    use super::*;

    #[test]
    fn cycles_are_shared_by_the_clients_and_every_answer_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        project(dir.path(), 2).unwrap();
        let hub = Handle::stay(&Project::find(dir.path()).unwrap(), "bench").unwrap();
        let runtime = one_thread().unwrap();

        let said = run(&hub, &runtime, 2, 6).unwrap();

        assert_eq!(said["latencies_us"].as_array().unwrap().len(), 6);
        assert_eq!(answers_in(dir.path()).unwrap(), 6);
    }
}
