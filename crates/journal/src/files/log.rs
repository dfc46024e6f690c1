//! The log: lines in segments, only ever added to.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use querent_core::wire::{self, Damage, Line};

use super::layout::Layout;
use super::place::Place;
use crate::Error;

/// The end of the log, open for writing. Used under the lock only.
pub(crate) struct Log {
    layout: Layout,
    file: Arc<File>,
    /// The last line that was read or written.
    pub(crate) place: Place,
    segment_limit: u64,
}

impl Log {
    /// Opens the segment of `place`, which the caller knows to be in the log.
    pub(crate) fn open(layout: &Layout, place: Place, segment_limit: u64) -> Result<Self, Error> {
        let file = open_segment(layout, place.segment)?;
        Ok(Self { layout: layout.clone(), file: Arc::new(file), place, segment_limit })
    }

    /// Adds encoded lines, the last of which ends at `last` counted from here. All or nothing.
    pub(crate) fn append(
        &mut self,
        lines: &[u8],
        last: Place,
        half: impl Fn() -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let path = self.layout.segment(self.place.segment);
        let (first, second) = lines.split_at(lines.len() / 2);
        let start = self.place.end;
        let written = self
            .file
            .write_all_at(first, start)
            .and_then(|()| half())
            .and_then(|()| self.file.write_all_at(second, start + first.len() as u64));
        if let Err(error) = written {
            // What cannot be cut here is cut by the next writer: it is a torn line.
            let _ = cut(&self.layout, self.place);
            return Err(Error::io("write", &path)(error));
        }
        self.place = last;
        Ok(())
    }

    /// Begins a new segment if this one is full. The old one is durable before the new one exists.
    pub(crate) fn roll(&mut self) -> Result<(), Error> {
        if self.place.end < self.segment_limit {
            return Ok(());
        }
        let path = self.layout.segment(self.place.segment);
        self.file.sync_data().map_err(Error::io("sync", &path))?;
        let next = self.place.segment + 1;
        self.file = Arc::new(open_segment(&self.layout, next)?);
        self.place = Place { segment: next, end: 0, ..self.place };
        Ok(())
    }

    /// The file that a sync of the log's end must reach.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Reads what others added, and cuts off a line that was never finished.
    pub(crate) fn catch_up(&mut self, each: impl FnMut(Line, Place, u64) -> Result<(), Error>) -> Result<(), Error> {
        let length = self.file.metadata().map_err(Error::io("read", self.layout.dir()))?.len();
        let rolled = self.layout.segment(self.place.segment + 1).exists();
        if length == self.place.end && !rolled {
            return Ok(());
        }
        let end = scan(&self.layout, self.place, each)?;
        if end.place.segment != self.place.segment {
            self.file = Arc::new(open_segment(&self.layout, end.place.segment)?);
        }
        self.place = end.place;
        if end.torn {
            cut(&self.layout, self.place)?;
        }
        Ok(())
    }
}

fn open_segment(layout: &Layout, number: u32) -> Result<File, Error> {
    let path = layout.segment(number);
    let fresh = !path.exists();
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(Error::io("open", &path))?;
    if fresh {
        let dir = layout.journal();
        File::open(&dir).and_then(|dir| dir.sync_all()).map_err(Error::io("sync", &dir))?;
    }
    Ok(file)
}

/// Where a scan ended, and whether something unfinished stands behind it.
pub(crate) struct End {
    pub(crate) place: Place,
    pub(crate) torn: bool,
}

/// Reads whole batches from after `from` to the end of the log. `each` gets a line, its end and its start.
pub(crate) fn scan(
    layout: &Layout,
    from: Place,
    mut each: impl FnMut(Line, Place, u64) -> Result<(), Error>,
) -> Result<End, Error> {
    if from == Place::START {
        check_segments(layout)?;
    }
    let mut place = from;
    loop {
        // Looked at before the segment is read: a writer may add to it and begin the next one meanwhile.
        let sealed = layout.segment(place.segment + 1).exists();
        let unfinished = scan_segment(layout, &mut place, &mut each)?;
        match unfinished {
            Some(end) if sealed => return Err(damaged(layout, end, &Damage::Torn)),
            None if sealed => place = Place { segment: place.segment + 1, end: 0, ..place },
            _ if layout.segment(place.segment + 1).exists() => {}
            unfinished => return Ok(End { place, torn: unfinished.is_some() }),
        }
    }
}

/// A segment that is missing before the last one is not the end of the log.
fn check_segments(layout: &Layout) -> Result<(), Error> {
    let Ok(entries) = std::fs::read_dir(layout.journal()) else { return Ok(()) };
    let number = |name: &str| name.strip_suffix(".jsonl")?.parse::<u32>().ok();
    let last = entries.filter_map(|entry| number(entry.ok()?.file_name().to_str()?)).max();
    match (1..last.unwrap_or(0)).map(|number| layout.segment(number)).find(|path| !path.exists()) {
        Some(segment) => Err(Error::Damaged { segment, line: 1, why: "the segment is missing".to_owned() }),
        None => Ok(()),
    }
}

/// Cuts off what stands behind `place`: it was never finished, and so never acknowledged. Under the lock only.
pub(crate) fn cut(layout: &Layout, place: Place) -> Result<(), Error> {
    let path = layout.segment(place.segment);
    let cut = OpenOptions::new().write(true).open(&path).and_then(|segment| segment.set_len(place.end));
    cut.map_err(Error::io("cut the torn end of", &path))
}

/// Reads one segment to its end; says behind which place something unfinished stands, if it does.
fn scan_segment(
    layout: &Layout,
    place: &mut Place,
    each: &mut impl FnMut(Line, Place, u64) -> Result<(), Error>,
) -> Result<Option<Place>, Error> {
    let path = layout.segment(place.segment);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && place.end == 0 => return Ok(None),
        Err(error) => return Err(Error::io("open", &path)(error)),
    };
    file.seek(SeekFrom::Start(place.end)).map_err(Error::io("read", &path))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    let mut batch: Vec<(Line, Place, u64)> = Vec::new();
    let mut end = *place;
    let mut again = false;
    loop {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes).map_err(Error::io("read", &path))?;
        if length == 0 {
            return Ok((!batch.is_empty()).then_some(end));
        }
        let line = match bytes.strip_suffix(b"\n").ok_or(Damage::Torn).and_then(wire::decode) {
            Ok(line) if line.record.seq == end.seq + 1 => line,
            Ok(_) => return Err(damaged(layout, end, &Damage::Unreadable("its seq does not follow".to_owned()))),
            Err(Damage::Torn) if !is_followed_by_a_line(&mut reader, &path)? => return Ok(Some(end)),
            Err(Damage::Torn) if !again => {
                // A writer may have been in the middle of it: look again, from the last whole batch on.
                (again, end) = (true, *place);
                batch.clear();
                reader.seek(SeekFrom::Start(place.end)).map_err(Error::io("read", &path))?;
                continue;
            }
            Err(damage) => return Err(damaged(layout, end, &damage)),
        };
        let start = end.end;
        let crc = wire::unseal(&bytes[..length - 1]).map_or(0, |(_, sum)| sum);
        end = Place { segment: end.segment, end: start + length as u64, seq: line.record.seq, crc };
        let complete = line.more == 0;
        batch.push((line, end, start));
        if complete {
            batch.drain(..).try_for_each(|(line, place, start)| each(line, place, start))?;
            (*place, again) = (end, false);
        }
    }
}

/// Whether a good line stands behind a bad one: then the bad one was not the last to be written.
fn is_followed_by_a_line(reader: &mut BufReader<File>, path: &Path) -> Result<bool, Error> {
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).map_err(Error::io("read", path))? > 0 {
        let good = wire::unseal(bytes.trim_ascii_end()).is_some_and(|(body, sum)| crc32fast::hash(body) == sum);
        if good {
            return Ok(true);
        }
        bytes.clear();
    }
    Ok(false)
}

/// The error that names the line after `place`.
fn damaged(layout: &Layout, place: Place, damage: &Damage) -> Error {
    let segment = layout.segment(place.segment);
    let before = File::open(&segment).map(|file| {
        let reader = BufReader::new(file.take(place.end));
        reader.split(b'\n').count() as u64
    });
    Error::Damaged { segment, line: before.unwrap_or(0) + 1, why: damage.to_string() }
}

/// Reads the one line that starts at `start`.
pub(crate) fn line_at(layout: &Layout, segment: u32, start: u64) -> Option<(Line, Place)> {
    let mut file = File::open(layout.segment(segment)).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut bytes).ok()?;
    let body = bytes.strip_suffix(b"\n")?;
    let line = wire::decode(body).ok()?;
    let (_, crc) = wire::unseal(body)?;
    let place = Place { segment, end: start + bytes.len() as u64, seq: line.record.seq, crc };
    Some((line, place))
}

/// The place after which the records after `since` stand: the start of their segment.
pub(crate) fn segment_of(layout: &Layout, since: u64) -> Place {
    let mut place = Place::START;
    loop {
        let next = place.segment + 1;
        match line_at(layout, next, 0) {
            Some((line, _)) if line.record.seq <= since => {
                place = Place { segment: next, end: 0, seq: line.record.seq - 1, crc: 0 };
            }
            _ => return place,
        }
    }
}
