//! Every engine, in every way of running it, keeps the promises of the conformance suite.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Arc;

use querent_core::{ComponentName, Envelope, Record};
use querent_journal::conformance::violations;
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Beat, Error, Files, Journal, Memory, Pulse, Snapshot, Update, Wake, Watch};
use tempfile::TempDir;

#[test]
fn memory_keeps_every_promise() {
    keeps_every_promise(&|| Arc::new(Memory::new()));
}

#[test]
fn files_keep_every_promise_with_prompt_ledgers() {
    files_keep_every_promise(|options| options);
}

#[test]
fn files_keep_every_promise_with_deferred_ledgers() {
    files_keep_every_promise(|options| Options { ledgers: Ledgers::Deferred, ..options });
}

#[test]
fn files_keep_every_promise_while_segments_roll_all_the_time() {
    files_keep_every_promise(|options| Options { segment_limit: 1, ..options });
    files_keep_every_promise(|options| Options { segment_limit: 1_500, ledgers: Ledgers::Deferred, ..options });
}

#[test]
fn files_keep_every_promise_when_every_call_comes_from_a_fresh_process() {
    keeps_every_promise(&|| {
        let dir = tempfile::tempdir().unwrap();
        Arc::new(Reopened { options: Options::new("suite"), path: dir.path().to_owned(), _dir: dir })
    });
}

#[test]
fn files_keep_every_promise_when_fresh_processes_roll_segments() {
    keeps_every_promise(&|| {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { segment_limit: 1_500, ..Options::new("suite") };
        Arc::new(Reopened { options, path: dir.path().to_owned(), _dir: dir })
    });
}

fn files_keep_every_promise(how: impl Fn(Options) -> Options) {
    keeps_every_promise(&|| {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), how(Options::new("suite")));
        Arc::new(Kept { files, _dir: dir })
    });
}

fn keeps_every_promise(fresh: &dyn Fn() -> Arc<dyn Journal>) {
    assert_eq!(violations(fresh), Vec::<String>::new());
}

/// A journal that takes its directory with it when it goes.
struct Kept {
    files: Files,
    _dir: TempDir,
}

impl Journal for Kept {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        self.files.update(update)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        self.files.read()
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        self.files.records(since, each)
    }

    fn sync(&self) -> Result<(), Error> {
        self.files.sync()
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        self.files.beat(beat)
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        self.files.beats(pulse)
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        self.files.still(pulse, name)
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        self.files.watch(wake)
    }
}

/// A journal that is opened anew for every call, as one command line after the other does it.
struct Reopened {
    options: Options,
    path: PathBuf,
    _dir: TempDir,
}

impl Reopened {
    fn open(&self) -> Files {
        Files::open(&self.path, self.options.clone())
    }
}

impl Journal for Reopened {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        self.open().update(update)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        // What it reads through must outlive it; a test may leak that.
        Box::leak(Box::new(self.open())).read()
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        self.open().records(since, each)
    }

    fn sync(&self) -> Result<(), Error> {
        self.open().sync()
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        self.open().beat(beat)
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        self.open().beats(pulse)
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        self.open().still(pulse, name)
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        self.open().watch(wake)
    }
}
