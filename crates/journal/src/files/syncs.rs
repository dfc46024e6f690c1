//! Syncs that processes share. A sync of the log covers every line that was written before it, whoever wrote it; so of the
//! processes that wait for one, one syncs for all. A small file says up to which line the log was written, and up to which it was
//! synced; whoever syncs holds its lock. It is a help and no more: who cannot use it, waits for too long, or has the log to itself for a
//! while, syncs by itself.

use std::fs::TryLockError;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::disk::{DiskFile, Identity, Open};
use super::layout::Layout;

/// How long somebody else's sync is waited for. Whoever holds the lock may have been stopped.
const PATIENCE: Duration = Duration::from_millis(2);

/// Where it stands up to which line the log was written, and up to which it was synced.
const WRITTEN: u64 = 0;
const SYNCED: u64 = 64;

/// The seq of a line, and a checksum: of it, of its segment, and of the boot in which that was so.
const LENGTH: usize = 12;

/// What is synced: a segment of the log, or what a slate is about. What is written elsewhere, a sync of it does not cover.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) file: Identity,
    /// The number of the segment, or the line before the slate's first.
    pub(crate) part: u64,
}

/// What processes tell each other.
pub(crate) struct Syncs {
    file: Box<dyn DiskFile>,
    boot: String,
}

impl Syncs {
    /// Opens the file, or makes it; none where that cannot be done, or where the system does not tell one boot from another: what was
    /// written before a power cut may not be there after it.
    pub(crate) fn open(layout: &Layout) -> Option<Self> {
        let (disk, path) = (layout.disk(), layout.syncs());
        let open = || disk.open(&path, Open::Create).ok();
        let file = open().or_else(|| {
            disk.create_dir_all(path.parent()?).ok()?;
            open()
        });
        let boot = Some(disk.boot()).filter(|boot| !boot.is_empty());
        Some(Self { file: file?, boot: boot? })
    }

    /// Nothing that was said holds any more: the log may be another one.
    pub(crate) fn reset(layout: &Layout) {
        let file = layout.disk().open(&layout.syncs(), Open::Write);
        // Where there is none, nobody said anything; what cannot be written cannot be relied on either.
        let _ = file.and_then(|file| file.set_len(0));
    }

    /// The log is written up to this line. Under its lock.
    pub(crate) fn wrote(&self, seq: u64, target: Target) {
        self.say(WRITTEN, seq, target);
    }

    /// Makes the log durable up to a line, by `sync` or by that of somebody else.
    pub(crate) fn sync(&self, seq: u64, target: Target, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let is_synced = || self.said(SYNCED, target).is_some_and(|synced| synced >= seq);
        let mut since = None;
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if since.get_or_insert_with(Instant::now).elapsed() < PATIENCE => {
                    thread::yield_now();
                }
                Err(_) if is_synced() => return Ok(()),
                Err(_) => return sync(),
            }
            if is_synced() {
                return Ok(());
            }
        }
        let _held = Held(&*self.file);
        if since.is_some() && is_synced() {
            return Ok(());
        }
        let written = self.said(WRITTEN, target).unwrap_or(0).max(seq);
        sync()?;
        self.say(SYNCED, written, target);
        Ok(())
    }

    /// What is said is lost without harm: then somebody syncs once more.
    fn say(&self, at: u64, seq: u64, target: Target) {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&seq.to_le_bytes());
        bytes[8..].copy_from_slice(&self.checksum(seq, target).to_le_bytes());
        let _ = self.file.write_all_at(&bytes, at);
    }

    /// What was said of this target, in this boot.
    fn said(&self, at: u64, target: Target) -> Option<u64> {
        let mut bytes = [0; LENGTH];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        let (seq, sum) = bytes.split_at(8);
        let seq = u64::from_le_bytes(seq.try_into().ok()?);
        (sum == self.checksum(seq, target).to_le_bytes()).then_some(seq)
    }

    fn checksum(&self, seq: u64, Target { file: (device, inode), part }: Target) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        sum.update(self.boot.as_bytes());
        for number in [part, device, inode, seq] {
            sum.update(&number.to_le_bytes());
        }
        sum.finalize()
    }
}

/// The lock, held.
struct Held<'a>(&'a dyn DiskFile);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // It fails only where no lock is held.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SEGMENT: Target = Target { file: (1, 2), part: 1 };

    /// Whether making this line durable took a sync.
    fn takes_a_sync(syncs: &Syncs, seq: u64, target: Target) -> bool {
        let synced = Cell::new(false);
        syncs
            .sync(seq, target, || {
                synced.set(true);
                Ok(())
            })
            .unwrap();
        synced.get()
    }

    #[test]
    fn what_somebody_elses_sync_covers_is_not_synced_again() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        let (one, other) = (Syncs::open(&layout).unwrap(), Syncs::open(&layout).unwrap());
        one.wrote(1, SEGMENT);
        other.wrote(2, SEGMENT);
        other.file.lock().unwrap();
        other.say(SYNCED, 2, SEGMENT);

        assert!(!takes_a_sync(&one, 1, SEGMENT));
        one.wrote(3, SEGMENT);
        assert!(takes_a_sync(&one, 3, SEGMENT), "it came after that sync");
    }

    #[test]
    fn a_sync_covers_what_was_written_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let syncs = Syncs::open(&Layout::of(dir.path())).unwrap();
        syncs.wrote(7, SEGMENT);

        assert!(takes_a_sync(&syncs, 5, SEGMENT));

        assert_eq!(syncs.said(SYNCED, SEGMENT), Some(7));
    }

    #[test]
    fn whoever_holds_the_lock_and_does_nothing_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        let (stopped, other) = (Syncs::open(&layout).unwrap(), Syncs::open(&layout).unwrap());
        stopped.file.lock().unwrap();

        assert!(takes_a_sync(&other, 1, SEGMENT));
    }

    #[test]
    fn what_was_said_of_another_log_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        let syncs = Syncs::open(&layout).unwrap();
        syncs.say(SYNCED, 9, SEGMENT);

        assert_eq!(syncs.said(SYNCED, Target { file: (1, 3), ..SEGMENT }), None, "another file");
        assert_eq!(syncs.said(SYNCED, Target { part: 2, ..SEGMENT }), None, "another segment");
        Syncs::reset(&layout);
        assert_eq!(syncs.said(SYNCED, SEGMENT), None, "a log that was put in order");
    }
}
