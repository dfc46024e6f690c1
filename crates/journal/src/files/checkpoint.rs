//! Up to where everything that is derived is on disk.

use querent_core::wire;
use serde::{Deserialize, Serialize};

use super::disk::Open;
use super::layout::Layout;
use super::place::Place;
use crate::Error;

/// A promise about the ledgers, markers and operations: they hold all lines up to a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// The last line that they hold.
    pub(crate) place: Place,
    /// How many items there are, so that a missing one is noticed.
    pub(crate) items: u64,
    /// How many of them are marked as open, so that a missing marker is noticed.
    pub(crate) open: u64,
    /// Whether marks are being set: if so for long, whoever set them is gone and they must be counted anew.
    #[serde(default)]
    pub(crate) marking: bool,
    /// The boot of the machine in which it was written: a power cut may have taken derived data that this promises.
    pub(crate) boot: String,
}

/// The file has one length, so one small write in place replaces it; its checksum tells a reader of a torn one.
const LENGTH: usize = 512;

impl Checkpoint {
    /// Of an empty journal.
    pub(crate) fn empty(layout: &Layout) -> Self {
        Self { place: Place::START, items: 0, open: 0, marking: false, boot: layout.disk().boot() }
    }

    /// The stored one, if it can be read. A writer may be at work on it, so a torn one is read again.
    pub(crate) fn load(layout: &Layout) -> Option<Self> {
        let file = layout.disk().open(&layout.checkpoint(), Open::Read).ok()?;
        (0..16).find_map(|_| {
            let mut bytes = [0; LENGTH];
            file.read_exact_at(&mut bytes, 0).ok()?;
            let (body, sum) = wire::unseal(bytes.trim_ascii_end())?;
            if crc32fast::hash(body) != sum {
                return None;
            }
            serde_json::from_slice(bytes.trim_ascii_end()).ok()
        })
    }

    /// The stored one, if what it promises can be relied on.
    pub(crate) fn sound(layout: &Layout) -> Option<Self> {
        Self::load(layout).filter(|it| it.is_of_this_boot(layout) && it.place.is_in(layout))
    }

    pub(crate) fn store(&self, layout: &Layout) -> Result<(), Error> {
        let path = layout.checkpoint();
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.pop();
        let sealed = format!("{text}{}", wire::seal(crc32fast::hash(text.as_bytes())).trim_end());
        let file = layout.disk().open(&path, Open::Create).map_err(Error::io("write", &path))?;
        file.write_all_at(format!("{sealed:<width$}\n", width = LENGTH - 1).as_bytes(), 0)
            .map_err(Error::io("write", &path))
    }

    /// Whether nothing can have been lost since it was written.
    pub(crate) fn is_of_this_boot(&self, layout: &Layout) -> bool {
        self.boot == layout.disk().boot()
    }
}
