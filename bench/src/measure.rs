//! The raw rates that ours are held against, and how rounds become one number.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use crate::Outcome;

/// A line of the log, as far as a disk is concerned.
const LINE: [u8; 300] = [b'x'; 300];

/// The middle of the rounds.
pub(crate) fn median(mut rounds: Vec<f64>) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The value that so many percent of these do not exceed.
pub(crate) fn part(values: &[u64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    #[expect(clippy::cast_precision_loss, reason = "times here are far below 2^52")]
    let value = sorted.get(at).copied().unwrap_or_default() as f64;
    value
}

/// What `count` things a second are, if they took since `start`.
pub(crate) fn rate(count: usize, start: Instant) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
    let count = count as f64;
    count / start.elapsed().as_secs_f64()
}

/// This machine's raw rate of one writer that appends 300 bytes and syncs.
pub(crate) fn raw_append(dir: &Path, count: usize) -> Outcome<f64> {
    let mut file = OpenOptions::new().append(true).create(true).open(dir.join("raw"))?;
    let start = Instant::now();
    for _ in 0..count {
        file.write_all(&LINE)?;
        file.sync_data()?;
    }
    Ok(rate(count, start))
}

/// This machine's raw rate of a group commit: `writers` threads append 300 bytes each and share syncs.
pub(crate) fn raw_group(dir: &Path, writers: usize, each: usize) -> Outcome<f64> {
    let group = Arc::new(Group {
        file: OpenOptions::new().append(true).create(true).open(dir.join("raw-group"))?,
        state: Mutex::default(),
        synced: Condvar::new(),
    });
    let barrier = Arc::new(Barrier::new(writers + 1));
    let threads: Vec<_> = (0..writers)
        .map(|_| {
            let (group, barrier) = (Arc::clone(&group), Arc::clone(&barrier));
            thread::spawn(move || -> std::io::Result<()> {
                barrier.wait();
                (0..each).try_for_each(|_| group.append())
            })
        })
        .collect();
    barrier.wait();
    let start = Instant::now();
    for thread in threads {
        thread.join().map_err(|_| "a writer panicked")??;
    }
    Ok(rate(writers * each, start))
}

struct Group {
    file: File,
    state: Mutex<GroupState>,
    synced: Condvar,
}

#[derive(Default)]
struct GroupState {
    buffer: Vec<u8>,
    /// The number of the group that is being filled, and of the last that is durable.
    filling: u64,
    durable: u64,
    syncing: bool,
}

impl Group {
    /// The first that finds nobody syncing syncs for all that wait.
    fn append(&self) -> std::io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.buffer.extend_from_slice(&LINE);
        let mine = state.filling + 1;
        loop {
            if state.durable >= mine {
                return Ok(());
            }
            if state.syncing {
                state = self.synced.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                continue;
            }
            let lines = std::mem::take(&mut state.buffer);
            state.filling += 1;
            state.syncing = true;
            drop(state);
            (&self.file).write_all(&lines)?;
            self.file.sync_data()?;
            state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            state.durable += 1;
            state.syncing = false;
            self.synced.notify_all();
        }
    }
}
