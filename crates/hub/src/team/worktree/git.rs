//! Calls of git that nothing around them can sway: no variable, no hook, no prompt, and no lock that is held for a moment.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use querent_core::{Code, Refusal};
use serde_json::json;

use super::seat::Seat;

/// What holds for every call, whatever the user has configured.
const ALWAYS: &[&str] = &[
    "core.hooksPath=/dev/null",
    // A daemon for each worktree, or a clean-up in the middle of the work, is what nobody waits for.
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "worktree.guessRemote=false",
    "worktree.useRelativePaths=false",
    "core.protectHFS=true",
    // A patch is applied as it is: the ends of lines belong to it.
    "apply.whitespace=nowarn",
    "apply.ignoreWhitespace=no",
    // What is reported as done is on the disk.
    "core.fsync=committed,reference",
    "core.fsyncMethod=batch",
];

/// What one call may have in arguments that are paths. Systems allow a few times as much.
const ROOM: usize = 64 * 1024;

/// The git program, and how long it is given to get a lock that somebody else has.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: PathBuf,
    pub(super) env: Vec<(&'static str, OsString)>,
    pub(super) patience: Duration,
}

impl Git {
    /// The first in `path`, which is a `PATH`.
    pub(super) fn find(path: Option<&OsStr>) -> Option<Self> {
        let program = std::env::split_paths(path?).map(|dir| dir.join("git")).find(|file| file.is_file())?;
        Some(Self { program, env: Vec::new(), patience: Duration::from_secs(10) })
    }

    /// A call that is made in `dir`.
    pub(super) fn at<'a>(&'a self, dir: &'a Path) -> Call<'a> {
        Call { git: self, dir, seat: None, index: None, held: None, config: Vec::new() }
    }
}

/// A call in the making.
#[derive(Clone)]
pub(super) struct Call<'a> {
    git: &'a Git,
    dir: &'a Path,
    seat: Option<&'a Seat>,
    index: Option<&'a Path>,
    held: Option<&'a File>,
    config: Vec<&'a str>,
}

impl<'a> Call<'a> {
    /// On a worktree, by its registration: what the tree says of it is in the hands of the agent that works there.
    pub(super) fn on(mut self, seat: &'a Seat) -> Self {
        self.seat = Some(seat);
        self
    }

    /// With an index of its own.
    pub(super) fn with_index(mut self, index: &'a Path) -> Self {
        self.index = Some(index);
        self
    }

    /// With further settings.
    pub(super) fn with(mut self, config: &[&'a str]) -> Self {
        self.config.extend_from_slice(config);
        self
    }

    /// Hands the lock on to git: if this process is killed, the lock is held until git has ended too.
    pub(super) fn holding(mut self, lock: &'a File) -> Self {
        self.held = Some(lock);
        self
    }

    /// What it prints. A lock of git's that somebody has is waited for, and one that a dead process left is taken away.
    pub(super) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, Failure> {
        let until = Instant::now() + self.git.patience;
        let mut pause = Duration::from_millis(2);
        loop {
            let failure = match self.once(args) {
                Err(failure) if failure.is_lock() && Instant::now() < until => failure,
                other => return other,
            };
            if !self.free(failure.lock()) {
                sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(100));
            }
        }
    }

    /// The same for any number of paths, in as many calls as it takes.
    pub(super) fn run_for<S: AsRef<OsStr>>(&self, args: &[&str], paths: &[S]) -> Result<Vec<u8>, Failure> {
        let mut printed = Vec::new();
        let mut rest = paths;
        while !rest.is_empty() {
            let mut room = ROOM;
            let fits = rest.iter().take_while(|path| {
                let left = room.checked_sub(path.as_ref().len() + 1);
                room = left.unwrap_or(0);
                left.is_some()
            });
            let (now, later) = rest.split_at(fits.count().max(1));
            let all: Vec<&OsStr> = args.iter().map(OsStr::new).chain(now.iter().map(AsRef::as_ref)).collect();
            printed.extend(self.run(&all)?);
            rest = later;
        }
        Ok(printed)
    }

    /// What it prints, as one line.
    pub(super) fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, Failure> {
        self.run(args).map(|printed| String::from_utf8_lossy(&printed).trim_end().to_owned())
    }

    /// Whether it ends well; the status 1 is git's way to say no.
    pub(super) fn says<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<bool, Failure> {
        match self.run(args) {
            Ok(_) => Ok(true),
            Err(failure) if failure.status == Some(1) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn once<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, Failure> {
        let output = self.command(args).and_then(|mut command| command.output());
        match output {
            Ok(output) if output.status.success() => Ok(output.stdout),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(Failure { status: output.status.code(), said })
            }
            Err(error) => Err(Failure { status: None, said: format!("git does not start: {error}") }),
        }
    }

    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> io::Result<Command> {
        let mut command = Command::new(&self.git.program);
        let theirs =
            std::env::vars_os().map(|(name, _)| name).filter(|name| name.as_encoded_bytes().starts_with(b"GIT_"));
        theirs.for_each(|name| {
            command.env_remove(name);
        });
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_LITERAL_PATHSPECS", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0").envs(self.git.env.iter().map(|(name, value)| (name, value)));
        if let Some(seat) = self.seat {
            command.env("GIT_DIR", &seat.admin).env("GIT_WORK_TREE", &seat.tree);
        }
        if let Some(index) = self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        for setting in ALWAYS.iter().chain(&self.config) {
            command.args(["-c", setting]);
        }
        let input = self.held.map(|lock| lock.try_clone().map(Stdio::from)).transpose()?;
        command.args(args).current_dir(self.dir).stdin(input.unwrap_or_else(Stdio::null));
        Ok(command)
    }

    /// Takes the lock away if it is the worktree's own and nobody's any more. Locks of the whole repository are others' too.
    fn free(&self, lock: Option<&Path>) -> bool {
        let (Some(seat), Some(lock)) = (self.seat, lock) else { return false };
        seat.locks().iter().any(|own| own == lock) && is_abandoned(lock, &seat.tree) && fs::remove_file(lock).is_ok()
    }
}

/// What git said when it did not do what it was asked to.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: Option<i32>,
    pub(super) said: String,
}

impl Failure {
    pub(super) fn says(&self, words: &str) -> bool {
        self.said.contains(words)
    }

    /// The line that says why.
    pub(super) fn reason(&self) -> &str {
        let lines = || self.said.lines().map(str::trim).filter(|line| !line.is_empty());
        let why = lines().find(|line| line.starts_with("error:") || line.starts_with("fatal:"));
        why.or_else(|| lines().next()).unwrap_or("it ended without a word")
    }

    pub(super) fn refusal(&self, doing: &str) -> Refusal {
        let reason = self.reason();
        let (code, hint) = if self.is_lock() {
            let hint = "wait for the git command that holds the lock; if none runs, delete the file that is named";
            (Code::LockTimeout, hint)
        } else if self.says("already used by worktree") || self.says("already checked out") {
            (Code::Conflict, "check out another branch there; if the place is gone, run: git worktree prune")
        } else {
            (Code::StorageError, "mend what git names, then try again")
        };
        Refusal::new(code, format!("git could not {doing}: {reason}"), hint).with(json!({ "git": self.said.trim() }))
    }

    /// Whether it is for the disk or a lock, and not for what was asked.
    pub(super) fn is_the_systems(&self) -> bool {
        let words = ["No space left", "Read-only file system", "Permission denied", "Input/output error"];
        self.status.is_none() || self.is_lock() || words.iter().any(|it| self.says(it))
    }

    fn is_lock(&self) -> bool {
        (self.says(".lock") && self.says("File exists"))
            || self.says("data is locked")
            // Another `worktree add`, of somebody else's, is half way.
            || (self.says("failed to read") && self.says("commondir"))
    }

    fn lock(&self) -> Option<&Path> {
        let (_, named) = self.said.split_once("Unable to create '")?;
        named.split_once("': File exists").map(|(path, _)| Path::new(path))
    }
}

/// Whether whoever made this lock is gone: it is not from just now, and no git works in `tree`. Where that cannot be seen, it is
/// somebody's.
pub(super) fn is_abandoned(lock: &Path, tree: &Path) -> bool {
    let made = || fs::metadata(lock).and_then(|it| it.modified()).ok();
    let before = made();
    let is_old = before.and_then(|it| it.elapsed().ok()).is_some_and(|age| age >= Duration::from_secs(2));
    is_old && git_works_in(tree) == Some(false) && made() == before
}

/// Git goes to the top of the worktree that it works on.
fn git_works_in(tree: &Path) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?;
    let mut places = processes.flatten().filter_map(|process| {
        let name = fs::read(process.path().join("comm")).ok()?;
        name.starts_with(b"git").then(|| fs::read_link(process.path().join("cwd")).ok())?
    });
    Some(places.any(|place| place.starts_with(tree)))
}
