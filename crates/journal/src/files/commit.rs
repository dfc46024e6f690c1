//! Committing: one thread for all that wait, one write, one sync; and the thread that lets the ledgers follow.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use querent_core::Envelope;

use super::disk::{DiskFile, Open};
use super::flush::{Flushed, LedgersLock};
use super::gate::{Gate, Waiting};
use super::layout::Layout;
use super::lock::{Held, Lock};
use super::place::Place;
use super::scan::Entry;
use super::slate::{Due, Slate};
use super::store::Store;
use super::syncs::Syncs;
use super::view::View;
use super::watch::Watcher;
use super::{Ledgers, Options, Step, recover};
use crate::Error;

/// How many lines the ledgers may be behind before they follow although it is not quiet, and before writers wait for them.
const FAR_BEHIND: usize = 16_384;
const FARTHEST_BEHIND: usize = 32_768;
/// How long they may be behind where it is never quiet.
const LONGEST_BEHIND: Duration = Duration::from_secs(10);
/// How long it is quiet before they follow.
const QUIET: Duration = Duration::from_millis(100);

/// How long a sync of a quick disk takes. Tests run on whatever disk there is.
const QUICK: Duration = if cfg!(test) { Duration::from_hours(1) } else { Duration::from_millis(2) };

/// What the threads of a process share.
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    options: Options,
    pub(crate) gate: Mutex<Gate>,
    pub(crate) writer: Mutex<Writer>,
    /// Held from when this process has written until that is durable and shown: whoever needs it waits, and need not sync it
    /// again. Never waited for by one who holds the writer, but by the one who has just written.
    syncing: Mutex<()>,
    /// The last line that is known to be durable, and the last one that anybody in this process has read.
    synced: AtomicU64,
    seen: AtomicU64,
    /// Where readers of records stopped, so that they need not begin at the start of a segment.
    pub(crate) stops: Mutex<BTreeMap<u64, Place>>,
    /// What readers know. No other lock is taken while it is held.
    pub(crate) view: Mutex<Option<View>>,
    pub(crate) watcher: Watcher,
    /// What this process and others tell each other about their syncs, once it has written.
    syncs: OnceLock<Option<Syncs>>,
    /// Whether the last sync took long.
    is_slow: AtomicBool,
    lag: Mutex<Lag>,
    woken: Condvar,
    /// The thread that commits for those who wait on none is to lead.
    pub(crate) summoned: Condvar,
}

/// What is written and not durable yet.
struct Pending<'a> {
    /// Whether anything is.
    wrote: bool,
    due: Due,
    /// The end of the log, and its segment.
    place: Place,
    file: Arc<dyn DiskFile>,
    /// The lines that those who read have not seen, and the one before them.
    unshown: (Place, Vec<Arc<Entry>>),
    /// How many lines the ledgers do not hold.
    behind: usize,
    syncing: MutexGuard<'a, ()>,
}

/// Who writes to the log.
pub(crate) struct Writer {
    lock: Option<Lock>,
    pub(crate) store: Option<Store>,
    pub(crate) slate: Slate,
}

/// Who writes to the log, and the lock that says so to other processes: it is freed first.
pub(crate) struct Locked<'a> {
    lock: Held,
    writer: MutexGuard<'a, Writer>,
}

/// What the thread that lets the ledgers follow must know.
#[derive(Default)]
struct Lag {
    behind: bool,
    commits: u64,
    /// How many lines the ledgers did not hold after the last of them.
    lines: usize,
    closing: bool,
}

impl Writer {
    /// Takes the lock. While it waits, it takes in what the others write.
    pub(crate) fn lock(&mut self, shared: &Shared) -> Result<Held, Error> {
        loop {
            let lock = match self.lock.take() {
                Some(lock) => lock,
                None => Lock::open(shared.layout.disk(), &shared.layout.lock(), &shared.options.holder)?,
            };
            let held = lock.acquire(shared.options.patience, || {
                if let Some(store) = &mut self.store {
                    store.look_ahead();
                }
            })?;
            if lock.is_in_place() {
                self.lock = Some(lock);
                return Ok(held);
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(dir: &Path, options: Options) -> Self {
        Self {
            layout: Layout::new(dir, Arc::clone(&options.disk), options.segment_limit),
            gate: Mutex::default(),
            writer: Mutex::new(Writer { lock: None, store: None, slate: Slate::new(options.slate) }),
            options,
            syncing: Mutex::default(),
            synced: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            stops: Mutex::default(),
            view: Mutex::default(),
            watcher: Watcher::default(),
            syncs: OnceLock::new(),
            is_slow: AtomicBool::new(false),
            lag: Mutex::default(),
            woken: Condvar::new(),
            summoned: Condvar::new(),
        }
    }

    /// Whether the process stays, so that what it reads is worth keeping.
    pub(crate) fn stays(&self) -> bool {
        self.options.ledgers != Ledgers::Prompt
    }

    /// Ends the thread that lets the ledgers follow, after a last time, and the clerk.
    pub(crate) fn close(&self) {
        hold(&self.gate).closing = true;
        self.summoned.notify_all();
        hold(&self.lag).closing = true;
        self.woken.notify_all();
    }

    fn lock(&self) -> Result<Locked<'_>, Error> {
        let mut writer = hold(&self.writer);
        Ok(Locked { lock: writer.lock(self)?, writer })
    }

    /// The same, if a commit would take no longer than a disk that is quick.
    pub(crate) fn lock_at_once(&self) -> Option<Locked<'_>> {
        let writer = self.writer.try_lock().ok().filter(|writer| writer.store.is_some())?;
        let would_wait = self.is_slow.load(Ordering::Relaxed) || hold(&self.lag).lines >= FAR_BEHIND;
        let lock = writer.lock.as_ref().filter(|_| !would_wait)?.acquire_at_once()?;
        Some(Locked { lock, writer })
    }

    /// Writes all of these as one, and makes them durable with one sync, outside the lock.
    pub(crate) fn commit(&self, waiting: &mut [Waiting], locked: Option<Locked<'_>>) -> Result<Vec<Envelope>, Error> {
        let (replies, pending) = self.write(waiting, locked)?;
        let (wrote, behind) = (pending.wrote, pending.behind);
        let synced = self.sync_and_show(pending).inspect_err(|_| self.expect_nothing());
        if wrote {
            self.watcher.wake();
        }
        synced?;
        self.reach(Step::Synced)?;
        if wrote && self.options.ledgers == Ledgers::Deferred {
            self.fall_behind(behind);
        }
        Ok(replies)
    }

    /// Runs all of these and writes what they decide.
    fn write(
        &self,
        waiting: &mut [Waiting],
        locked: Option<Locked<'_>>,
    ) -> Result<(Vec<Envelope>, Pending<'_>), Error> {
        // In this order: the lock goes first.
        let Locked { mut writer, lock } = locked.map_or_else(|| self.lock(), Ok)?;
        self.reach(Step::Locked)?;
        // Whatever fails leaves no store behind: what is in memory may then not be what is on disk.
        let mut store = match writer.store.take() {
            Some(store) => store,
            None => Store::open(&self.layout, &self.options)?,
        };
        store.catch_up()?;
        store.roll()?;
        self.reach(Step::CaughtUp)?;
        let mut replies = Vec::with_capacity(waiting.len());
        for update in waiting.iter_mut().flat_map(|it| &mut it.updates) {
            replies.push(store.run(update)?);
        }
        self.reach(Step::Decided)?;
        self.expect(&store);
        let before = store.log().place;
        let due = store.write(&mut writer.slate).inspect_err(|_| self.expect_nothing())?;
        let (file, place) = (store.log().file(), store.log().place);
        let wrote = place != before;
        let unshown = store.unshown();
        if let (true, Some(syncs), Some((_, Some(target)))) = (wrote, self.syncs(), &due) {
            syncs.wrote(place.seq, *target);
        }
        // The lines are in the log. From here on nothing may fail for the callers but the sync: the rest is derived.
        if self.is_late(&store) {
            // Whoever reads a ledger has seen the lines that made it.
            self.show(&unshown, place, &file);
        }
        let settled = self.follow(&mut store);
        drop(lock);
        self.reach(Step::Unlocked).inspect_err(|_| self.expect_nothing())?;
        let behind = store.behind();
        writer.store = settled.is_ok().then_some(store);
        let syncing = hold(&self.syncing);
        Ok((replies, Pending { wrote, due, place, file, unshown, behind, syncing }))
    }

    /// Makes durable what was written, and shows it to those who read in this process. A sync of the one log covers every earlier
    /// line, whoever wrote it; what stands on the slate continues what is durable in the log.
    fn sync_and_show(&self, pending: Pending<'_>) -> Result<(), Error> {
        let Pending { due, place, file, unshown, syncing, .. } = pending;
        let start = Instant::now();
        let is_on_slate = due.as_ref().is_some_and(|(due, _)| !Arc::ptr_eq(due, &file));
        let done = match (due, self.syncs()) {
            (None, _) => Ok(()),
            (Some((due, Some(target))), Some(syncs)) => syncs.sync(place.seq, target, || due.sync_data()),
            (Some((due, _)), _) => due.sync_data(),
        };
        self.is_slow.store(start.elapsed() > QUICK, Ordering::Relaxed);
        if done.is_ok() {
            self.synced.fetch_max(place.seq, Ordering::AcqRel);
            self.show(&unshown, place, &file);
        }
        drop(syncing);
        if done.is_err() {
            let log_is_durable = is_on_slate && file.sync_data().is_ok();
            hold(&self.writer).slate.give_up(log_is_durable);
        }
        done.map_err(Error::io("sync", &self.layout.journal()))
    }

    /// What this process and others tell each other about their syncs.
    fn syncs(&self) -> Option<&Syncs> {
        self.syncs.get_or_init(|| Syncs::open(&self.layout)).as_ref()
    }

    /// This process is about to write what was decided. Those who read in it are shown the lines when they are durable; until
    /// then they need not read from the disk what is here.
    fn expect(&self, store: &Store) {
        self.watcher.expect(store.log().file(), store.end());
        hold(&self.view).iter_mut().for_each(|view| view.expect(store.log().place, store.end()));
    }

    /// It could not: whatever is in the log is read from there.
    fn expect_nothing(&self) {
        self.watcher.expect_nothing();
        hold(&self.view).iter_mut().for_each(View::expect_nothing);
    }

    /// Shows durable lines, up to `end`, to those who read in this process.
    fn show(&self, lines: &(Place, Vec<Arc<Entry>>), end: Place, file: &Arc<dyn DiskFile>) {
        let mut view = hold(&self.view);
        view.iter_mut().for_each(|view| view.add(&self.layout, lines, end, file));
        if view.as_ref().is_some_and(View::is_forgotten) {
            *view = None;
        }
    }

    /// Somebody in this process has read the log up to this line.
    pub(crate) fn saw(&self, seq: u64) {
        self.seen.fetch_max(seq, Ordering::AcqRel);
    }

    /// The log is another one: what was said of its lines says nothing of these.
    pub(crate) fn begin_anew(&self) {
        self.synced.store(0, Ordering::Release);
    }

    /// Makes durable what was read in this process, whoever wrote it. What it wrote itself is, before anybody reads it.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let seen = self.seen.load(Ordering::Acquire);
        let is_durable = || self.synced.load(Ordering::Acquire) >= seen;
        if is_durable() {
            return Ok(());
        }
        let _syncing = hold(&self.syncing);
        if is_durable() {
            return Ok(());
        }
        let path = self.layout.last_segment();
        let opened = self.layout.disk().open(&path, Open::Read);
        opened.and_then(|segment| segment.sync_data()).map_err(Error::io("sync", &path))?;
        self.synced.fetch_max(seen, Ordering::AcqRel);
        Ok(())
    }

    /// Whether what is derived must follow before the lock is free.
    fn is_late(&self, store: &Store) -> bool {
        let late = match self.options.ledgers {
            Ledgers::Prompt => 1,
            Ledgers::Deferred | Ledgers::OnDemand => FARTHEST_BEHIND,
        };
        store.behind() >= late
    }

    /// Lets what is derived follow, if it should.
    fn follow(&self, store: &mut Store) -> Result<(), Error> {
        self.reach(Step::Written)?;
        if !self.is_late(store) {
            return Ok(());
        }
        // Somebody else who is at it brings the derived files almost as far.
        let Some(lock) = LedgersLock::take(&self.layout)? else { return Ok(()) };
        let Some(plan) = store.plan()? else { return Ok(()) };
        if let Flushed::To(checkpoint) = plan.carry_out(&lock, &self.layout, &self.options)? {
            store.flushed(&checkpoint)?;
        }
        Ok(())
    }

    fn fall_behind(&self, lines: usize) {
        let mut lag = hold(&self.lag);
        lag.commits += 1;
        lag.lines = lines;
        if !lag.behind {
            lag.behind = true;
            self.woken.notify_all();
        }
    }

    /// The life of the thread that lets the ledgers follow, beside the writers.
    pub(crate) fn flush_when_quiet(&self) {
        let mut lag = hold(&self.lag);
        while !lag.closing {
            if !lag.behind {
                lag = self.woken.wait(lag).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let mut waited = Duration::ZERO;
            let mut seen = u64::MAX;
            while seen != lag.commits && waited < LONGEST_BEHIND && lag.lines < FAR_BEHIND && !lag.closing {
                seen = lag.commits;
                lag = self.woken.wait_timeout(lag, QUIET).unwrap_or_else(PoisonError::into_inner).0;
                waited += QUIET;
            }
            lag.behind = false;
            drop(lag);
            // What fails here is done by the next writer.
            let followed = self.flush(false).unwrap_or(true);
            lag = hold(&self.lag);
            if !followed {
                // Another process is at it, and will be for a while.
                lag.behind = true;
                lag = self.woken.wait_timeout(lag, QUIET).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        drop(lag);
        let _ = self.flush(true);
    }

    /// Lets the derived files follow; says whether they do. Where another process is at it, or was a moment ago, that is
    /// enough, unless this is the last time.
    pub(crate) fn flush(&self, last: bool) -> Result<bool, Error> {
        let mut writer = hold(&self.writer);
        // The lock comes before the plan: a plan that somebody else has carried out is work for nothing.
        let Some(lock) = LedgersLock::take(&self.layout)? else { return Ok(false) };
        let Some(mut store) = writer.store.take() else { return Ok(true) };
        if store.learn_of_flushes()? && !last {
            writer.store = Some(store);
            return Ok(false);
        }
        let plan = store.plan()?;
        writer.store = Some(store);
        drop(writer);
        // What was just written is durable and shown before there are ledgers of it.
        drop(hold(&self.syncing));
        let Some(plan) = plan else { return Ok(true) };
        let flushed = plan.carry_out(&lock, &self.layout, &self.options)?;
        drop(lock);
        match flushed {
            Flushed::To(checkpoint) => {
                hold(&self.view).iter_mut().for_each(|view| view.flushed(checkpoint.clone()));
                if let Some(store) = hold(&self.writer).store.as_mut() {
                    store.flushed(&checkpoint)?;
                }
            }
            Flushed::Unsound => {
                let mut writer = hold(&self.writer);
                let _lock = writer.lock(self)?;
                writer.store = None;
                recover::recover(&self.layout)?;
            }
        }
        Ok(true)
    }

    fn reach(&self, step: Step) -> Result<(), Error> {
        self.options.reach(step).map_err(Error::io("write", self.layout.dir()))
    }
}

/// A poisoned lock guards nothing that a panic could have broken: what is in memory is checked against the log.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
