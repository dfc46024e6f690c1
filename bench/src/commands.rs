//! Durable commands through the hub: questions and answers, as agents make them.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use querent_core::reply::{AnswerReply, AskReply, ItemReply};
use querent_core::{Action, Ask, Command, ItemId, Party, Via};
use querent_hub::{Handle, Project};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::measure::rate;
use crate::process::one_thread;

/// A project in `dir` with these items, each in the step of its engineer.
pub(crate) fn project(dir: &Path, items: usize) -> Outcome<Project> {
    let (project, _) = Project::init(dir, None, "feature")?;
    let hub = Handle::stay(&project, "bench")?;
    for number in 1..=items {
        let open =
            Action::OpenItem { title: format!("Item {number}"), workflow: Some("bug".to_owned()), autonomy: None };
        accepted::<ItemReply>(&hub, &format!("{number}"), Party::HUMAN, open)?;
    }
    Ok(project)
}

/// Carries out a command that must be accepted.
pub(crate) fn accepted<T: DeserializeOwned>(hub: &Handle, item: &str, by: Party, action: Action) -> Outcome<T> {
    let command = Command { item: item.parse()?, by, via: Via::Library, action };
    Ok(hub.execute(&command, None).read()?)
}

/// The same, without a thread that waits.
pub(crate) async fn accepted_later<T: DeserializeOwned>(
    hub: &Handle,
    item: &str,
    by: Party,
    action: Action,
) -> Outcome<T> {
    let command = Command { item: item.parse()?, by, via: Via::Library, action };
    Ok(hub.execute_later(command, None, None).await.read()?)
}

/// Asks and answers on one item, `commands` in all.
pub(crate) fn talk(hub: &Handle, item: &str, commands: usize) -> Outcome<()> {
    let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
    for _ in 0..commands.div_ceil(2) {
        let asked: AskReply = accepted(hub, item, engineer.clone(), ask())?;
        let (question, answer) = (asked.question_id, json!("Postgres, as in the ADR"));
        accepted::<AnswerReply>(hub, item, architect.clone(), Action::Answer { question, answer, note: None })?;
    }
    Ok(())
}

/// A question of a usual size that nobody asked before: an answer that is known would be given without asking.
pub(crate) fn ask() -> Action {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let (process, number) = (std::process::id(), ASKED.fetch_add(1, Ordering::Relaxed));
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let table = format!("{process}x{number}x{}", since.as_nanos());
    Action::Ask(Box::new(Ask {
        topic: "Storage of sessions".to_owned(),
        prompt: format!("The ADR says Postgres, the ticket says Redis. Which holds the table {table}?"),
        ..Ask::default()
    }))
}

/// The same, for which nobody waits: an asker may have many of these open.
pub(crate) fn ask_beside() -> Action {
    match ask() {
        Action::Ask(it) => Action::Ask(Box::new(Ask { blocking: Some(false), ..*it })),
        other => other,
    }
}

/// The rate of `clients` in this process, each on an item of its own: tasks of one thread, as a server has them.
pub(crate) fn rate_of_clients(project: &Project, clients: usize, each: usize) -> Outcome<f64> {
    let hub = Handle::stay(project, "bench")?;
    let runtime = one_thread()?;
    runtime.block_on(async {
        let (mut work, start) = (JoinSet::new(), Instant::now());
        for number in 1..=clients {
            work.spawn(talk_later(hub.clone(), number.to_string(), each));
        }
        while let Some(done) = work.join_next().await {
            done??;
        }
        Ok(rate(clients * each, start))
    })
}

/// The same as [`talk`], without a thread that waits.
async fn talk_later(hub: Handle, item: String, commands: usize) -> Outcome<()> {
    let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
    for _ in 0..commands.div_ceil(2) {
        let asked: AskReply = accepted_later(&hub, &item, engineer.clone(), ask()).await?;
        let (question, answer) = (asked.question_id, json!("Postgres, as in the ADR"));
        let answer = Action::Answer { question, answer, note: None };
        accepted_later::<AnswerReply>(&hub, &item, architect.clone(), answer).await?;
    }
    Ok(())
}

/// One client in a process of its own: says when it is ready, waits for a line, talks, says that it is done, and stays
/// until its input ends, so that its ledgers do not follow while others are still measured.
pub(crate) fn client(dir: &Path, item: &str, commands: usize) -> Outcome<()> {
    use std::io::{Write, stdin, stdout};
    let hub = Handle::stay(&Project::find(dir)?, "bench")?;
    hub.item(&item.parse::<ItemId>()?)?;
    let say = |word: &str| writeln!(stdout(), "{word}").and_then(|()| stdout().flush());
    say("ready")?;
    stdin().read_line(&mut String::new())?;
    talk(&hub, item, commands)?;
    say("done")?;
    stdin().read_line(&mut String::new())?;
    Ok(())
}
