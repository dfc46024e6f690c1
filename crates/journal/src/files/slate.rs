//! The last lines of the log once more, in a file that does not grow. To make a line durable at the end of a file, a disk writes
//! it, and how long the file is now, and is waited for each time; in a file that stays as long as it is, the second is not needed.
//! So a process that stays writes its lines into the log and onto a slate of its own, and syncs the slate. The log is synced when
//! the slate is full, and whenever another process has written in between.
//!
//! Nobody reads a slate but after a power cut: what the log has lost is put back from it, before anybody reads the log.

use std::path::PathBuf;
use std::sync::Arc;

use querent_core::wire;
use serde::{Deserialize, Serialize};

use super::SlateOptions;
use super::disk::{DiskFile, Open};
use super::layout::Layout;
use super::place::Place;
use crate::Error;

/// A process's way to its slate.
pub(crate) struct Slate {
    options: SlateOptions,
    file: Option<Arc<dyn DiskFile>>,
    /// Up to where it is written on.
    at: usize,
    /// Up to where the log is durable once the slate is synced; nowhere, if others have written in between.
    end: Option<Place>,
    /// How many commits in a row were this process's own.
    run: u32,
    /// Whether there can be none.
    hopeless: bool,
}

/// What was written, and so what is to be synced.
pub(crate) enum Wrote {
    Nothing,
    /// The log alone.
    Log,
    /// The slate as well; it is enough to sync that.
    Slate(Arc<dyn DiskFile>),
}

/// What stands before lines on a slate. It bears a checksum of itself and of them.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The line before them.
    from: Place,
    length: usize,
    sum: u32,
}

impl Slate {
    pub(crate) fn new(options: SlateOptions) -> Self {
        Self { options, file: None, at: 0, end: None, run: 0, hopeless: false }
    }

    /// Writes lines on it that stand in the log after `from`, up to `to`. Under the lock of the log.
    pub(crate) fn note(&mut self, from: Place, to: Place, lines: &[u8]) -> Wrote {
        self.noted(from, to, lines).map_or(Wrote::Log, Wrote::Slate)
    }

    fn noted(&mut self, from: Place, to: Place, lines: &[u8]) -> Option<Arc<dyn DiskFile>> {
        let continues = self.end == Some(from);
        self.run = if continues { self.run.saturating_add(1) } else { 0 };
        self.end = None;
        let file = self.file.as_ref().filter(|_| continues)?;
        let text = serde_json::to_string(&Head { from, length: lines.len(), sum: crc32fast::hash(lines) }).ok()?;
        let body = text.strip_suffix('}')?;
        let mut record = format!("{body}{}", wire::seal(crc32fast::hash(body.as_bytes()))).into_bytes();
        record.extend_from_slice(lines);
        let next = self.at.checked_add(record.len()).filter(|next| *next <= self.options.length)?;
        file.write_all_at(&record, self.at as u64).ok()?;
        (self.at, self.end) = (next, Some(to));
        Some(Arc::clone(file))
    }

    /// The log itself is durable up to here, so what stands on the slate is not needed any more.
    pub(crate) fn wipe(&mut self, place: Place) {
        (self.at, self.end) = (0, Some(place));
    }

    /// Makes the file, once it is worth its while. Under the lock of the log.
    pub(crate) fn make(&mut self, layout: &Layout, log: &dyn DiskFile) {
        if self.file.is_none() && !self.hopeless && self.run >= self.options.after {
            self.file = make(layout, log, self.options.length);
            self.hopeless = self.file.is_none();
        }
    }

    /// It could not be synced, and nobody knows what is on the disk of it: the log is synced from now on.
    pub(crate) fn give_up(&mut self) {
        *self = Self { hopeless: true, ..Self::new(self.options) };
    }
}

/// A slate of this process: its lock says that it is somebody's. None where there can be none, or where the system does not tell
/// one boot from another: then nobody would know that the power was cut.
fn make(layout: &Layout, log: &dyn DiskFile, length: usize) -> Option<Arc<dyn DiskFile>> {
    let (disk, dir) = (layout.disk(), layout.slates());
    if disk.boot().is_empty() {
        return None;
    }
    disk.create_dir_all(&dir).ok()?;
    disk.sync_dir(&layout.journal()).ok()?;
    log.sync_data().ok()?;
    clear(layout);
    let path = (1..=u32::MAX).map(|number| dir.join(number.to_string())).find(|path| !disk.exists(path))?;
    let file = disk.open(&path, Open::CreateNew).ok()?;
    file.try_lock().ok()?;
    file.write_all_at(&vec![0; length], 0).ok()?;
    file.sync_data().ok()?;
    disk.sync_dir(&dir).ok()?;
    Some(Arc::from(file))
}

/// Removes the slates of those who are gone. The log must be durable; under its lock.
fn clear(layout: &Layout) {
    for path in slates(layout) {
        // What cannot be removed is read once more after a power cut, and found in the log.
        let free = layout.disk().open(&path, Open::Write).is_ok_and(|file| file.try_lock().is_ok());
        let _ = free.then(|| layout.disk().remove_file(&path));
    }
}

fn slates(layout: &Layout) -> Vec<PathBuf> {
    let dir = layout.slates();
    let names = if layout.has(&dir) { layout.disk().names(&dir).unwrap_or_default() } else { Vec::new() };
    names.into_iter().map(|name| dir.join(name)).collect()
}

/// Puts back into the log what a power cut took from it. Where none did, all of it is there. Under the lock of the log.
pub(crate) fn put_back(layout: &Layout) -> Result<(), Error> {
    if slates(layout).is_empty() {
        return Ok(());
    }
    for (from, lines) in records(layout) {
        let path = layout.segment(from.segment);
        if is_lost(layout, from, &lines) {
            let segment = layout.disk().open(&path, Open::Write).map_err(Error::io("open", &path))?;
            let written = segment.write_all_at(&lines, from.end).and_then(|()| segment.sync_data());
            written.map_err(Error::io("write", &path))?;
        }
    }
    let path = layout.last_segment();
    if layout.has(&path) {
        let segment = layout.disk().open(&path, Open::Read).map_err(Error::io("open", &path))?;
        segment.sync_data().map_err(Error::io("sync", &path))?;
        clear(layout);
    }
    Ok(())
}

/// Whether the log has lost lines that are to be put back.
pub(crate) fn has_lost(layout: &Layout) -> bool {
    records(layout).iter().any(|(from, lines)| is_lost(layout, *from, lines))
}

/// What stands on all slates, in the order of the log.
fn records(layout: &Layout) -> Vec<(Place, Vec<u8>)> {
    let mut found = Vec::new();
    for path in slates(layout) {
        let bytes = layout.disk().read(&path).unwrap_or_default();
        let mut rest = bytes.as_slice();
        while let Some((from, lines, after)) = record(rest) {
            found.push((from, lines.to_vec()));
            rest = after;
        }
    }
    found.sort_by_key(|(from, _)| from.seq);
    found
}

/// The first record: the line before its lines, these lines, and what comes after it.
fn record(bytes: &[u8]) -> Option<(Place, &[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(bytes.iter().position(|byte| *byte == b'\n')?)?;
    let (body, sum) = wire::unseal(head)?;
    let Head { from, length, sum: lines_sum } =
        (crc32fast::hash(body) == sum).then(|| serde_json::from_slice(head).ok())??;
    let (lines, after) = rest.get(1..)?.split_at_checked(length)?;
    (crc32fast::hash(lines) == lines_sum).then_some((from, lines, after))
}

/// Whether these lines belong after a line that the log has, and are not there. Where another line follows, the log is another one.
fn is_lost(layout: &Layout, from: Place, lines: &[u8]) -> bool {
    let Ok(segment) = layout.disk().open(&layout.segment(from.segment), Open::Read) else { return false };
    let mut there = vec![0; lines.len()];
    let mut done = 0;
    while let Ok(count @ 1..) = segment.read_at(&mut there[done..], from.end + done as u64) {
        done += count;
    }
    let first = |bytes: &[u8]| wire::peek(bytes.split(|byte| *byte == b'\n').next()?).ok().map(|head| head.crc);
    let follows = first(&there[..done]).is_none_or(|crc| Some(crc) == first(lines));
    from.is_in_segment(&*segment) && there != lines && follows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Script;
    use crate::files::{Ledgers, Options};
    use crate::{Files, Journal};

    /// A process that stays, on a project with an item, which has asked so often that it has a slate.
    fn busy(dir: &std::path::Path) -> Files {
        let files = Files::open(dir, Options { ledgers: Ledgers::OnDemand, ..Options::new("test") });
        Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
        for number in 0..24 {
            ask(&files, &format!("op-{number}"));
        }
        files
    }

    fn ask(files: &Files, operation: &str) {
        Script::new().unwrap().accept(files, operation, &Script::ask("42", "Which tea?").unwrap()).unwrap();
    }

    /// What the disk has of a project after a power cut that took all that the log was not synced for.
    fn after_a_cut(dir: &std::path::Path, kept: usize) -> (tempfile::TempDir, Vec<u8>) {
        let copy = tempfile::tempdir().unwrap();
        let layout = Layout::of(copy.path());
        let log = std::fs::read(Layout::of(dir).segment(1)).unwrap();
        std::fs::create_dir_all(layout.slates()).unwrap();
        std::fs::write(layout.segment(1), &log[..kept]).unwrap();
        for path in slates(&Layout::of(dir)) {
            std::fs::copy(&path, layout.slates().join(path.file_name().unwrap())).unwrap();
        }
        (copy, log)
    }

    /// Where the lines begin that stand on slates.
    fn beginning(dir: &std::path::Path) -> usize {
        usize::try_from(records(&Layout::of(dir))[0].0.end).unwrap()
    }

    #[test]
    fn a_process_that_wrote_often_has_a_slate_with_what_the_log_was_not_synced_for() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());

        let layout = Layout::of(dir.path());
        let log = std::fs::read(layout.segment(1)).unwrap();
        let noted: Vec<u8> = records(&layout).into_iter().flat_map(|(_, lines)| lines).collect();

        assert!(!noted.is_empty() && log.ends_with(&noted));
    }

    #[test]
    fn what_the_log_lost_is_put_back_wherever_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        let (begins, length) =
            (beginning(dir.path()), std::fs::metadata(Layout::of(dir.path()).segment(1)).unwrap().len());
        for kept in (begins..=usize::try_from(length).unwrap()).step_by(97) {
            let (copy, log) = after_a_cut(dir.path(), kept);

            // Its checkpoint is not there, as if it were of another boot.
            let opened = Files::open(copy.path(), Options::new("test"));
            let head = opened.read().unwrap().head();

            assert_eq!(head, files.read().unwrap().head(), "cut at {kept}");
            assert_eq!(std::fs::read(Layout::of(copy.path()).segment(1)).unwrap(), log);
            assert!(slates(&Layout::of(copy.path())).is_empty());
        }
    }

    #[test]
    fn a_hole_in_the_log_is_filled() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());
        let begins = beginning(dir.path());
        let (copy, log) = after_a_cut(dir.path(), begins);
        let mut holed = log.clone();
        holed[begins + 10..begins + 700].fill(0);
        std::fs::write(Layout::of(copy.path()).segment(1), &holed).unwrap();

        assert!(has_lost(&Layout::of(copy.path())));
        put_back(&Layout::of(copy.path())).unwrap();

        assert_eq!(std::fs::read(Layout::of(copy.path()).segment(1)).unwrap(), log);
    }

    #[test]
    fn lines_of_another_process_are_synced_in_the_log_and_nothing_is_put_over_them() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        ask(&Files::open(dir.path(), Options::new("other")), "op-other");
        ask(&files, "op-after");

        let noted = records(&Layout::of(dir.path()));
        let log = std::fs::read(Layout::of(dir.path()).segment(1)).unwrap();
        assert!(noted.iter().all(|(from, lines)| !log[usize::try_from(from.end).unwrap() + lines.len()..].is_empty()));
        put_back(&Layout::of(dir.path())).unwrap();

        assert_eq!(std::fs::read(Layout::of(dir.path()).segment(1)).unwrap(), log);
    }

    #[test]
    fn a_log_that_is_another_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());
        let (copy, _) = after_a_cut(dir.path(), 0);
        let other = Files::open(copy.path(), Options::new("other"));
        Script::new().unwrap().accept(&other, "op-open", &Script::open("43").unwrap()).unwrap();
        let log = std::fs::read(Layout::of(copy.path()).segment(1)).unwrap();

        put_back(&Layout::of(copy.path())).unwrap();

        assert_eq!(std::fs::read(Layout::of(copy.path()).segment(1)).unwrap(), log);
    }
}
