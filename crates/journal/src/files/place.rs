//! A place in the log, and how to see whether it is still there.

use querent_core::wire;
use serde::{Deserialize, Serialize};

use super::disk::{DiskFile, Open};
use super::layout::Layout;

/// The end of a line. What is derived from the log names the line that it stands on; if that line is not there (the power
/// failed between the two), it is derived anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The segment; 1 for the first.
    pub(crate) segment: u32,
    /// The offset after the line's end.
    pub(crate) end: u64,
    /// The seq of the line; 0 before the first.
    pub(crate) seq: u64,
    /// The checksum of the line.
    pub(crate) crc: u32,
}

impl Place {
    /// Before the first line.
    pub(crate) const START: Self = Self { segment: 1, end: 0, seq: 0, crc: 0 };

    /// Whether the line that ends here is in the log.
    pub(crate) fn is_in(self, layout: &Layout) -> bool {
        if self == Self::START {
            return true;
        }
        let segment = layout.disk().open(&layout.segment(self.segment), Open::Read);
        segment.is_ok_and(|segment| self.is_in_segment(&*segment))
    }

    /// The same, with its segment at hand.
    pub(crate) fn is_in_segment(self, segment: &dyn DiskFile) -> bool {
        self.end == 0 || self.ends_at(segment, self.end)
    }

    /// Whether the line ends there in a file.
    pub(crate) fn ends_at(self, file: &dyn DiskFile, at: u64) -> bool {
        let seal = wire::seal(self.crc);
        let mut found = [0; 32];
        let (Some(found), Some(from)) = (found.get_mut(..seal.len()), at.checked_sub(seal.len() as u64)) else {
            return false;
        };
        file.read_exact_at(found, from).is_ok() && found == seal.as_bytes()
    }
}
