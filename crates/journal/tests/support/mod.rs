//! What the tests of the files engine share: a small project on disk, and processes that can be killed.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;

use querent_core::{Command, Item, ItemId, Question, Shared, State};
use querent_journal::conformance::{Script, verify};
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Files, Journal, Which};
use tempfile::TempDir;

/// A project's `.querent/`, and what was acknowledged in it.
pub(crate) struct Project {
    dir: TempDir,
    said: Vec<Said>,
}

/// A command that was acknowledged.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) operation: String,
    pub(crate) command: Command,
    pub(crate) reply: String,
}

impl Project {
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), said: Vec::new() }
    }

    /// Item 41 with nothing asked; 42 with a question open, one settled and one that a human must answer; 43 ended.
    pub(crate) fn with_some_work(options: &Options) -> Self {
        let mut project = Self::empty();
        let files = Files::open(project.path(), options.clone());
        for item in ["41", "42", "43"] {
            project.say(&files, &format!("open-{item}"), &Script::open(item).unwrap());
        }
        project.say(&files, "ask-1", &Script::ask("42", "Which bank?").unwrap());
        project.say(&files, "ask-2", &Script::ask("42", "Which door?").unwrap());
        project.say(&files, "answer-2", &Script::answer(&id("CLR-42-002"), "the left one"));
        project.say(&files, "ask-43", &Script::ask("43", "Which key?").unwrap());
        project.say(&files, "prefer-43", &Script::prefer("43", "Which colour?").unwrap());
        let answer = Script::answer(&id("CLR-43-002"), "blue");
        let reply = script().learning().accept(&files, "answer-43", &answer).unwrap().as_str().to_owned();
        project.said.push(Said { operation: "answer-43".to_owned(), command: answer, reply });
        project.say(&files, "strict-43", &Script::ask_strictly("43", "Which mode?").unwrap());
        project.say(&files, "end-43", &Script::end("43").unwrap());
        project.say(&files, "ask-3", &Script::ask_human("42", "Which day?").unwrap());
        drop(files);
        project
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// As a process opens it that does one thing. It does not wait for the lock: whoever must wait has lost.
    pub(crate) fn open(&self) -> Files {
        Files::open(self.path(), options())
    }

    /// Sends a command that must be accepted, and remembers it.
    pub(crate) fn say(&mut self, files: &Files, operation: &str, command: &Command) -> String {
        let reply = script().accept(files, operation, command).unwrap().as_str().to_owned();
        self.said.push(Said { operation: operation.to_owned(), command: command.clone(), reply: reply.clone() });
        reply
    }

    /// The same project in another directory, as it is now on disk.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self { dir: tempfile::tempdir().unwrap(), said: self.said.clone() };
        copy_dir(self.path(), copy.path());
        copy
    }

    /// Whatever was acknowledged is there once, and is answered with the same bytes when it is sent again.
    pub(crate) fn remembers_all_that_was_acknowledged(&self) {
        let files = self.open();
        let before = verify(&files).unwrap();
        for said in &self.said {
            let recorded = before
                .iter()
                .any(|record| record.operation_id.as_ref().is_some_and(|id| id.as_str() == said.operation));
            assert!(recorded, "{} is lost", said.operation);
            let again = script().send(&files, &said.operation, &said.command).unwrap();
            assert_eq!(again.as_str(), said.reply, "{} is answered in other words", said.operation);
        }
        assert_eq!(verify(&files).unwrap(), before, "a replay has done something");
    }

    /// Everything that is derived follows from the log.
    pub(crate) fn is_sound(&self) {
        assert_eq!(self.open().examine().unwrap(), [], "{}", self.path().display());
        verify(&self.open()).unwrap();
    }
}

/// Items and questions, which items are active, and what is shared, as a reader sees them.
pub(crate) type Everything = (Vec<(Item, Vec<Question>)>, Vec<ItemId>, [State; Shared::ALL.len()]);

/// Everything that can be listed.
pub(crate) fn everything(files: &Files) -> Everything {
    let snapshot = files.read().unwrap();
    let items = snapshot.items(Which::All).unwrap().into_iter().map(|id| {
        let item = Arc::unwrap_or_clone(snapshot.item(&id).unwrap().unwrap());
        let questions = (1..=item.asked).map(|n| snapshot.question(&item.question_id(n)).unwrap().unwrap());
        let questions = questions.map(Arc::unwrap_or_clone).collect();
        (item, questions)
    });
    let shared = Shared::ALL.map(|which| Arc::unwrap_or_clone(snapshot.shared(which).unwrap()));
    (items.collect(), snapshot.items(Which::Active).unwrap(), shared)
}

pub(crate) fn script() -> Script {
    Script::new().unwrap()
}

/// Without patience.
pub(crate) fn options() -> Options {
    Options { patience: Duration::ZERO, ..Options::new("test") }
}

pub(crate) fn deferred() -> Options {
    Options { ledgers: Ledgers::Deferred, ..options() }
}

pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// This test program again, as a process of its own that runs one test: the part of a child.
pub(crate) fn child(test: &str, dir: &Path) -> Process {
    let mut process = Process::new(std::env::current_exe().unwrap());
    process.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    process.env(DIR, dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    process
}

/// The directory that a child was given; nothing if this is no child.
pub(crate) fn given_dir() -> Option<std::path::PathBuf> {
    std::env::var_os(DIR).map(Into::into)
}

const DIR: &str = "QUERENT_TEST_DIR";

/// Ends this process as the system does when it has no mercy.
pub(crate) fn kill_myself() -> ! {
    let _ = Process::new("sh").args(["-c", &format!("kill -9 {}", std::process::id())]).status();
    loop {
        std::thread::park();
    }
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    /// The seed is `QUERENT_TEST_SEED`, or a fixed one.
    pub(crate) fn new() -> (Self, u64) {
        let given = std::env::var("QUERENT_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or(20_260_131);
        (Self(seed), seed)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
