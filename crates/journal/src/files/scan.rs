//! Reading the log: whole batches, line by line. A line is known by its head; it is decoded only where it is needed.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, OnceLock};

use querent_core::Record;
use querent_core::wire::{self, Damage, Head, Line};

use super::disk::{DiskFile, Open};
use super::layout::Layout;
use super::operations::Start;
use super::place::Place;
use crate::Error;

/// A line of the log.
pub(crate) struct Entry {
    pub(crate) head: Head,
    /// Where it begins.
    pub(crate) start: Start,
    /// Where it ends.
    pub(crate) place: Place,
    /// As it stands in the log; empty if this process wrote it.
    bytes: Vec<u8>,
    record: OnceLock<Arc<Record>>,
}

impl Entry {
    /// A line that this process wrote.
    pub(crate) fn written(head: Head, start: Start, place: Place, record: Record) -> Self {
        Self { head, start, place, bytes: Vec::new(), record: OnceLock::from(Arc::new(record)) }
    }

    /// What happened. Decoded once.
    pub(crate) fn record(&self, layout: &Layout) -> Result<&Record, Error> {
        self.shared_record(layout).map(Arc::as_ref)
    }

    /// The same, for one who keeps it.
    pub(crate) fn shared_record(&self, layout: &Layout) -> Result<&Arc<Record>, Error> {
        if let Some(record) = self.record.get() {
            return Ok(record);
        }
        let record = self.decode(layout)?;
        Ok(self.record.get_or_init(|| Arc::new(record)))
    }

    /// What happened, if that was asked before.
    pub(crate) fn known_record(&self) -> Option<&Record> {
        self.record.get().map(Arc::as_ref)
    }

    fn decode(&self, layout: &Layout) -> Result<Record, Error> {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let before = Place { end: self.start.offset, ..self.place };
        wire::decode(body).map(|line| line.record).map_err(|damage| damaged(layout, before, &damage))
    }
}

/// What a scan does with an entry.
pub(super) type Each<'a> = &'a mut dyn FnMut(Entry) -> Result<(), Error>;

/// Where a scan ended, and whether something unfinished stands behind it.
pub(crate) struct End {
    pub(crate) place: Place,
    pub(crate) torn: bool,
}

/// Reads whole batches from after `from` to the end of the log.
pub(crate) fn scan(
    layout: &Layout,
    from: Place,
    mut each: impl FnMut(Entry) -> Result<(), Error>,
) -> Result<End, Error> {
    if from == Place::START {
        check_segments(layout)?;
    }
    let mut place = from;
    loop {
        // Looked at before the segment is read: a writer may add to it and begin the next one meanwhile.
        let sealed = layout.has(&layout.segment(place.segment + 1));
        let path = layout.segment(place.segment);
        let unfinished = match layout.disk().open(&path, Open::Read) {
            Ok(file) => scan_segment(layout, &*file, u64::MAX, &mut place, &mut each)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && place.end == 0 => None,
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        match unfinished {
            Some(end) if sealed => return Err(damaged(layout, end, &Damage::Torn)),
            None if sealed => place = Place { segment: place.segment + 1, end: 0, ..place },
            _ if layout.has(&layout.segment(place.segment + 1)) => {}
            unfinished => return Ok(End { place, torn: unfinished.is_some() }),
        }
    }
}

/// A segment that is missing before the last one is not the end of the log.
fn check_segments(layout: &Layout) -> Result<(), Error> {
    let Ok(names) = layout.disk().names(&layout.journal()) else { return Ok(()) };
    let number = |name: &str| name.strip_suffix(".jsonl")?.parse::<u32>().ok();
    let last = names.iter().filter_map(|name| number(name.to_str()?)).max();
    match (1..last.unwrap_or(0)).map(|number| layout.segment(number)).find(|path| !layout.has(path)) {
        Some(segment) => Err(Error::Damaged { segment, line: 1, why: "the segment is missing".to_owned() }),
        None => Ok(()),
    }
}

/// Reads one segment from `place` to `length`; says behind which place something unfinished stands, if it does.
pub(super) fn scan_segment(
    layout: &Layout,
    file: &dyn DiskFile,
    length: u64,
    place: &mut Place,
    each: Each<'_>,
) -> Result<Option<Place>, Error> {
    let segment = place.segment;
    let failed = |error| Error::io("read", &layout.segment(segment))(error);
    let most = usize::try_from(length.saturating_sub(place.end)).unwrap_or(usize::MAX);
    let mut reader = BufReader::with_capacity(most.min(1 << 16), Reading { file, at: place.end, length });
    let mut bytes = Vec::new();
    let mut batch: Vec<Entry> = Vec::new();
    let mut end = *place;
    let mut again = false;
    loop {
        let length = reader.read_until(b'\n', &mut bytes).map_err(failed)?;
        if length == 0 {
            return Ok((!batch.is_empty()).then_some(end));
        }
        let head = match bytes.strip_suffix(b"\n").ok_or(Damage::Torn).and_then(wire::peek) {
            Ok(head) if head.seq == end.seq + 1 => head,
            Ok(_) => return Err(damaged(layout, end, &Damage::Unreadable("its seq does not follow".to_owned()))),
            Err(Damage::Torn) if !is_followed_by_a_line(&mut reader).map_err(failed)? => return Ok(Some(end)),
            Err(Damage::Torn) if !again => {
                // A writer may have been in the middle of it: look again, from the last whole batch on.
                (again, end) = (true, *place);
                batch.clear();
                bytes.clear();
                reader.seek(SeekFrom::Start(place.end)).map_err(failed)?;
                continue;
            }
            Err(damage) => return Err(damaged(layout, end, &damage)),
        };
        let start = Start { segment, offset: end.end };
        end = Place { segment, end: end.end + length as u64, seq: head.seq, crc: head.crc };
        let complete = head.more == 0;
        let bytes = std::mem::take(&mut bytes);
        let entry = Entry { head, start, place: end, bytes, record: OnceLock::new() };
        if complete {
            batch.drain(..).chain([entry]).try_for_each(&mut *each)?;
            (*place, again) = (end, false);
        } else {
            batch.push(entry);
        }
    }
}

/// A file read from a place on, up to a length. Many may read one file: the file's own position is left alone.
struct Reading<'a> {
    file: &'a dyn DiskFile,
    at: u64,
    length: u64,
}

impl Read for Reading<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        if most == 0 {
            return Ok(0);
        }
        let count = self.file.read_at(&mut into[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reading<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.at)
    }
}

/// Whether a good line stands behind a bad one: then the bad one was not the last to be written.
fn is_followed_by_a_line(reader: &mut impl BufRead) -> io::Result<bool> {
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        let good = wire::unseal(bytes.trim_ascii_end()).is_some_and(|(body, sum)| crc32fast::hash(body) == sum);
        if good {
            return Ok(true);
        }
        bytes.clear();
    }
    Ok(false)
}

/// The error that names the line after `place`.
pub(super) fn damaged(layout: &Layout, place: Place, damage: &Damage) -> Error {
    let segment = layout.segment(place.segment);
    let before = layout.disk().open(&segment, Open::Read).map(|file| {
        let reader = BufReader::new(Reading { file: &*file, at: 0, length: place.end });
        reader.split(b'\n').count() as u64
    });
    Error::Damaged { segment, line: before.unwrap_or(0) + 1, why: damage.to_string() }
}

/// Reads the one line that starts there.
pub(crate) fn line_at(layout: &Layout, start: Start) -> Option<Line> {
    let file = layout.disk().open(&layout.segment(start.segment), Open::Read).ok()?;
    let mut bytes = Vec::new();
    BufReader::new(Reading { file: &*file, at: start.offset, length: u64::MAX }).read_until(b'\n', &mut bytes).ok()?;
    wire::decode(bytes.strip_suffix(b"\n")?).ok()
}

/// The place after which the records after `since` stand: the start of their segment.
pub(crate) fn segment_of(layout: &Layout, since: u64) -> Place {
    let mut place = Place::START;
    loop {
        let next = place.segment + 1;
        match line_at(layout, Start { segment: next, offset: 0 }) {
            Some(line) if line.record.seq <= since => {
                place = Place { segment: next, end: 0, seq: line.record.seq - 1, crc: 0 };
            }
            _ => return place,
        }
    }
}
