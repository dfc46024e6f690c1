//! Querent as a library, in a process of its own that can be killed: a driver like those of the peers.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{Action, Party};
use querent_hub::{Awaited, Handle, Project};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::MOST_CLIENTS;
use super::question::{ANSWER, ask};
use super::subject::{Sample, share};
use crate::Outcome;
use crate::commands::{accepted, project};

/// How long an answer may take before the run is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// Does cycles until its input ends, in a new project in `dir`.
pub(crate) fn drive(dir: &Path) -> Outcome<()> {
    project(dir, MOST_CLIENTS)?;
    let hub = Handle::stay(&Project::find(dir)?, "bench")?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    // Whoever stays follows what happens.
    let _following = runtime.block_on(async { hub.follow(None) })?;
    let setting =
        "A handle of the hub in the process of the clients, on the files engine; each client on an item of its own.";
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
    let client = |number: usize| move || cycle(hub, runtime, &number.to_string());
    let Sample { cycles, seconds, latencies } = share((1..=clients).map(client).collect(), cycles)?;
    Ok(json!({ "cycles": cycles, "seconds": seconds, "latencies_us": latencies, "found": null }))
}

/// One asks, another waits, and when it does a third answers.
fn cycle(hub: &Handle, runtime: &Runtime, item: &str) -> Outcome<()> {
    let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
    let asked: AskReply = accepted(hub, item, engineer, Action::Ask(Box::new(ask())))?;
    let (question, waits) = (asked.question_id, oneshot::channel());
    let waiter = runtime.spawn({
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
    waits.1.blocking_recv()?;
    let answer = Action::Answer { question, answer: json!(ANSWER), note: None };
    accepted::<AnswerReply>(hub, item, architect, answer)?;
    match runtime.block_on(waiter)?? {
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
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();

        let said = run(&hub, &runtime, 2, 6).unwrap();

        assert_eq!(said["latencies_us"].as_array().unwrap().len(), 6);
        assert_eq!(answers_in(dir.path()).unwrap(), 6);
    }
}
