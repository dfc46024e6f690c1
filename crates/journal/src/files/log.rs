//! Writing the log: lines in segments, only ever added to.

use std::sync::Arc;

use querent_core::wire::Damage;

use super::disk::{DiskFile, Identity, Open};
use super::layout::Layout;
use super::place::Place;
use super::scan::{Each, damaged, scan_segment};
use super::{Options, Step};
use crate::Error;

/// The end of the log, open for writing. Used under the lock only.
pub(crate) struct Log {
    layout: Layout,
    file: Arc<dyn DiskFile>,
    /// What the segment is known by.
    identity: Identity,
    /// The last line that was read or written.
    pub(crate) place: Place,
    /// Whether some of it was read without the lock.
    ahead: bool,
}

impl Log {
    /// Opens the segment of `place`, which the caller knows to be in the log.
    pub(crate) fn open(layout: &Layout, place: Place) -> Result<Self, Error> {
        let (file, identity) = open_segment(layout, place.segment)?;
        Ok(Self { layout: layout.clone(), file, identity, place, ahead: false })
    }

    /// Adds encoded lines, the last of which ends at `last`. All or nothing; a test may stand between the halves.
    pub(crate) fn append(&mut self, lines: &[u8], last: Place, options: &Options) -> Result<(), Error> {
        let start = self.place.end;
        let written = if options.fault.is_some() {
            let (first, second) = lines.split_at(lines.len() / 2);
            let written = self.file.write_all_at(first, start).and_then(|()| options.reach(Step::HalfWritten));
            written.and_then(|()| self.file.write_all_at(second, start + first.len() as u64))
        } else {
            self.file.write_all_at(lines, start)
        };
        if let Err(error) = written {
            // What cannot be cut here is cut by the next writer: it is a torn line.
            let _ = cut(&self.layout, self.place);
            return Err(Error::io("write", &self.layout.segment(self.place.segment))(error));
        }
        self.place = last;
        Ok(())
    }

    /// Begins a new segment if this one is full. The old one is durable before the new one exists.
    pub(crate) fn roll(&mut self) -> Result<(), Error> {
        if !self.layout.is_full(self.place) {
            return Ok(());
        }
        let path = self.layout.segment(self.place.segment);
        self.file.sync_data().map_err(Error::io("sync", &path))?;
        let next = self.place.segment + 1;
        (self.file, self.identity) = open_segment(&self.layout, next)?;
        self.place = Place { segment: next, end: 0, ..self.place };
        Ok(())
    }

    /// What the segment at the log's end is known by.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// The file that a sync of the log's end must reach.
    pub(crate) fn file(&self) -> Arc<dyn DiskFile> {
        Arc::clone(&self.file)
    }

    /// Reads what others added to this segment so far, without the lock. A writer may be at work on it, and may yet take back
    /// what it could not finish.
    pub(crate) fn look_ahead(&mut self, each: Each<'_>) -> Result<(), Error> {
        let length = self.file.length().map_err(Error::io("read", self.layout.dir()))?;
        if length > self.place.end {
            self.ahead = true;
            scan_segment(&self.layout, &*self.file, length, &mut self.place, each)?;
        }
        Ok(())
    }

    /// Whether what was seen without the lock is still there.
    pub(crate) fn is_in_place(&mut self) -> bool {
        !std::mem::take(&mut self.ahead) || self.place.is_in_segment(&*self.file)
    }

    /// Reads what others added, and cuts off a line that was never finished.
    pub(crate) fn catch_up(&mut self, each: Each<'_>) -> Result<(), Error> {
        loop {
            let length = self.file.length().map_err(Error::io("read", self.layout.dir()))?;
            // Looked at every time: a writer must not rely on the others' idea of a full segment.
            let sealed = self.layout.has(&self.layout.segment(self.place.segment + 1));
            if length != self.place.end {
                let unfinished = scan_segment(&self.layout, &*self.file, length, &mut self.place, each)?;
                match unfinished {
                    Some(end) if sealed => return Err(damaged(&self.layout, end, &Damage::Torn)),
                    Some(_) => cut(&self.layout, self.place)?,
                    None => {}
                }
            }
            if !sealed {
                return Ok(());
            }
            self.place = Place { segment: self.place.segment + 1, end: 0, ..self.place };
            (self.file, self.identity) = open_segment(&self.layout, self.place.segment)?;
        }
    }
}

fn open_segment(layout: &Layout, number: u32) -> Result<(Arc<dyn DiskFile>, Identity), Error> {
    let path = layout.segment(number);
    let file = layout.disk().open(&path, Open::Create).map_err(Error::io("open", &path))?;
    // Whoever made it may have died before its name was durable: what is in it shows that it is.
    if file.length().map_err(Error::io("open", &path))? == 0 {
        let dir = layout.journal();
        layout.disk().sync_dir(&dir).map_err(Error::io("sync", &dir))?;
    }
    let identity = file.identity().map_err(Error::io("open", &path))?;
    Ok((Arc::from(file), identity))
}

/// Cuts off what stands behind `place`: it was never finished, and so never acknowledged. Under the lock only.
pub(crate) fn cut(layout: &Layout, place: Place) -> Result<(), Error> {
    let path = layout.segment(place.segment);
    let cut = layout.disk().open(&path, Open::Write).and_then(|segment| segment.set_len(place.end));
    cut.map_err(Error::io("cut the torn end of", &path))
}
