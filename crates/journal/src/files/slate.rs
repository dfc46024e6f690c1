//! The last lines of the log once more, in a file that does not grow. To make a line durable at the end of a file, a disk writes
//! it, and how long the file is now, and is waited for each time; in a file that stays as long as it is, the second is not needed.
//! So lines are written into the log and onto the slate, which all processes share, and the slate is synced. The log is synced
//! when the slate is full, and when somebody wrote lines that are not on it; then it begins anew.
//!
//! A process that has the slate to itself for a while writes on it directly, past what the system remembers of files: a sync
//! then finds the lines on the disk already. Where several take turns, what the system remembers is the faster way between them.
//!
//! Nobody reads the slate but after a power cut: what the log has lost is put back from it, before anybody reads the log.

use std::io;
use std::sync::Arc;

use querent_core::wire;
use serde::{Deserialize, Serialize};

use super::SlateOptions;
use super::disk::{BLOCK, DiskFile, Identity, Open};
use super::layout::Layout;
use super::log::Log;
use super::place::Place;
use super::syncs::Target;
use crate::Error;

/// How much of it its head takes: a page, so that lines share none with it.
const HEAD: usize = 4_096;
/// How much of that is written.
const HEAD_TEXT: usize = 512;

/// A process's way to the slate.
pub(crate) struct Slate {
    options: SlateOptions,
    boot: String,
    opened: Option<Opened>,
    /// Its head as this process read it last, and the line before the first that it names, if it is of this boot.
    head: ([u8; HEAD_TEXT], Option<Place>),
    /// What this process wrote on it last.
    last: Option<Last>,
    /// Where whole blocks are made ready.
    blocks: Vec<u8>,
    /// How often this process has written.
    commits: u32,
    /// Whether there can be none.
    hopeless: bool,
}

struct Opened {
    file: Arc<dyn DiskFile>,
    /// The same file, past the system's memory, where that can be.
    direct: Option<Box<dyn DiskFile>>,
    identity: Identity,
    length: u64,
}

/// What a process wrote on the slate last: while no other has written since, it need not look.
struct Last {
    base: Place,
    /// The last of its lines.
    end: Place,
    /// What the block holds in which that line ends.
    block: Vec<u8>,
    /// How often it has written since another did.
    alone: u32,
}

/// What must be synced so that the log is durable; nothing if it is. Also how other processes know that sync, unless none has written
/// for a while: to tell each other takes several calls of the system.
pub(crate) type Due = Option<(Arc<dyn DiskFile>, Option<Target>)>;

/// What the slate is about.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The line before its first; up to here the log itself is durable.
    base: Place,
    /// The boot of the machine in which that was written: without a power cut in between, the log has lost nothing.
    boot: String,
}

impl Slate {
    pub(crate) fn new(options: SlateOptions) -> Self {
        Self {
            options,
            boot: String::new(),
            opened: None,
            head: ([0; HEAD_TEXT], None),
            last: None,
            blocks: Vec::new(),
            commits: 0,
            hopeless: false,
        }
    }

    /// Writes lines on it that were just added to the log, after `from`; there may be none. Under the lock of the log.
    pub(crate) fn note(&mut self, layout: &Layout, log: &Log, from: Place, lines: &[u8]) -> Result<Due, Error> {
        let segment = log.file();
        self.commits = self.commits.saturating_add(u32::from(!lines.is_empty()));
        self.open(layout, &*segment);
        let in_log = Target { file: log.identity(), part: log.place.segment.into() };
        let Some(Opened { file, identity, length, .. }) = &self.opened else {
            return Ok(Some((segment, Some(in_log))));
        };
        let mut text = [0; HEAD_TEXT];
        let is_read = file.read_exact_at(&mut text, 0).is_ok();
        if text != self.head.0 {
            self.head = (text, head_of(&text).filter(|head| head.boot == self.boot).map(|head| head.base));
        }
        let base = self.head.1.filter(|_| is_read);
        let last = self.last.take().filter(|last| base.is_some_and(|base| last.follows(base, from)));
        let at = base.and_then(|base| {
            let knows = last.is_some();
            room(*length, base, from, lines.len()).filter(|at| knows || is_there(&**file, base, from, *at))
        });
        if let (Some(base), Some(at)) = (base, at) {
            let (due, target) = (Arc::clone(file), Target { file: *identity, part: base.seq });
            if self.write(base, last, log.place, lines, at).is_ok() {
                return Ok(Some((due, Some(target).filter(|_| !self.is_alone()))));
            }
            // What stands on it may stand nowhere else on the disk: the log goes first.
            segment.sync_data().map_err(Error::io("sync", &layout.segment(from.segment)))?;
            self.give_up(true);
            return Ok(None);
        }
        if lines.is_empty() {
            return Ok(Some((segment, Some(in_log))));
        }
        // From here on, whoever writes on it relies on this.
        segment.sync_data().map_err(Error::io("sync", &layout.segment(from.segment)))?;
        if write_head(&**file, &Head { base: log.place, boot: self.boot.clone() }).is_err() {
            self.give_up(true);
        }
        Ok(None)
    }

    /// Writes lines there, after what this process wrote last, if it was that process; `end` is the last of them.
    fn write(&mut self, base: Place, last: Option<Last>, end: Place, lines: &[u8], at: u64) -> io::Result<()> {
        let Some(Opened { file, direct, length, .. }) = &mut self.opened else { return Ok(()) };
        if lines.is_empty() {
            self.last = last;
            return Ok(());
        }
        let begin = at - at % BLOCK as u64;
        let (mut block, alone) = if let Some(last) = last {
            (last.block, last.alone.saturating_add(1))
        } else {
            let mut block = vec![0; usize::try_from(at - begin).map_err(io::Error::other)?];
            file.read_exact_at(&mut block, begin)?;
            (block, 0)
        };
        block.extend_from_slice(lines);
        let fits = begin + block.len().next_multiple_of(BLOCK) as u64 <= *length;
        if let Some(open) = direct.take_if(|_| fits && alone > self.options.after) {
            // Where it cannot be done once, it is not tried again.
            *direct = write_blocks(&*open, &block, begin, &mut self.blocks).is_ok().then_some(open);
            if direct.is_none() {
                file.write_all_at(lines, at)?;
            }
        } else {
            file.write_all_at(lines, at)?;
        }
        block.drain(..block.len() / BLOCK * BLOCK);
        self.last = Some(Last { base, end, block, alone });
        Ok(())
    }

    /// Whether no other process has written for a while.
    fn is_alone(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.alone > self.options.after)
    }

    /// It cannot be relied on: the log is synced from now on. Others must not rely on it either. But unless the log is durable
    /// without it, what stands on it is kept, and only the end of its last line is wiped: so nobody writes on behind that.
    pub(crate) fn give_up(&mut self, log_is_durable: bool) {
        let last = self.last.take();
        if let Some(Opened { file, .. }) = self.opened.take() {
            let _ = match last.and_then(|last| (HEAD as u64 + last.end.end).checked_sub(last.base.end + 1)) {
                _ if log_is_durable => file.write_all_at(&[0; HEAD_TEXT], 0),
                Some(end) => file.write_all_at(&[0], end),
                None => Ok(()),
            };
        }
        self.hopeless = true;
    }

    /// The file: that of others, or a new one once this process has written so often that it is worth its while. None where there
    /// can be none, or where the system does not tell one boot from another: then nobody would know that the power was cut.
    fn open(&mut self, layout: &Layout, log: &dyn DiskFile) {
        // People delete what looks forgotten, and a file that nobody finds goes with the power.
        let is_there = |it: &Opened| layout.disk().identity(&layout.slate()).is_ok_and(|there| there == it.identity);
        if self.hopeless || self.opened.as_ref().is_some_and(is_there) {
            return;
        }
        (self.head, self.last) = (([0; HEAD_TEXT], None), None);
        self.boot = layout.disk().boot();
        self.hopeless = self.boot.is_empty();
        let there = || usable(layout, layout.disk().open(&layout.slate(), Open::Write).ok()?);
        self.opened = if self.hopeless { None } else { there() };
        if self.opened.is_none() && !self.hopeless && self.commits > self.options.after {
            self.opened = make(layout, log, self.options.length);
            self.hopeless = self.opened.is_none();
        }
    }
}

impl Last {
    /// Whether what stands on the slate after `base` ends with it, and with the line `end`.
    fn follows(&self, base: Place, end: Place) -> bool {
        self.base == base && self.end == end
    }
}

fn usable(layout: &Layout, file: Box<dyn DiskFile>) -> Option<Opened> {
    let (identity, length) = (file.identity().ok()?, file.length().ok()?);
    let direct = layout.disk().open(&layout.slate(), Open::Direct).ok();
    let direct = direct.filter(|direct| direct.identity().is_ok_and(|it| it == identity));
    (length > HEAD as u64).then(|| Opened { file: Arc::from(file), direct, identity, length })
}

/// Writes whole blocks, the last of which is filled up with zeros. In `memory`, which is used again.
fn write_blocks(direct: &dyn DiskFile, bytes: &[u8], at: u64, memory: &mut Vec<u8>) -> io::Result<()> {
    let length = bytes.len().next_multiple_of(BLOCK);
    if memory.len() < length + BLOCK {
        memory.resize(length + BLOCK, 0);
    }
    let begin = memory.as_ptr().align_offset(BLOCK);
    let blocks = memory.get_mut(begin..begin.saturating_add(length)).ok_or(io::ErrorKind::Unsupported)?;
    let (lines, rest) = blocks.split_at_mut(bytes.len());
    lines.copy_from_slice(bytes);
    rest.fill(0);
    direct.write_all_at(blocks, at)
}

/// A slate is filled, so that a line on it makes it no longer, and needs no room that the disk has not given yet.
fn make(layout: &Layout, log: &dyn DiskFile, length: usize) -> Option<Opened> {
    log.sync_data().ok()?;
    let path = layout.slate();
    layout.disk().create_dir_all(path.parent()?).ok()?;
    let file = layout.disk().open(&path, Open::Create).ok()?;
    fill(&*file, length).ok()?;
    layout.disk().sync_dir(path.parent()?).ok()?;
    layout.disk().sync_dir(&layout.journal()).ok()?;
    usable(layout, file)
}

/// Where lines after `from` belong, if they fit.
fn room(length: u64, base: Place, from: Place, needed: usize) -> Option<u64> {
    let at = (HEAD as u64).checked_add(from.end.checked_sub(base.end)?)?;
    (from.segment == base.segment && at.checked_add(needed as u64)? <= length).then_some(at)
}

/// Whether the lines between `base` and `from` stand on the slate, up to `at`.
fn is_there(slate: &dyn DiskFile, base: Place, from: Place, at: u64) -> bool {
    from == base || from.ends_at(slate, at)
}

fn fill(file: &dyn DiskFile, length: usize) -> std::io::Result<()> {
    file.set_len(length as u64)?;
    file.write_all_at(&vec![0; length], 0)?;
    file.sync_data()
}

fn write_head(file: &dyn DiskFile, head: &Head) -> std::io::Result<()> {
    let mut text = serde_json::to_string(head)?;
    text.pop();
    let sealed = format!("{text}{}", wire::seal(crc32fast::hash(text.as_bytes())).trim_end());
    file.write_all_at(format!("{sealed:<width$}\n", width = HEAD_TEXT - 1).as_bytes(), 0)
}

fn read_head(file: &dyn DiskFile) -> Option<Head> {
    let mut text = [0; HEAD_TEXT];
    file.read_exact_at(&mut text, 0).ok()?;
    head_of(&text)
}

fn head_of(text: &[u8; HEAD_TEXT]) -> Option<Head> {
    let text = text.trim_ascii_end();
    let (body, sum) = wire::unseal(text)?;
    (crc32fast::hash(body) == sum).then(|| serde_json::from_slice(text).ok())?
}

/// Puts back into the log what a power cut took from it. Under the lock of the log.
pub(crate) fn put_back(layout: &Layout) -> Result<(), Error> {
    let Some((base, lines)) = lost(layout) else { return Ok(()) };
    let path = layout.segment(base.segment);
    let log = layout.disk().open(&path, Open::Write).map_err(Error::io("open", &path))?;
    log.write_all_at(&lines, base.end).and_then(|()| log.sync_data()).map_err(Error::io("write", &path))
}

/// Wipes the slate, once the log is in order and may be another one: whoever writes next syncs the log. Lines that nobody was told of
/// are not on it any more either, for others take their numbers. Under the lock of the log.
pub(crate) fn wipe(layout: &Layout) -> Result<(), Error> {
    let Ok(slate) = layout.disk().open(&layout.slate(), Open::Write) else { return Ok(()) };
    if read_head(&*slate).is_none() {
        return Ok(());
    }
    let path = layout.last_segment();
    if layout.has(&path) {
        let synced = layout.disk().open(&path, Open::Read).and_then(|log| log.sync_data());
        synced.map_err(Error::io("sync", &path))?;
    }
    let length = slate.length().ok().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    fill(&*slate, length).map_err(Error::io("write", &layout.slate()))
}

/// What a power cut took from the log, as far as it is known, and the line before it.
pub(crate) fn lost(layout: &Layout) -> Option<(Place, Vec<u8>)> {
    let bytes = layout.disk().read(&layout.slate()).ok()?;
    let slate = layout.disk().open(&layout.slate(), Open::Read).ok()?;
    let Head { base, .. } = read_head(&*slate).filter(|head| head.boot != layout.disk().boot())?;
    let lines = good_lines(bytes.get(HEAD..)?, base.seq);
    let log = layout.disk().open(&layout.segment(base.segment), Open::Read).ok()?;
    let mut there = vec![0; lines.len()];
    let mut done = 0;
    while let Ok(count @ 1..) = log.read_at(&mut there[done..], base.end + done as u64) {
        done += count;
    }
    // Where another line follows, the log is another one.
    let first = |bytes: &[u8]| wire::peek(bytes.split(|byte| *byte == b'\n').next()?).ok().map(|head| head.crc);
    let follows = first(&there[..done]).is_none_or(|crc| Some(crc) == first(lines));
    (base.is_in_segment(&*log) && there != lines && follows).then(|| (base, lines.to_vec()))
}

/// The lines at the beginning that follow each other, after the one of this seq.
fn good_lines(bytes: &[u8], mut seq: u64) -> &[u8] {
    let mut length = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n").map(wire::peek) {
            Some(Ok(head)) if head.seq == seq + 1 => (seq, length) = (head.seq, length + line.len()),
            _ => break,
        }
    }
    &bytes[..length]
}

#[cfg(test)]
#[path = "slate_tests.rs"]
mod tests;
