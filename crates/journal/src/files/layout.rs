//! Where things are under `.querent/`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use querent_core::{ItemId, QuestionId, Shared};

use super::disk::Disk;
use super::place::Place;
use crate::Pulse;

/// The paths of one project, and the disk that they are on.
#[derive(Clone)]
pub(crate) struct Layout {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    /// How large a segment of the log grows, in bytes.
    segment_limit: u64,
}

impl Layout {
    pub(crate) fn new(dir: &Path, disk: Arc<dyn Disk>, segment_limit: u64) -> Self {
        Self { dir: dir.to_owned(), disk, segment_limit }
    }

    /// On the system's own disk.
    #[cfg(test)]
    pub(crate) fn of(dir: &Path) -> Self {
        let options = super::Options::new("test");
        Self::new(dir, options.disk, options.segment_limit)
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Whether something of this project has this name.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.disk.exists(path)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.dir.join("journal.lock")
    }

    pub(crate) fn ledgers_lock(&self) -> PathBuf {
        self.dir.join("ledgers.lock")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.dir.join("journal")
    }

    pub(crate) fn segment(&self, number: u32) -> PathBuf {
        self.journal().join(format!("{number:08}.jsonl"))
    }

    /// The segment that lines are added to; the first where there is none yet.
    pub(crate) fn last_segment(&self) -> PathBuf {
        let mut last = 1;
        while self.has(&self.segment(last + 1)) {
            last += 1;
        }
        self.segment(last)
    }

    /// Whether a segment that ends here is full.
    pub(crate) fn is_full(&self, end: Place) -> bool {
        end.end >= self.segment_limit
    }

    /// Whether a segment that ends here is followed by another. Only a full one is, so that most of the time nobody has to look.
    pub(crate) fn is_followed(&self, end: Place) -> bool {
        self.is_full(end) && self.has(&self.segment(end.segment + 1))
    }

    /// Where the last lines stand once more. In a directory of its own: that of the log is watched.
    pub(crate) fn slate(&self) -> PathBuf {
        self.journal().join("slate").join("lines")
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.journal().join("checkpoint")
    }

    pub(crate) fn items(&self) -> PathBuf {
        self.dir.join("items")
    }

    pub(crate) fn item_dir(&self, id: &ItemId) -> PathBuf {
        self.items().join(id.as_str())
    }

    pub(crate) fn item(&self, id: &ItemId) -> PathBuf {
        self.item_dir(id).join("item.json")
    }

    pub(crate) fn question(&self, id: &QuestionId) -> PathBuf {
        self.item_dir(&id.item).join(format!("{id}.json"))
    }

    /// What all items share.
    pub(crate) fn shared(&self, which: Shared) -> PathBuf {
        self.dir.join("shared").join(format!("{}.json", which.as_str()))
    }

    /// Where the next ledger is written before it is put in its place.
    pub(crate) fn spare(&self) -> PathBuf {
        self.items().join(".spare")
    }

    pub(crate) fn open(&self) -> PathBuf {
        self.dir.join("open")
    }

    pub(crate) fn marker(&self, id: &ItemId) -> PathBuf {
        self.open().join(id.as_str())
    }

    /// The empty file whose names the markers are.
    pub(crate) fn mark(&self) -> PathBuf {
        self.open().join(".mark")
    }

    /// Signs of life.
    pub(crate) fn beats(&self, pulse: Pulse) -> PathBuf {
        self.dir.join("run").join(pulse.dir())
    }

    /// What processes tell each other about their syncs.
    pub(crate) fn syncs(&self) -> PathBuf {
        self.dir.join("run").join("syncs")
    }

    pub(crate) fn operations(&self) -> PathBuf {
        self.dir.join("operations")
    }

    pub(crate) fn operations_index(&self) -> PathBuf {
        self.operations().join("index")
    }
}
