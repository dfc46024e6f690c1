//! Making the log durable: one sync for all processes that wait for one.
//!
//! Whoever wants a line to be durable waits for the turn to sync. By then somebody else's sync may have covered it: how far the
//! log is durable stands in a file that all share. What stands there was true when it was written, and the file is believed
//! only for the segment and the boot that it names; without it everybody syncs on their own.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::checkpoint::boot;
use super::layout::Layout;
use super::lock::Lock;
use super::place::Place;
use crate::Error;

/// The turn to sync.
pub(crate) struct Turns {
    lock: Option<Lock>,
    boot: u32,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self { lock: None, boot: crc32fast::hash(boot().as_bytes()) }
    }

    /// Makes the log durable up to `end`, which is in `segment`.
    pub(crate) fn sync(
        &mut self,
        layout: &Layout,
        end: Place,
        segment: &File,
        patience: Duration,
    ) -> Result<(), Error> {
        let failed = Error::io("sync", layout.dir());
        if self.lock.as_ref().is_none_or(|lock| !lock.is_in_place()) {
            self.lock = Lock::on(&layout.synced()).ok();
        }
        let turn = self.lock.as_ref().and_then(|lock| Some((lock, lock.acquire(patience).ok()?)));
        let Some((lock, _turn)) = turn else { return segment.sync_data().map_err(failed) };
        if self.read(lock.file()).is_some_and(|(number, offset)| (number, offset) >= (end.segment, end.end)) {
            return Ok(());
        }
        let length = segment.metadata().map_err(&failed)?.len();
        segment.sync_data().map_err(&failed)?;
        // If this is not written, the next one syncs once more.
        let _ = lock.file().write_all_at(&self.written(end.segment, length), 0);
        Ok(())
    }

    fn written(&self, segment: u32, offset: u64) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&segment.to_le_bytes());
        bytes[4..12].copy_from_slice(&offset.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.boot.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..16]);
        bytes[16..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn read(&self, file: &File) -> Option<(u32, u64)> {
        let mut bytes = [0; 20];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let segment = u32::from_le_bytes(bytes[..4].try_into().ok()?);
        let offset = u64::from_le_bytes(bytes[4..12].try_into().ok()?);
        (bytes == self.written(segment, offset)).then_some((segment, offset))
    }
}

/// Forgets how far the log was durable: something was cut off its end, and what comes there now is new. Whoever is at a sync
/// goes on with the file that is gone, and tells nobody.
pub(crate) fn forget(layout: &Layout) -> Result<(), Error> {
    let path = layout.synced();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
        _ => Ok(()),
    }
}
