//! What Querent itself takes for a clarification, beyond the agent that answers: here one that answers at once.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use querent_core::reply::AskReply;
use querent_core::{Party, QuestionId};
use querent_hub::{Awaited, Handle, Project, Team, TeamOptions};
use tokio::sync::watch;

use crate::Outcome;
use crate::commands::{accepted, ask, project};
use crate::measure::median;
use crate::rows::{Row, scratch};

/// What the agent says, as a program of one line.
const AGENT: &str =
    r#"echo '{"type":"RESULT","result":{"answer":"Postgres","evidence":"docs/adr.md","uncertainty":"none"}}'"#;
/// How long the whole crowd may take; it takes seconds.
const PATIENCE: Duration = Duration::from_mins(5);
/// How many rounds are under way at once.
const CROWD: usize = 200;

pub(crate) fn rows(run: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let dir = scratch(run)?;
    let project = team(&dir)?;
    let hub = Handle::stay(&project, "bench")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (stop, stopping) = watch::channel(false);
    let team = Team::open(&hub, TeamOptions::default())?;
    let routed = runtime.spawn(async move { team.route(stopping).await });
    let (mut all, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        all.push(runtime.block_on(round(&hub, "1"))?.as_secs_f64() * 1e3);
        alone.push(agent_alone()?.as_secs_f64() * 1e3);
    }
    let beyond = median(all.clone()) - median(alone.clone());
    let seen = format!("{:.1} ms a round, of which {:.1} ms are the agent's process", median(all), median(alone));
    let (answered, took) = runtime.block_on(crowd(&hub))?;
    stop.send(true)?;
    runtime.block_on(routed)??;
    let lost = CROWD - answered;
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let lost_row = Row::at_most(
        "a team, of 200 rounds at once: lost",
        lost as f64,
        0.0,
        format!("{answered} answered in {:.1} s", took.as_secs_f64()),
    );
    Ok(vec![Row::at_most("a team, a clarification round beyond its agent, p50 in ms", beyond, 5.0, seen), lost_row])
}

/// A project whose architect is a program that answers at once.
fn team(dir: &Path) -> Outcome<Project> {
    let made = project(dir, CROWD)?;
    let file = dir.join(".querent/config.toml");
    let config = std::fs::read_to_string(&file)?;
    let config = config.replace("[agents.architect]\n", "[agents.architect]\nprovider = \"instant\"\n");
    let provider = format!(
        "[run]\nworktrees = false\n[providers.instant]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", '''{AGENT}''']\n"
    );
    std::fs::write(&file, format!("{config}\n{provider}"))?;
    Ok(made)
}

/// From the question until its answer is there.
async fn round(hub: &Handle, item: &str) -> Outcome<Duration> {
    let id = asked(hub, item)?;
    let start = Instant::now();
    let awaited = hub.await_answer(&id, Some(PATIENCE)).await?;
    match awaited {
        Awaited::Settled(reply) if reply.answer.is_some() => Ok(start.elapsed()),
        other => Err(format!("{id} was not answered: {other:?}").into()),
    }
}

fn asked(hub: &Handle, item: &str) -> Outcome<QuestionId> {
    let engineer: Party = "engineer".parse()?;
    Ok(accepted::<AskReply>(hub, item, engineer, ask())?.question_id)
}

/// The same program behind the same gate, with nobody around it.
fn agent_alone() -> Outcome<Duration> {
    let start = Instant::now();
    let gate = "read -r _ || exit 125; exec \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", gate, "querent", "sh", "-c", AGENT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(b"\n")?;
    child.wait_with_output()?;
    Ok(start.elapsed())
}

/// One question on each item, all at once. How many were answered, and how long all took.
async fn crowd(hub: &Handle) -> Outcome<(usize, Duration)> {
    let start = Instant::now();
    let hub = Arc::new(hub.clone());
    let mut waits = tokio::task::JoinSet::new();
    for number in 1..=CROWD {
        let id = asked(&hub, &number.to_string())?;
        let hub = Arc::clone(&hub);
        waits.spawn(async move { hub.await_answer(&id, Some(PATIENCE)).await });
    }
    let mut answered = 0;
    while let Some(done) = waits.join_next().await {
        answered += usize::from(matches!(done??, Awaited::Settled(reply) if reply.answer.is_some()));
    }
    Ok((answered, start.elapsed()))
}
