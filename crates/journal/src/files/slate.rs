//! The last lines of the log once more, in a file that does not grow. To make a line durable at the end of a file, a disk writes
//! it, and how long the file is now, and is waited for each time; in a file that stays as long as it is, the second is not needed.
//! So lines are written into the log and onto the slate, which all processes share, and the slate is synced. The log is synced
//! when the slate is full, and when somebody wrote lines that are not on it; then it begins anew.
//!
//! Nobody reads the slate but after a power cut: what the log has lost is put back from it, before anybody reads the log.

use std::sync::Arc;

use querent_core::wire;
use serde::{Deserialize, Serialize};

use super::SlateOptions;
use super::disk::{DiskFile, Identity, Open};
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
    /// How often this process has written.
    commits: u32,
    /// Whether there can be none.
    hopeless: bool,
}

struct Opened {
    file: Arc<dyn DiskFile>,
    identity: Identity,
    length: u64,
}

/// What must be synced so that the log is durable; nothing if it is.
pub(crate) type Due = Option<(Arc<dyn DiskFile>, Target)>;

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
        Self { options, boot: String::new(), opened: None, commits: 0, hopeless: false }
    }

    /// Writes lines on it that were just added to the log, after `from`; there may be none. Under the lock of the log.
    pub(crate) fn note(&mut self, layout: &Layout, log: &Log, from: Place, lines: &[u8]) -> Result<Due, Error> {
        let segment = log.file();
        self.commits = self.commits.saturating_add(u32::from(!lines.is_empty()));
        self.open(layout, &*segment);
        let in_log = Target { file: log.identity(), part: log.place.segment.into() };
        let Some(Opened { file, identity, length }) = &self.opened else { return Ok(Some((segment, in_log))) };
        let head = read_head(&**file).filter(|head| head.boot == self.boot);
        let room = head.and_then(|Head { base, .. }| Some((base, room(&**file, *length, base, from, lines.len())?)));
        if let Some((base, at)) = room {
            let due = (Arc::clone(file), Target { file: *identity, part: base.seq });
            if file.write_all_at(lines, at).is_ok() {
                return Ok(Some(due));
            }
            self.give_up();
            return Ok(Some((segment, in_log)));
        }
        if lines.is_empty() {
            return Ok(Some((segment, in_log)));
        }
        // From here on, whoever writes on it relies on this.
        segment.sync_data().map_err(Error::io("sync", &layout.segment(from.segment)))?;
        if write_head(&**file, &Head { base: log.place, boot: self.boot.clone() }).is_err() {
            self.give_up();
        }
        Ok(None)
    }

    /// It cannot be relied on: the log is synced from now on.
    pub(crate) fn give_up(&mut self) {
        if let Some(Opened { file, .. }) = self.opened.take() {
            // Others must not rely on it either.
            let _ = file.write_all_at(&[0; HEAD_TEXT], 0);
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
        self.boot = layout.disk().boot();
        self.hopeless = self.boot.is_empty();
        let there = || usable(layout.disk().open(&layout.slate(), Open::Write).ok()?);
        self.opened = if self.hopeless { None } else { there() };
        if self.opened.is_none() && !self.hopeless && self.commits > self.options.after {
            self.opened = make(layout, log, self.options.length);
            self.hopeless = self.opened.is_none();
        }
    }
}

fn usable(file: Box<dyn DiskFile>) -> Option<Opened> {
    let (identity, length) = (file.identity().ok()?, file.length().ok()?);
    (length > HEAD as u64).then(|| Opened { file: Arc::from(file), identity, length })
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
    usable(file)
}

/// Where lines after `from` belong, if those before them are on the slate and they fit.
fn room(slate: &dyn DiskFile, length: u64, base: Place, from: Place, needed: usize) -> Option<u64> {
    let at = (HEAD as u64).checked_add(from.end.checked_sub(base.end)?)?;
    let follows = from == base || (from.segment == base.segment && from.ends_at(slate, at));
    (follows && at + needed as u64 <= length).then_some(at)
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
    let mut bytes = [0; HEAD_TEXT];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let text = bytes.trim_ascii_end();
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
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::conformance::Script;
    use crate::files::{Ledgers, Options};
    use crate::{Files, Journal};

    fn stays() -> Options {
        Options { ledgers: Ledgers::OnDemand, ..Options::new("test") }
    }

    /// A process that stays, on a project with an item, which has asked so often that there is a slate.
    fn busy(dir: &Path) -> Files {
        let files = Files::open(dir, stays());
        Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
        for number in 0..24 {
            ask(&files, &format!("op-{number}"));
        }
        files
    }

    fn ask(files: &Files, operation: &str) {
        Script::new().unwrap().accept(files, operation, &Script::ask("42", "Which tea?").unwrap()).unwrap();
    }

    fn log(dir: &Path) -> Vec<u8> {
        fs::read(Layout::of(dir).segment(1)).unwrap()
    }

    fn head(dir: &Path) -> Head {
        read_head(&fs::File::open(Layout::of(dir).slate()).unwrap()).unwrap()
    }

    /// Where the lines begin that stand on the slate.
    fn beginning(dir: &Path) -> usize {
        usize::try_from(head(dir).base.end).unwrap()
    }

    /// What stands on it.
    fn noted(dir: &Path) -> Vec<u8> {
        let bytes = fs::read(Layout::of(dir).slate()).unwrap();
        good_lines(&bytes[HEAD..], head(dir).base.seq).to_vec()
    }

    /// What the disk has of a project after a power cut that left this of the log.
    fn after_a_cut(dir: &Path, log: &[u8]) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let layout = Layout::of(copy.path());
        fs::create_dir_all(layout.slate().parent().unwrap()).unwrap();
        fs::write(layout.segment(1), log).unwrap();
        fs::copy(Layout::of(dir).slate(), layout.slate()).unwrap();
        let slate = fs::OpenOptions::new().write(true).open(layout.slate()).unwrap();
        write_head(&slate, &Head { boot: "before".to_owned(), ..head(dir) }).unwrap();
        copy
    }

    /// With the next line the log is synced, and the one after it is the slate's first.
    fn begins_anew(files: &Files, dir: &Path) {
        ask(files, "op-synced");
        let base = log(dir).len();
        ask(files, "op-after");

        assert_eq!(beginning(dir), base, "the log was synced up to here");
        assert_eq!(noted(dir), log(dir)[base..]);
    }

    #[test]
    fn what_was_written_since_the_log_was_synced_stands_on_the_slate() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());

        assert!(!noted(dir.path()).is_empty());
        assert_eq!(noted(dir.path()), log(dir.path())[beginning(dir.path())..]);
    }

    #[test]
    fn processes_write_on_one_slate() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        let base = beginning(dir.path());
        ask(&Files::open(dir.path(), stays()), "op-stays");
        ask(&Files::open(dir.path(), Options::new("once")), "op-once");
        ask(&files, "op-after");

        assert_eq!(beginning(dir.path()), base, "the log was not synced");
        assert_eq!(noted(dir.path()), log(dir.path())[base..]);
    }

    #[test]
    fn after_lines_that_are_not_on_it_it_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        let aside = dir.path().join("aside");
        fs::rename(Layout::of(dir.path()).slate(), &aside).unwrap();
        ask(&Files::open(dir.path(), Options::new("without")), "op-without");
        fs::rename(&aside, Layout::of(dir.path()).slate()).unwrap();

        begins_anew(&files, dir.path());
    }

    #[test]
    fn one_that_was_deleted_is_made_anew_and_the_log_is_synced() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        fs::remove_dir_all(Layout::of(dir.path()).slate().parent().unwrap()).unwrap();

        begins_anew(&files, dir.path());
    }

    #[test]
    fn a_log_that_was_put_in_order_is_synced_by_who_writes_next() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        files.repair().unwrap();

        begins_anew(&files, dir.path());
    }

    #[test]
    fn a_slate_that_is_full_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let slate = SlateOptions { after: 0, length: HEAD + 3_000 };
        let files = Files::open(dir.path(), Options { slate, ..stays() });
        Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
        for number in 0..24 {
            ask(&files, &format!("op-{number}"));
            assert!(log(dir.path())[beginning(dir.path())..].starts_with(&noted(dir.path())));
            assert_eq!(fs::metadata(Layout::of(dir.path()).slate()).unwrap().len(), 3_000 + HEAD as u64);
        }

        assert!(beginning(dir.path()) > 3_000);
    }

    #[test]
    fn what_the_log_lost_is_put_back_wherever_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let files = busy(dir.path());
        let whole = log(dir.path());
        for kept in (beginning(dir.path())..=whole.len()).step_by(97) {
            let copy = after_a_cut(dir.path(), &whole[..kept]);

            let opened = Files::open(copy.path(), Options::new("test"));

            assert_eq!(opened.read().unwrap().head(), files.read().unwrap().head(), "cut at {kept}");
            assert_eq!(log(copy.path()), whole);
            let slate = fs::read(Layout::of(copy.path()).slate()).unwrap();
            assert!(slate.iter().all(|byte| *byte == 0), "nothing is put back twice");
        }
    }

    #[test]
    fn a_hole_in_the_log_is_filled() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());
        let (begins, whole) = (beginning(dir.path()), log(dir.path()));
        let mut holed = whole.clone();
        holed[begins + 10..begins + 700].fill(0);
        let copy = after_a_cut(dir.path(), &holed);

        assert!(lost(&Layout::of(copy.path())).is_some());
        put_back(&Layout::of(copy.path())).unwrap();

        assert_eq!(log(copy.path()), whole);
    }

    #[test]
    fn without_a_power_cut_nothing_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        drop(busy(dir.path()));
        let (begins, layout) = (beginning(dir.path()), Layout::of(dir.path()));
        let older = &log(dir.path())[..begins];
        fs::write(layout.segment(1), older).unwrap();

        put_back(&layout).unwrap();

        assert_eq!(log(dir.path()), older, "somebody wanted it so");
    }

    #[test]
    fn a_log_that_is_another_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let _files = busy(dir.path());
        let other = tempfile::tempdir().unwrap();
        let others = Files::open(other.path(), Options::new("other"));
        Script::new().unwrap().accept(&others, "op-other", &Script::open("7").unwrap()).unwrap();
        let copy = after_a_cut(dir.path(), &log(other.path()));

        put_back(&Layout::of(copy.path())).unwrap();

        assert_eq!(log(copy.path()), log(other.path()));
    }
}
