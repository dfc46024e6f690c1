//! The journal in files, under `.querent/`: no service, any number of processes, one ordered log.
//!
//! Append = lock, catch up, decide, write, let the derived files follow (or leave that for later), unlock, one `fdatasync`,
//! acknowledge. The sync stands outside the lock: there is one log, so a later sync covers every earlier line. Updates of
//! one process that wait for the lock together are written and synced together.

mod beats;
mod checkpoint;
mod commit;
mod disk;
mod doctor;
mod flush;
mod gate;
mod layout;
mod ledger;
mod lock;
mod log;
mod operations;
mod place;
mod reader;
mod recover;
mod scan;
mod seat;
mod slate;
mod store;
mod syncs;
mod view;
mod watch;

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use querent_core::{ComponentName, Envelope, Record};

use self::commit::{Shared, hold};
use self::disk::Os;
use self::flush::LedgersLock;
use self::reader::Reader;
use self::scan::Entry;
use self::view::{Look, View};
use crate::{Attempt, Beat, Done, Error, Journal, Pulse, Snapshot, Update, Wake, Watch};

pub use self::disk::{Disk, DiskFile, Identity, Open};
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
    /// How large a segment of the log grows, in bytes. The same for all who use the journal.
    pub segment_limit: u64,
    /// When there is a slate: another place for the last lines, which is synced faster than the log.
    pub slate: SlateOptions,
    /// Where the files are: the system's disk, or one that stands in for it.
    pub disk: Arc<dyn Disk>,
    /// Called at every step of a write; an error, or the end of the process, there must lose nothing. For tests.
    pub fault: Option<Fault>,
}

/// When a slate is made, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlateOptions {
    /// By a process that has written so often before.
    pub after: u32,
    /// In bytes. The log is synced whenever it is full.
    pub length: usize,
}

/// What a test does at a step.
pub type Fault = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// When the ledgers follow the log. Reads are right in either case: they add what the ledgers do not hold yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ledgers {
    /// Before the lock is free: for a process that does one thing and ends.
    Prompt,
    /// In a moment of quiet, or when they are far behind: for a process that stays.
    Deferred,
    /// When [`Files::follow`] is called: for whoever has moments of quiet of their own.
    OnDemand,
}

/// How many readers of records are remembered.
const MOST_STOPS: usize = 64;

/// How many lines are handed on at once.
const MOST_LINES: usize = 512;

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
            slate: SlateOptions { after: 8, length: 1 << 20 },
            disk: Arc::new(Os),
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
    clerk: OnceLock<JoinHandle<()>>,
}

impl Files {
    /// The journal of the project whose `.querent/` is `dir`. Nothing is touched before the first update.
    pub fn open(dir: &Path, options: Options) -> Self {
        let deferred = options.ledgers == Ledgers::Deferred;
        let shared = Arc::new(Shared::new(dir, options));
        let flusher = deferred.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.flush_when_quiet())
        });
        Self { shared, flusher, clerk: OnceLock::new() }
    }

    /// Lets the ledgers follow the log now; says whether they do.
    pub fn follow(&self) -> Result<bool, Error> {
        self.shared.flush(true)
    }

    /// Compares everything that is derived with the log. Changes nothing.
    pub fn examine(&self) -> Result<Vec<Finding>, Error> {
        let mut writer = hold(&self.shared.writer);
        // A writer between two steps would look like a fault. What cannot be locked is examined all the same.
        let _lock = match writer.lock(&self.shared) {
            Err(error @ Error::LockTimeout { .. }) => return Err(error),
            held => held.ok(),
        };
        let _ledgers = LedgersLock::wait(&self.shared.layout).ok();
        doctor::examine(&self.shared.layout)
    }

    /// Brings what is derived in order, from the log.
    pub fn repair(&self) -> Result<(), Error> {
        let layout = &self.shared.layout;
        let mut writer = hold(&self.shared.writer);
        let _lock = writer.lock(&self.shared)?;
        let ledgers = LedgersLock::wait(layout)?;
        writer.store = None;
        recover::recover_with(layout, &ledgers)?;
        recover::rewrite_all(layout, &ledgers)
    }

    /// Looks at the view of this process, of which there is one from now on.
    fn look<T>(&self, how: Look, at: impl FnOnce(&mut View) -> T) -> Result<T, Error> {
        let Shared { layout, view: kept, .. } = &*self.shared;
        let mut view = hold(kept);
        let followed = match (how, view.as_mut()) {
            (_, None) => Ok(false),
            (Look::AsItIs, Some(_)) => Ok(true),
            (Look::Lately, Some(known)) if known.is_recent() => known.take_in(layout).map(|()| true),
            (Look::Lately | Look::Anew, Some(known)) => known.follow(layout),
        };
        if let (Ok(true), Some(known)) = (&followed, view.as_mut()) {
            self.shared.saw(known.place.seq);
            return Ok(at(known));
        }
        if view.take().is_some() {
            self.shared.begin_anew();
        }
        drop(view);
        followed?;
        // It may have to repair, for which it takes other locks.
        let opened = View::open(self, layout, self.shared.stays())?;
        self.shared.saw(opened.place.seq);
        let mut view = hold(kept);
        match view.as_mut().filter(|other| other.place >= opened.place) {
            Some(other) => Ok(at(other)),
            None => Ok(at(view.insert(opened))),
        }
    }

    /// The lines after `since`, if they are at hand: at most so many, up to the line `last`.
    fn lines_at_hand(&self, since: u64, last: u64) -> Option<Vec<Arc<Entry>>> {
        let view = hold(&self.shared.view);
        let lines = view.as_ref()?.lines_since(since)?.take_while(|entry| entry.head.seq <= last);
        Some(lines.take(MOST_LINES).map(Arc::clone).collect())
    }

    /// Brings in order what a reader misses, unless it is there once nobody writes: a writer may be between two steps.
    fn repair_unless(&self, well: impl Fn() -> Result<bool, Error>) -> Result<(), Error> {
        let layout = &self.shared.layout;
        let mut writer = hold(&self.shared.writer);
        let _lock = writer.lock(&self.shared)?;
        let ledgers = LedgersLock::wait(layout)?;
        if well()? {
            return Ok(());
        }
        writer.store = None;
        recover::recover_with(layout, &ledgers).map(drop)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.shared.close();
        // They panic only if the process is about to end anyway.
        self.clerk.take().into_iter().chain(self.flusher.take()).for_each(|thread| drop(thread.join()));
    }
}

impl Journal for Files {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        self.shared.update(update)
    }

    fn submit(&self, updates: Vec<Update>, done: Done) {
        self.clerk.get_or_init(|| {
            let shared = Arc::clone(&self.shared);
            std::thread::spawn(move || shared.serve_callers())
        });
        self.shared.submit(updates, done);
    }

    fn attempt(&self, updates: Vec<Update>) -> Attempt {
        self.shared.attempt(updates)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        Ok(Box::new(Reader::open(self, Look::Anew)?))
    }

    fn read_lately(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        Ok(Box::new(Reader::open(self, Look::Lately)?))
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        let layout = &self.shared.layout;
        // What the view does not show is not durable yet. Whoever makes the view puts the log in order first, if the power was cut.
        let (mut since, last) = (since, self.look(Look::Anew, |view| view.place.seq)?);
        while let Some(lines) = self.lines_at_hand(since, last) {
            for entry in &lines {
                if !each(Arc::clone(entry.shared_record(layout)?)) {
                    return Ok(());
                }
                since = entry.head.seq;
            }
            if since >= last {
                return Ok(());
            }
        }
        let known = hold(&self.shared.stops).range(..=since).next_back().map(|(_, place)| *place);
        let from = known.filter(|place| place.is_in(layout)).unwrap_or_else(|| scan::segment_of(layout, since));
        let mut reached = from;
        // `each` may stop early; the scan has no other way to end before the end.
        let mut stopped = false;
        let scanned = scan::scan(layout, from, |entry| {
            let place = entry.place;
            let is_over = place.seq > last || (place.seq > since && !each(Arc::clone(entry.shared_record(layout)?)));
            if is_over {
                stopped = true;
                return Err(Error::io("read", layout.dir())(io::ErrorKind::Interrupted.into()));
            }
            reached = place;
            Ok(())
        });
        let mut stops = hold(&self.shared.stops);
        stops.insert(reached.seq, reached);
        if stops.len() > MOST_STOPS {
            stops.pop_first();
        }
        if stopped { Ok(()) } else { scanned.map(drop) }
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        beats::write(&self.shared.layout, beat)
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        beats::read(&self.shared.layout, pulse)
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        beats::remove(&self.shared.layout, pulse, name)
    }

    fn sync(&self) -> Result<(), Error> {
        self.shared.sync()
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        self.shared.watcher.watch(&self.shared.layout, wake)
    }
}
