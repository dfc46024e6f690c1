//! Who does the cycle, and what is seen of it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use querent_core::Event;
use querent_hub::{Handle, Project};

use crate::Outcome;

/// What a report says of whoever does the cycle.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// What rows call it.
    pub(crate) key: &'static str,
    /// What a report calls it.
    pub(crate) name: String,
    pub(crate) version: String,
    /// Whether an acknowledged answer survives a crash.
    pub(crate) durable: bool,
    /// How it does the work, and with which settings.
    pub(crate) setting: String,
}

/// What so many cycles took.
#[derive(Debug)]
pub(crate) struct Sample {
    /// How many were done.
    pub(crate) cycles: usize,
    pub(crate) seconds: f64,
    /// What each took, in microseconds.
    pub(crate) latencies: Vec<u64>,
}

impl Sample {
    /// Cycles a second.
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
        let cycles = self.cycles as f64;
        cycles / self.seconds
    }
}

/// Whoever does the cycle.
pub(crate) trait Subject {
    fn about(&self) -> About;

    /// Does so many cycles in all, shared by so many clients.
    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample>;

    /// Where the project is, if it is one of ours.
    fn project(&self) -> Option<&Path> {
        None
    }

    /// Ends it, by a kill if it is ours, and counts the answers that are found again; none if it keeps nothing.
    fn end(self: Box<Self>) -> Outcome<Option<usize>>;
}

/// Waits until nothing is left to do of what a subject did, so that the next one does not pay for it: until the ledgers hold the log,
/// if it is one of ours, and until the system has written to the disk what it keeps in memory.
pub(crate) fn rest(subject: &dyn Subject) -> Outcome<()> {
    subject.project().into_iter().for_each(rest_of);
    if Command::new("sync").status()?.success() { Ok(()) } else { Err("the disk could not be synced".into()) }
}

/// Waits until the ledgers of a project hold its log; not for ever.
fn rest_of(project: &Path) {
    let journal = project.join(".querent/journal");
    for _ in 0..1_000 {
        let held = fs::read_to_string(journal.join("checkpoint")).ok().and_then(|text| seq_of(&text));
        let last = last_line(&journal).and_then(|line| seq_of(&line));
        if held.is_some() && held == last {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The last line of the log.
fn last_line(journal: &Path) -> Option<String> {
    let segments = fs::read_dir(journal).ok()?.filter_map(|it| Some(it.ok()?.path()));
    let last = segments.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).max()?;
    let mut file = File::open(last).ok()?;
    let end = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(end.saturating_sub(64 << 10))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    String::from_utf8_lossy(&bytes).lines().last().map(str::to_owned)
}

/// The first seq in a text.
fn seq_of(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("\"seq\":")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// How many answers are in the journal of a project.
pub(crate) fn answers_in(dir: &Path) -> Outcome<usize> {
    let hub = Handle::open(&Project::find(dir)?, "bench")?;
    let mut count = 0;
    hub.records(0, &mut |record| {
        count += usize::from(matches!(record.event, Event::QuestionAnswered(_)));
        true
    })?;
    Ok(count)
}

/// Cycles that some clients share, each a task of this thread. A client does one whenever it is called.
pub(crate) async fn share_here<C>(clients: Vec<C>, cycles: usize) -> Outcome<Sample>
where
    C: AsyncFnMut() -> Outcome<()>,
{
    let (begun, start) = (AtomicUsize::new(0), Instant::now());
    let work = |mut client: C| {
        let begun = &begun;
        async move {
            let mut latencies = Vec::new();
            while begun.fetch_add(1, Ordering::Relaxed) < cycles {
                let start = Instant::now();
                client().await?;
                latencies.push(u64::try_from(start.elapsed().as_micros())?);
            }
            Outcome::Ok(latencies)
        }
    };
    let mut latencies = Vec::with_capacity(cycles);
    let mut work: FuturesUnordered<_> = clients.into_iter().map(work).collect();
    while let Some(done) = work.next().await {
        latencies.extend(done?);
    }
    Ok(Sample { cycles: latencies.len(), seconds: start.elapsed().as_secs_f64(), latencies })
}

/// Cycles that some clients share, each in a thread of its own. A client does one whenever it is called.
pub(crate) fn share<C: FnMut() -> Outcome<()> + Send>(clients: Vec<C>, cycles: usize) -> Outcome<Sample> {
    let (begun, start) = (AtomicUsize::new(0), Instant::now());
    let latencies: Vec<Vec<u64>> = thread::scope(|scope| {
        let work = |mut client: C| {
            let begun = &begun;
            scope.spawn(move || -> Outcome<Vec<u64>> {
                let mut latencies = Vec::new();
                while begun.fetch_add(1, Ordering::Relaxed) < cycles {
                    let start = Instant::now();
                    client()?;
                    latencies.push(u64::try_from(start.elapsed().as_micros())?);
                }
                Ok(latencies)
            })
        };
        let threads: Vec<_> = clients.into_iter().map(work).collect();
        threads.into_iter().map(|it| it.join().map_err(|_| "a client panicked")?).collect::<Outcome<_>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let latencies: Vec<u64> = latencies.into_iter().flatten().collect();
    Ok(Sample { cycles: latencies.len(), seconds, latencies })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::project;

    #[test]
    fn a_project_is_at_rest_when_its_ledgers_hold_its_log() {
        let dir = tempfile::tempdir().unwrap();
        project(dir.path(), 1).unwrap();
        let journal = dir.path().join(".querent/journal");

        rest_of(dir.path());

        let checkpoint = fs::read_to_string(journal.join("checkpoint")).unwrap();
        // The one item that was opened.
        assert_eq!((seq_of(&checkpoint), seq_of(&last_line(&journal).unwrap())), (Some(1), Some(1)));
    }
}
