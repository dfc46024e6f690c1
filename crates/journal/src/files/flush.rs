//! Letting the derived files follow the log: the index, ledgers, then marks, then the checkpoint that promises them.
//!
//! This has a lock of its own, so that it can go on beside the writers of the log. Whoever wants both takes the journal's
//! first. A ledger may be written from any line on that is not before the checkpoint: readers add the rest of the log.

use std::fs::TryLockError;

use querent_core::{Item, Question, Shared, State};

use super::checkpoint::Checkpoint;
use super::disk::{DiskFile, Open};
use super::layout::Layout;
use super::operations::{Index, Start};
use super::place::Place;
use super::{Options, Step, ledger, recover};
use crate::Error;

/// What is to be written, as of one line of the log.
pub(crate) struct Plan {
    pub(crate) end: Place,
    /// The lines for the index: their seq, key and start.
    pub(crate) lines: Vec<(u64, u64, Start)>,
    /// The lines that opened an item.
    pub(crate) opened: Vec<u64>,
    pub(crate) ledgers: Vec<Planned>,
}

/// A ledger, with the last line that changed it.
pub(crate) enum Planned {
    /// An item and those of its questions that changed.
    Item { item: Box<Item>, place: Place, questions: Vec<(Question, Place)> },
    /// What all items share.
    Shared { which: Shared, state: Box<State>, place: Place },
}

impl Planned {
    fn write(&self, layout: &Layout, reach: impl Fn(Step) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Item { item, place, questions } => {
                for (question, place) in questions {
                    ledger::write_question(layout, question, *place)?;
                    reach(Step::QuestionWritten)?;
                }
                ledger::write_item(layout, item, *place)?;
            }
            Self::Shared { which, state, place } => ledger::write_shared(layout, *which, state, *place)?,
        }
        reach(Step::ItemWritten)
    }

    /// Sets its mark; says by how much the number of marks changed.
    fn mark(&self, layout: &Layout) -> Result<i64, Error> {
        match self {
            Self::Item { item, .. } => ledger::mark(layout, item),
            Self::Shared { .. } => Ok(0),
        }
    }
}

/// How a flush ended.
pub(crate) enum Flushed {
    /// The derived files hold the log up to here.
    To(Checkpoint),
    /// There is no checkpoint to go on from: everything must be put in order first.
    Unsound,
}

/// The lock of the derived files, held. Dropping it, or dying, frees it.
pub(crate) struct LedgersLock(Box<dyn DiskFile>);

impl Drop for LedgersLock {
    fn drop(&mut self) {
        // The close of the file frees it too, if this should fail.
        let _ = self.0.unlock();
    }
}

impl LedgersLock {
    /// Waits for the lock: nobody holds it for longer than it takes to write what changed.
    pub(crate) fn wait(layout: &Layout) -> Result<Self, Error> {
        let file = Self::open(layout)?;
        file.lock().map_err(Error::io("lock", &layout.ledgers_lock()))?;
        Ok(Self(file))
    }

    /// Takes the lock, unless somebody else is at it.
    pub(crate) fn take(layout: &Layout) -> Result<Option<Self>, Error> {
        let file = Self::open(layout)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &layout.ledgers_lock())(error)),
        }
    }

    fn open(layout: &Layout) -> Result<Box<dyn DiskFile>, Error> {
        let path = layout.ledgers_lock();
        layout.disk().open(&path, Open::Create).map_err(Error::io("open", &path))
    }
}

impl Plan {
    /// Writes what is planned.
    pub(crate) fn carry_out(&self, _lock: &LedgersLock, layout: &Layout, options: &Options) -> Result<Flushed, Error> {
        let Some(mut checkpoint) = Checkpoint::sound(layout) else { return Ok(Flushed::Unsound) };
        if checkpoint.place >= self.end {
            return Ok(Flushed::To(checkpoint));
        }
        let Some(mut index) = Index::open(layout)? else { return Ok(Flushed::Unsound) };
        let reach = |step| options.reach(step).map_err(Error::io("write", layout.dir()));
        let late = self.lines.iter().filter(|(seq, ..)| *seq > checkpoint.place.seq);
        index.insert(late.map(|(_, key, start)| (*key, *start)).collect())?;
        index.store_count()?;
        reach(Step::Indexed)?;
        for planned in &self.ledgers {
            planned.write(layout, reach)?;
        }
        // Marks are counted by what changes. If this is not finished, the next one counts them all.
        let unfinished = std::mem::replace(&mut checkpoint.marking, true);
        checkpoint.store(layout)?;
        for planned in &self.ledgers {
            checkpoint.open = checkpoint.open.saturating_add_signed(planned.mark(layout)?);
        }
        if unfinished {
            checkpoint.open = recover::remark(layout)?;
        }
        reach(Step::Marked)?;
        checkpoint.items += self.opened.iter().filter(|seq| **seq > checkpoint.place.seq).count() as u64;
        checkpoint.place = self.end;
        checkpoint.marking = false;
        checkpoint.store(layout)?;
        reach(Step::Checkpointed)?;
        Ok(Flushed::To(checkpoint))
    }
}
