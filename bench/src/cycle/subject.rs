//! Who does the cycle, and what is seen of it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

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

    /// Ends it, by a kill if it is ours, and counts the answers that are found again; none if it keeps nothing.
    fn end(self: Box<Self>) -> Outcome<Option<usize>>;
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
