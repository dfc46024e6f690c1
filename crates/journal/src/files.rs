//! The journal in files, under `.querent/`: no service, any number of processes, one ordered log.
//!
//! Append = lock, catch up, decide, write, bring the derived files up to date, unlock, one `fdatasync`, acknowledge. The sync
//! stands outside the lock: there is one log, so a later sync covers every earlier line. Updates of one process that wait
//! for the lock together are written and synced together.

mod checkpoint;
mod doctor;
mod layout;
mod ledger;
mod lock;
mod log;
mod operations;
mod place;
mod reader;
mod recover;
mod store;
mod watch;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use querent_core::{Envelope, Record};

use self::layout::Layout;
use self::lock::Lock;
use self::place::Place;
use self::reader::Reader;
use self::store::Store;
use crate::{Error, Journal, Snapshot, Update, Wake, Watch};

pub use self::doctor::{Finding, Severity};

/// How the engine works.
#[derive(Clone)]
pub struct Options {
    /// Who this process is, for those who wait for its lock.
    pub holder: String,
    /// When the ledgers follow the log.
    pub ledgers: Ledgers,
    /// How long the lock is waited for.
    pub patience: Duration,
    /// How large a segment of the log grows, in bytes.
    pub segment_limit: u64,
    /// Called at every step of a write; an error, or the end of the process, there must lose nothing. For tests.
    pub fault: Option<Fault>,
}

/// What a test does at a step.
pub type Fault = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// When the ledgers follow the log. Reads are right in either case: they add what the ledgers do not hold yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ledgers {
    /// Before the lock is free: for a process that does one thing and ends.
    Prompt,
    /// At most 1,024 lines or a moment of quiet later: for a process that stays.
    Deferred,
}

/// How far the ledgers may be behind.
const FARTHEST_BEHIND: usize = 1_024;
/// How many readers of records are remembered.
const MOST_STOPS: usize = 64;
/// How long it is quiet before they follow.
const QUIET: Duration = Duration::from_millis(20);

/// The steps of a write, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The lock is held.
    Locked,
    /// The lines of others are read.
    CaughtUp,
    /// It is decided what to write.
    Decided,
    /// Half of it is written.
    HalfWritten,
    /// All of it is written.
    Written,
    /// The index knows it.
    Indexed,
    /// A question's ledger is written.
    QuestionWritten,
    /// An item's ledger is written.
    ItemWritten,
    /// The marks are set.
    Marked,
    /// The checkpoint is stored.
    Checkpointed,
    /// The lock is free.
    Unlocked,
    /// It is durable.
    Synced,
}

impl Step {
    /// Every step.
    pub const ALL: &[Self] = &[
        Self::Locked,
        Self::CaughtUp,
        Self::Decided,
        Self::HalfWritten,
        Self::Written,
        Self::Indexed,
        Self::QuestionWritten,
        Self::ItemWritten,
        Self::Marked,
        Self::Checkpointed,
        Self::Unlocked,
        Self::Synced,
    ];
}

impl Options {
    /// The usual ones, for a process that does one thing and ends.
    pub fn new(holder: &str) -> Self {
        Self {
            holder: holder.to_owned(),
            ledgers: Ledgers::Prompt,
            patience: Duration::from_secs(5),
            segment_limit: 64 << 20,
            fault: None,
        }
    }

    fn reach(&self, step: Step) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |fault| fault(step))
    }
}

/// A journal in files.
pub struct Files {
    shared: Arc<Shared>,
    flusher: Option<JoinHandle<()>>,
}

struct Shared {
    layout: Layout,
    options: Options,
    /// Updates that wait for the writer.
    queue: Mutex<Vec<Waiting>>,
    /// Whoever holds it writes for all that wait.
    writer: Mutex<Writer>,
    /// The end of the log, as this process last saw or wrote it, and the file that it is in.
    end: Mutex<Option<(Place, Arc<File>)>>,
    /// How far the log is durable, as far as this process knows.
    synced: Mutex<Place>,
    /// Where readers of records stopped, so that they need not begin at the start of a segment.
    stops: Mutex<BTreeMap<u64, Place>>,
    quiet: Mutex<Quiet>,
    woken: Condvar,
}

struct Writer {
    lock: Option<Lock>,
    store: Option<Store>,
}

#[derive(Default)]
struct Quiet {
    behind: bool,
    commits: u64,
    closing: bool,
}

struct Waiting {
    update: Update,
    slot: Arc<Mutex<Option<Result<Done, Error>>>>,
}

/// A reply, and what must be durable before it is given.
struct Done {
    reply: Envelope,
    durable: Place,
}

impl Files {
    /// The journal of the project whose `.querent/` is `dir`. Nothing is touched before the first update.
    pub fn open(dir: &Path, options: Options) -> Self {
        let deferred = options.ledgers == Ledgers::Deferred;
        let shared = Arc::new(Shared {
            layout: Layout::new(dir),
            options,
            queue: Mutex::default(),
            writer: Mutex::new(Writer { lock: None, store: None }),
            end: Mutex::default(),
            synced: Mutex::new(Place::START),
            stops: Mutex::default(),
            quiet: Mutex::default(),
            woken: Condvar::new(),
        });
        let flusher = deferred.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.flush_when_quiet())
        });
        Self { shared, flusher }
    }

    /// Compares everything that is derived with the log. Changes nothing.
    pub fn examine(&self) -> Result<Vec<Finding>, Error> {
        let mut writer = hold(&self.shared.writer);
        // A writer between two steps would look like a fault. What cannot be locked is examined all the same.
        let _lock = match writer.lock(&self.shared) {
            Err(error @ Error::LockTimeout { .. }) => return Err(error),
            held => held.ok(),
        };
        doctor::examine(&self.shared.layout)
    }

    /// Brings what is derived in order, from the log.
    pub fn repair(&self) -> Result<(), Error> {
        let mut writer = hold(&self.shared.writer);
        let _lock = writer.lock(&self.shared)?;
        writer.store = None;
        recover::recover(&self.shared.layout).map(drop)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Some(flusher) = self.flusher.take() {
            hold(&self.shared.quiet).closing = true;
            self.shared.woken.notify_all();
            // It panics only if the process is about to end anyway.
            let _ = flusher.join();
        }
    }
}

impl Journal for Files {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        let shared = &*self.shared;
        let slot = Arc::new(Mutex::new(None));
        hold(&shared.queue).push(Waiting { update, slot: Arc::clone(&slot) });
        let mut writer = hold(&shared.writer);
        let done = hold(&slot).take();
        let done = match done {
            Some(done) => done,
            None => {
                shared.write_for_all(&mut writer);
                hold(&slot)
                    .take()
                    .unwrap_or_else(|| Err(Error::io("write", shared.layout.dir())(io::Error::other("lost"))))
            }
        };
        drop(writer);
        let Done { reply, durable } = done?;
        shared.sync_to(durable)?;
        Ok(reply)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        Ok(Box::new(Reader::open(self, &self.shared.layout)?))
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let layout = &self.shared.layout;
        let known = hold(&self.shared.stops).range(..=since).next_back().map(|(_, place)| *place);
        let from = known.filter(|place| place.is_in(layout)).unwrap_or_else(|| log::segment_of(layout, since));
        let mut last = from;
        // `each` may stop early; the scan has no other way to end before the end.
        let mut stopped = false;
        let scanned = log::scan(layout, from, |line, place, _| {
            if line.record.seq > since && !each(line.record) {
                stopped = true;
                return Err(Error::io("read", layout.dir())(io::ErrorKind::Interrupted.into()));
            }
            last = place;
            Ok(())
        });
        let mut stops = hold(&self.shared.stops);
        stops.insert(last.seq, last);
        if stops.len() > MOST_STOPS {
            stops.pop_first();
        }
        if stopped { Ok(()) } else { scanned.map(drop) }
    }

    fn sync(&self) -> Result<(), Error> {
        let layout = &self.shared.layout;
        let last = (1..).take_while(|number| layout.segment(*number).exists()).last();
        let Some(last) = last else { return Ok(()) };
        let path = layout.segment(last);
        File::open(&path).and_then(|segment| segment.sync_data()).map_err(Error::io("sync", &path))
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        fs::create_dir_all(self.shared.layout.journal()).map_err(Error::io("make", &self.shared.layout.journal()))?;
        watch::watch(&self.shared.layout, wake)
    }
}

impl Writer {
    fn lock(&mut self, shared: &Shared) -> Result<lock::Held, Error> {
        let lock = match self.lock.take() {
            Some(lock) => lock,
            None => Lock::open(&shared.layout.lock(), &shared.options.holder)?,
        };
        let held = lock.acquire(shared.options.patience);
        self.lock = Some(lock);
        held
    }
}

impl Shared {
    /// Takes all that waits and writes it as one.
    fn write_for_all(&self, writer: &mut Writer) {
        let mut waiting = std::mem::take(&mut *hold(&self.queue));
        let outcome = self.write(writer, &mut waiting);
        match outcome {
            Ok(replies) => {
                for (waiting, done) in waiting.into_iter().zip(replies) {
                    *hold(&waiting.slot) = Some(Ok(done));
                }
            }
            Err(error) => {
                // What was in memory may not be what is on disk: begin anew.
                writer.store = None;
                for waiting in waiting {
                    *hold(&waiting.slot) = Some(Err(error.again()));
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer, waiting: &mut [Waiting]) -> Result<Vec<Done>, Error> {
        let lock = writer.lock(self)?;
        self.reach(Step::Locked)?;
        let mut store = match writer.store.take() {
            Some(store) => store,
            None => Store::open(&self.layout, &self.options)?,
        };
        store.catch_up()?;
        store.roll()?;
        self.reach(Step::CaughtUp)?;
        let mut replies = Vec::with_capacity(waiting.len());
        for it in waiting {
            replies.push(store.run(&mut it.update)?);
        }
        self.reach(Step::Decided)?;
        let wrote = store.write()?;
        // The lines are in the log. From here on nothing may fail for the callers but the sync: the rest is derived.
        let settled = self.follow(&mut store);
        drop(lock);
        self.reach(Step::Unlocked)?;
        let durable = store.log().place;
        *hold(&self.end) = Some((durable, store.log().file()));
        writer.store = settled.is_ok().then_some(store);
        if wrote {
            let mut quiet = hold(&self.quiet);
            quiet.commits += 1;
            if !quiet.behind && self.options.ledgers == Ledgers::Deferred {
                quiet.behind = true;
                self.woken.notify_all();
            }
        }
        Ok(replies.into_iter().map(|reply| Done { reply, durable }).collect())
    }

    /// Lets the derived files follow, now or later.
    fn follow(&self, store: &mut Store) -> Result<(), Error> {
        let late = match self.options.ledgers {
            Ledgers::Prompt => 1,
            Ledgers::Deferred => FARTHEST_BEHIND,
        };
        store.index()?;
        if store.behind() >= late { store.flush() } else { Ok(()) }
    }

    /// Makes the log durable up to `place`, and whatever else is written by then: one sync serves all that wait for it.
    fn sync_to(&self, place: Place) -> Result<(), Error> {
        let mut synced = hold(&self.synced);
        if *synced >= place {
            return Ok(());
        }
        let Some((end, file)) = hold(&self.end).clone() else { return Ok(()) };
        file.sync_data().map_err(Error::io("sync", &self.layout.journal()))?;
        *synced = end.max(*synced);
        drop(synced);
        self.reach(Step::Synced)
    }

    fn flush_when_quiet(&self) {
        let mut quiet = hold(&self.quiet);
        loop {
            while !quiet.behind && !quiet.closing {
                quiet = self.woken.wait(quiet).unwrap_or_else(PoisonError::into_inner);
            }
            let seen = quiet.commits;
            if !quiet.closing {
                quiet = self.woken.wait_timeout(quiet, QUIET).unwrap_or_else(PoisonError::into_inner).0;
            }
            let closing = quiet.closing;
            if quiet.commits == seen || closing {
                quiet.behind = false;
                drop(quiet);
                // What fails here is done by the next writer.
                let _ = self.flush();
                quiet = hold(&self.quiet);
            }
            if closing {
                return;
            }
        }
    }

    fn flush(&self) -> Result<(), Error> {
        let mut writer = hold(&self.writer);
        let _lock = writer.lock(self)?;
        let Some(mut store) = writer.store.take() else { return Ok(()) };
        store.catch_up()?;
        store.flush()?;
        writer.store = Some(store);
        Ok(())
    }

    fn reach(&self, step: Step) -> Result<(), Error> {
        self.options.reach(step).map_err(Error::io("write", self.layout.dir()))
    }
}

/// A poisoned lock guards nothing that a panic could have broken: what is in memory is checked against the log.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
