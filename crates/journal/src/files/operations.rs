//! The index of operations and streams: where in the log a line stands. A look-up does not grow with history.
//!
//! A hash table in a file: 16 bytes a slot, a hash and a start of line, filled at most by half and doubled when it is. It is
//! derived from the log; a hit is believed only after a look at the line itself.

use std::hash::Hasher;
use std::io;
use std::path::Path;

use querent_core::{OperationId, Stream};
use siphasher::sip::SipHasher13;

use super::disk::{DiskFile, Open};
use super::layout::Layout;
use crate::Error;

const SLOT: usize = 16;
/// How many slots there are and how many are filled, in the place of a slot.
const HEADER: u64 = SLOT as u64;
const SMALLEST: u64 = 1 << 10;
/// Slots that one read brings.
const CHUNK: usize = 16;
/// Slots that are read and written together when many are filled.
const PAGE: u64 = 256;

/// The start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
}

/// The key of an operation.
pub(crate) fn operation_key(id: &OperationId) -> u64 {
    key(b"operation", id.as_str())
}

/// The key of a stream: its first line.
pub(crate) fn stream_key(stream: &Stream) -> u64 {
    key(b"item", stream.as_str())
}

fn key(kind: &[u8], name: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(0x7175_6572_656e_7421, 0x6a6f_7572_6e61_6c21);
    hasher.write(kind);
    hasher.write_u8(0);
    hasher.write(name.as_bytes());
    // 0 marks an empty slot.
    hasher.finish().max(1)
}

/// The index, open. Used under the lock only.
pub(crate) struct Index {
    layout: Layout,
    file: Box<dyn DiskFile>,
    slots: u64,
    filled: u64,
}

impl Index {
    /// Opens the index; nothing if there is none that can be used.
    pub(crate) fn open(layout: &Layout) -> Result<Option<Self>, Error> {
        Self::open_with(layout, Open::Write)
    }

    /// The same for one who only looks, where perhaps nobody may write.
    pub(crate) fn open_to_read(layout: &Layout) -> Result<Option<Self>, Error> {
        Self::open_with(layout, Open::Read)
    }

    fn open_with(layout: &Layout, how: Open) -> Result<Option<Self>, Error> {
        let path = layout.operations_index();
        let file = match layout.disk().open(&path, how) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        let mut header = [0; SLOT];
        let length = file.length().map_err(Error::io("read", &path))?;
        if file.read_exact_at(&mut header, 0).is_err() {
            return Ok(None);
        }
        let (slots, filled) = (number(&header[..8]), number(&header[8..]));
        let whole = slots.is_power_of_two() && slots >= SMALLEST && length == HEADER + slots * SLOT as u64;
        Ok(whole.then(|| Self { layout: layout.clone(), file, slots, filled }))
    }

    /// The index as it is now: another process may have put a larger one in its place, or filled this one.
    pub(crate) fn refresh(&mut self) -> Result<bool, Error> {
        let path = self.layout.operations_index();
        let here = self.file.identity().map_err(Error::io("read", &path))?;
        match self.layout.disk().identity(&path) {
            Ok(there) if there == here => {}
            _ => match Self::open(&self.layout)? {
                Some(index) => *self = index,
                None => return Ok(false),
            },
        }
        let mut filled = [0; 8];
        self.file.read_exact_at(&mut filled, 8).map_err(Error::io("read", &path))?;
        self.filled = number(&filled);
        Ok(true)
    }

    /// A new index of these lines in place of whatever there was.
    pub(crate) fn create(layout: &Layout, lines: &[(u64, Start)]) -> Result<Self, Error> {
        let slots = (lines.len() as u64 * 4).next_power_of_two().max(SMALLEST);
        let entries: Vec<u8> = lines.iter().flat_map(|(key, start)| entry(*key, *start)).collect();
        Self::build(layout, slots, &entries)
    }

    /// The lines that may be of this key.
    pub(crate) fn find(&self, key: u64) -> Result<Vec<Start>, Error> {
        let mut found = Vec::new();
        self.probe(key, |hash, start| {
            if hash == key {
                found.push(start);
            }
            false
        })?;
        Ok(found)
    }

    /// Adds lines; each once, however often it is added. Those that are near each other are read and written together.
    pub(crate) fn insert(&mut self, mut lines: Vec<(u64, Start)>) -> Result<(), Error> {
        while (self.filled + lines.len() as u64) * 2 > self.slots {
            self.grow()?;
        }
        let (mask, path) = (self.slots - 1, self.layout.operations_index());
        lines.sort_unstable_by_key(|(key, _)| key & mask);
        let mut page = Page::default();
        for (key, start) in lines {
            let mut slot = key & mask;
            for step in 0.. {
                if !page.holds(slot) {
                    page.write(&*self.file).map_err(Error::io("write", &path))?;
                    page.read(&*self.file, slot, self.slots).map_err(Error::io("read", &path))?;
                }
                match page.slot(slot) {
                    (0, _) => {
                        page.fill(slot, key, start);
                        self.filled += 1;
                        break;
                    }
                    (hash, there) if hash == key && there == start => break,
                    _ if step == self.slots => return Err(full(&path)),
                    _ => slot = (slot + 1) & mask,
                }
            }
        }
        page.write(&*self.file).map_err(Error::io("write", &path))
    }

    /// Lets other processes know how full it is, once some were added. The count may lag behind after a crash: the table is
    /// only half full, so that does no harm.
    pub(crate) fn store_count(&self) -> Result<(), Error> {
        let written = self.file.write_all_at(&self.filled.to_le_bytes(), 8);
        written.map_err(Error::io("write", &self.layout.operations_index()))
    }

    /// Walks the slots of `key` until `stop` or an empty one; says which slot that is, and whether `stop` stopped it.
    fn probe(&self, key: u64, mut stop: impl FnMut(u64, Start) -> bool) -> Result<(u64, bool), Error> {
        let mask = self.slots - 1;
        let mut slot = key & mask;
        for _ in 0..=self.slots / CHUNK as u64 {
            let count = (CHUNK as u64).min(self.slots - slot);
            let mut bytes = [0; CHUNK * SLOT];
            let bytes = &mut bytes[..usize::try_from(count).unwrap_or(0) * SLOT];
            let read = self.file.read_exact_at(bytes, HEADER + slot * SLOT as u64);
            read.map_err(Error::io("read", &self.layout.operations_index()))?;
            for (place, bytes) in (slot..).zip(bytes.chunks_exact(SLOT)) {
                let (hash, start) = (number(&bytes[..8]), unpack(number(&bytes[8..])));
                if hash == 0 || stop(hash, start) {
                    return Ok((place, hash != 0));
                }
            }
            slot = (slot + count) & mask;
        }
        Err(full(&self.layout.operations_index()))
    }

    fn grow(&mut self) -> Result<(), Error> {
        let path = self.layout.operations_index();
        let mut bytes = vec![0; usize::try_from(self.slots).unwrap_or(0) * SLOT];
        self.file.read_exact_at(&mut bytes, HEADER).map_err(Error::io("read", &path))?;
        *self = Self::build(&self.layout, self.slots * 2, &bytes)?;
        Ok(())
    }

    /// Writes a table of `slots` with the entries of `old`, and puts it in place by rename.
    fn build(layout: &Layout, slots: u64, old: &[u8]) -> Result<Self, Error> {
        let path = layout.operations_index();
        let mut table = vec![0; usize::try_from(HEADER + slots * SLOT as u64).unwrap_or(0)];
        let mut filled: u64 = 0;
        for entry in old.chunks_exact(SLOT).filter(|entry| number(&entry[..8]) != 0) {
            let mut slot = number(&entry[..8]) & (slots - 1);
            loop {
                let at = usize::try_from(HEADER + slot * SLOT as u64).unwrap_or(0);
                if number(&table[at..at + 8]) == 0 {
                    table[at..at + SLOT].copy_from_slice(entry);
                    break;
                }
                slot = (slot + 1) & (slots - 1);
            }
            filled += 1;
        }
        table[..8].copy_from_slice(&slots.to_le_bytes());
        table[8..16].copy_from_slice(&filled.to_le_bytes());
        let draft = path.with_extension("draft");
        let disk = layout.disk();
        let write = || {
            disk.create_dir_all(&layout.operations())?;
            disk.write(&draft, &table)?;
            disk.rename(&draft, &path)?;
            disk.open(&path, Open::Write)
        };
        let file = write().map_err(Error::io("write", &path))?;
        Ok(Self { layout: layout.clone(), file, slots, filled })
    }
}

fn full(path: &Path) -> Error {
    Error::io("use", path)(io::Error::other("the index has no empty slot; run querent doctor --repair"))
}

/// Slots in memory that stand one behind the other.
#[derive(Default)]
struct Page {
    first: u64,
    bytes: Vec<u8>,
    is_changed: bool,
}

impl Page {
    fn holds(&self, slot: u64) -> bool {
        slot >= self.first && slot - self.first < (self.bytes.len() / SLOT) as u64
    }

    fn read(&mut self, file: &dyn DiskFile, slot: u64, slots: u64) -> io::Result<()> {
        self.first = slot - slot % PAGE;
        self.bytes.resize(usize::try_from(PAGE.min(slots - self.first)).unwrap_or(0) * SLOT, 0);
        file.read_exact_at(&mut self.bytes, HEADER + self.first * SLOT as u64)
    }

    fn write(&mut self, file: &dyn DiskFile) -> io::Result<()> {
        if std::mem::take(&mut self.is_changed) {
            file.write_all_at(&self.bytes, HEADER + self.first * SLOT as u64)?;
        }
        Ok(())
    }

    fn slot(&self, slot: u64) -> (u64, Start) {
        let bytes = &self.bytes[self.at(slot)..];
        (number(&bytes[..8]), unpack(number(&bytes[8..SLOT])))
    }

    fn fill(&mut self, slot: u64, key: u64, start: Start) {
        let at = self.at(slot);
        self.bytes[at..at + SLOT].copy_from_slice(&entry(key, start));
        self.is_changed = true;
    }

    fn at(&self, slot: u64) -> usize {
        usize::try_from(slot - self.first).unwrap_or(0) * SLOT
    }
}

/// A slot that is filled.
fn entry(key: u64, start: Start) -> [u8; SLOT] {
    let mut bytes = [0; SLOT];
    bytes[..8].copy_from_slice(&key.to_le_bytes());
    bytes[8..].copy_from_slice(&pack(start).to_le_bytes());
    bytes
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn pack(start: Start) -> u64 {
    u64::from(start.segment) << 40 | start.offset
}

fn unpack(packed: u64) -> Start {
    Start { segment: u32::try_from(packed >> 40).unwrap_or(0), offset: packed & ((1 << 40) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_also_after_growing_and_opening_again() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        let mut index = Index::create(&layout, &[]).unwrap();
        let start = |n: u64| Start { segment: 1 + u32::try_from(n % 3).unwrap(), offset: n * 300 };
        let id = |n: u64| operation_key(&format!("op-{n}").parse().unwrap());
        for n in 0..5_000 {
            index.insert(vec![(id(n), start(n)), (id(n), start(n))]).unwrap();
            index.insert(vec![(id(n), start(n))]).unwrap();
        }
        index.store_count().unwrap();

        let index = Index::open(&layout).unwrap().unwrap();

        assert_eq!(index.filled, 5_000);
        for n in 0..5_000 {
            assert_eq!(index.find(id(n)).unwrap(), [start(n)], "{n}");
        }
        assert!(index.find(id(5_000)).unwrap().is_empty());
    }

    #[test]
    fn a_table_that_another_process_put_in_place_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        let mut ours = Index::create(&layout, &[]).unwrap();
        let mut theirs = Index::open(&layout).unwrap().unwrap();
        let id = |n: u64| operation_key(&format!("op-{n}").parse().unwrap());
        for n in 0..5_000 {
            theirs.insert(vec![(id(n), Start { segment: 1, offset: n })]).unwrap();
        }
        theirs.store_count().unwrap();

        assert!(ours.refresh().unwrap());

        assert_eq!(ours.filled, 5_000);
        assert_eq!(ours.find(id(4_999)).unwrap(), [Start { segment: 1, offset: 4_999 }]);
    }

    #[test]
    fn a_damaged_index_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(dir.path());
        Index::create(&layout, &[]).unwrap();
        std::fs::write(layout.operations_index(), b"short").unwrap();

        assert!(Index::open(&layout).unwrap().is_none());
    }
}
