//! A log is durable only if its name is: also where somebody else made the file or its directory, and died. And only what this
//! process did not sync itself must be synced again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use querent_journal::conformance::Script;
use querent_journal::files::{Disk, DiskFile, Identity, Open, Options};
use querent_journal::{Files, Journal};

use crate::support::{options, script};

/// The system's disk, on which the names of some directories cannot be made durable; remembers those that were.
struct Watched {
    disk: Arc<dyn Disk>,
    fails: Mutex<Option<&'static str>>,
    synced: Mutex<Vec<String>>,
}

impl Watched {
    fn new(fails: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self { disk: options().disk, fails: Mutex::new(fails), synced: Mutex::default() })
    }

    fn fails(&self, what: &str) -> bool {
        *self.fails.lock().unwrap() == Some(what)
    }

    fn open_in(self: &Arc<Self>, dir: &Path) -> Files {
        Files::open(dir, Options { disk: Arc::clone(self) as Arc<dyn Disk>, ..options() })
    }
}

impl Disk for Watched {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let is_segment = path.parent().is_some_and(|dir| dir.ends_with("journal"));
        if self.fails("segment") && is_segment && how == Open::Read {
            return Err(io::Error::other("the disk cannot be read"));
        }
        self.disk.open(path, how)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(path, bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        self.disk.exists(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Identity> {
        self.disk.identity(path)
    }

    fn stat(&self, path: &Path) -> io::Result<(Identity, u64)> {
        self.disk.stat(path)
    }

    fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.disk.names(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let name = dir.file_name().unwrap().to_str().unwrap();
        if self.fails(name) {
            return Err(io::Error::other("the process died"));
        }
        self.synced.lock().unwrap().push(name.to_owned());
        self.disk.sync_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.disk.exchange(one, other)
    }

    fn hard_link(&self, file: &Path, name: &Path) -> io::Result<()> {
        self.disk.hard_link(file, name)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }

    fn boot(&self) -> String {
        self.disk.boot()
    }
}

#[test]
fn names_that_another_process_left_before_they_were_durable_are_made_so() {
    for (fails, left) in [("project", &["project", "journal"][..]), ("journal", &["journal"])] {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let dying = Watched::new(Some(fails)).open_in(&project);
        script().send(&dying, "op-1", &Script::open("42").unwrap()).unwrap_err();
        drop(dying);

        let next = Watched::new(None);
        script().accept(&next.open_in(&project), "op-2", &Script::open("42").unwrap()).unwrap();

        assert_eq!(*next.synced.lock().unwrap(), left, "{fails}");
    }
}

#[test]
fn a_directory_that_a_watch_made_is_made_durable_by_the_first_writer() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let disk = Watched::new(None);
    let files = disk.open_in(&project);
    let _watch = files.watch(Arc::new(|| {})).unwrap();

    script().accept(&files, "op-1", &Script::open("42").unwrap()).unwrap();

    assert_eq!(*disk.synced.lock().unwrap(), ["project", "journal"]);
}

#[test]
fn names_that_are_durable_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    script().accept(&Watched::new(None).open_in(&project), "op-1", &Script::open("42").unwrap()).unwrap();

    let next = Watched::new(None);
    script().accept(&next.open_in(&project), "op-2", &Script::open("43").unwrap()).unwrap();

    assert!(next.synced.lock().unwrap().is_empty());
}

#[test]
fn what_one_synced_itself_is_not_synced_again_and_what_another_wrote_is_once_it_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let other = Watched::new(None).open_in(dir.path());
    script().accept(&other, "op-1", &Script::open("42").unwrap()).unwrap();
    let disk = Watched::new(None);
    let own = disk.open_in(dir.path());
    // To sync what others wrote, it opens the segment; where that fails, it is seen whether it tries.
    let sync = || {
        own.read().unwrap();
        *disk.fails.lock().unwrap() = Some("segment");
        let synced = own.sync();
        *disk.fails.lock().unwrap() = None;
        synced
    };
    sync().unwrap_err();

    script().accept(&own, "op-2", &Script::open("43").unwrap()).unwrap();
    sync().unwrap();

    script().accept(&other, "op-3", &Script::open("44").unwrap()).unwrap();
    own.sync().unwrap();
    sync().unwrap_err();
}
