//! Thousands who listen and wait at one server: what it needs, and that each gets what is its own.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use querent_core::QuestionId;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::{Client, Event, data};
use super::serve;
use crate::Outcome;
use crate::rows::Row;
use crate::seed::with_open_questions;

/// How many follow the events, and how many wait for an answer, on how many items.
const STREAMS: u64 = 2_000;
const WAITING: u64 = 5_000;
const ITEMS: u64 = 100;
/// Handles for everything else.
const SPARE: u64 = 500;

/// What one who follows has seen: the first and the last event, and what all of them were.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    first: u64,
    last: u64,
    sum: u64,
}

pub(super) async fn row(dir: &Path, answers: usize) -> Outcome<Row> {
    let (scale, said) = scale()?;
    let (streams, each) = (STREAMS * scale / 100, WAITING * scale / 100 / ITEMS);
    let ids = with_open_questions(dir, usize::try_from(ITEMS)?, usize::try_from(each)?)?;
    let server = serve(dir)?;
    let port = server.port();
    let mut followers = JoinSet::new();
    for _ in 0..streams {
        let mut client = Client::connect(port).await?;
        client.events().await?;
        followers.spawn(follow(client, answers));
    }
    // One of each item in turn, so that answers wake those who wait for others.
    let step = usize::try_from(each)?;
    let chosen: Vec<&QuestionId> = (0..ids.len()).map(|it| &ids[it % 100 * step + it / 100]).take(answers).collect();
    let mut waiters = JoinSet::new();
    for id in &ids {
        let mut client = Client::connect(port).await?;
        client.ask_for(&format!("/api/v1/questions/{id}/await?timeout=300s"), "").await?;
        let is_chosen = chosen.contains(&id);
        let id = id.to_string();
        waiters.spawn(async move { if is_chosen { waited(client, &id).await } else { stays(client).await } });
    }
    let mut client = Client::connect(port).await?;
    all_wait(&mut client, ids.len()).await?;
    let (before, now) = (server.memory("VmRSS")?, std::time::Instant::now());
    for id in &chosen {
        let body = json!({ "answer": answer(&id.to_string()), "by": "architect" }).to_string();
        client.post(&format!("/api/v1/questions/{id}/answer"), &body).await?;
    }
    let seen = all_see(followers).await?;
    let mut own = 0;
    while own < chosen.len() {
        waiters.join_next().await.ok_or("a call that waits is lost")???;
        own += 1;
    }
    let took = now.elapsed().as_secs_f64();
    let (most, megabytes) = (server.memory("VmHWM")?, |bytes: u64| {
        #[expect(clippy::cast_precision_loss, reason = "memory here is far below 2^52")]
        let bytes = bytes as f64;
        bytes / 1e6
    });
    let measured = format!(
        "{:.0} MB at rest; {answers} answers, {} events for each of {streams}, {own} of {} calls answered, {took:.1} s{said}",
        megabytes(before),
        seen.last - seen.first + 1,
        ids.len(),
    );
    Ok(Row::at_most("2,000 streams + 5,000 waiting calls at one server, MB", megabytes(most), 300.0, measured))
}

/// How much of the crowd, in percent, the machine has handles for; this process and the server need one each.
fn scale() -> Outcome<(u64, String)> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    let scale = (hard.saturating_sub(SPARE) * 100 / (STREAMS + WAITING)).min(100);
    match scale {
        100 => Ok((100, String::new())),
        0..2 => Err(format!("{hard} file handles are too few for this row").into()),
        less => Ok((less, format!("; only {less} % of the crowd: this machine allows {hard} file handles"))),
    }
}

/// Until the server is at work on so many calls, and on the one that asks.
async fn all_wait(client: &mut Client, count: usize) -> Outcome<()> {
    loop {
        let text = String::from_utf8(client.get("/metrics").await?)?;
        let open = text.lines().find_map(|line| line.strip_prefix("querent_http_requests_open "));
        if open.ok_or("no querent_http_requests_open")?.parse::<usize>()? > count {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Follows until so many answers were given; every event comes, in its order.
async fn follow(mut client: Client, answers: usize) -> Outcome<Seen> {
    let mut sum = DefaultHasher::new();
    let (mut seen, mut answered): (Option<Seen>, usize) = (None, 0);
    loop {
        let Event { id, kind, data } = client.event().await?;
        if let Some(Seen { last, .. }) = seen.filter(|seen| seen.last + 1 != id) {
            return Err(format!("event {id} came after {last}").into());
        }
        data.hash(&mut sum);
        let first = seen.map_or(id, |seen| seen.first);
        answered += usize::from(kind == "question_answered");
        let now = Seen { first, last: id, sum: sum.finish() };
        if answered == answers {
            return Ok(now);
        }
        seen = Some(now);
    }
}

/// All have seen the same.
async fn all_see(mut followers: JoinSet<Outcome<Seen>>) -> Outcome<Seen> {
    let mut all: Option<Seen> = None;
    while let Some(seen) = followers.join_next().await {
        let seen = seen??;
        if let Some(other) = all.filter(|other| *other != seen) {
            return Err(format!("one stream had {seen:?}, another {other:?}").into());
        }
        all = Some(seen);
    }
    all.ok_or_else(|| "nobody followed".into())
}

/// Whoever waits gets the answer to its own question.
async fn waited(mut client: Client, id: &str) -> Outcome<()> {
    let said = data(&client.reply().await?)?;
    if said["question_id"] == id && said["answer"]["value"] == answer(id) {
        Ok(())
    } else {
        Err(format!("{id} got another answer: {said}").into())
    }
}

/// Whoever was not answered hears nothing.
async fn stays(mut client: Client) -> Outcome<()> {
    let said = String::from_utf8(client.reply().await?)?;
    Err(format!("a call that was not answered has returned: {said}").into())
}

fn answer(id: &str) -> Value {
    json!(format!("the answer to {id}"))
}
