//! Clients under way: the scripts in `xtask/e2e/mcp/`, which say what happens in lines of JSON, and the inspector.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{PACKAGES, PYTHON};
use crate::cache::Cache;
use crate::e2e::process::{end_group, own_group, send_lines};
use crate::e2e::project::hold;

/// How long a client may take.
const LIMIT: Duration = Duration::from_mins(2);

/// How often it is seen whether another program still runs.
const LOOK: Duration = Duration::from_millis(100);

const TYPESCRIPT: &str = include_str!("../../../e2e/mcp/client.mjs");

/// An official client, driven by a script.
#[derive(Clone, Copy)]
pub(super) enum Driver {
    TypeScript,
    Python,
}

impl Driver {
    /// What runs the script. Node is the one that is installed with the packages, where there is one.
    pub(super) fn program(self, cache: &Cache) -> PathBuf {
        match self {
            Self::TypeScript => PathBuf::from("node"),
            Self::Python => PYTHON.python(cache),
        }
    }

    /// The script. Node looks for packages beside it, so it is copied there.
    pub(super) fn script(self, cache: &Cache) -> Result<PathBuf, String> {
        match self {
            Self::TypeScript => {
                let script = cache.path().join(PACKAGES.folder).join("client.mjs");
                fs::write(&script, TYPESCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
                Ok(script)
            }
            Self::Python => Ok(crate::root().join("xtask/e2e/mcp/client.py")),
        }
    }
}

/// A client in a process group of its own. It is ended when this is dropped.
pub(super) struct Client {
    group: u32,
    deadline: Instant,
    lines: Receiver<String>,
    ended: Receiver<ExitStatus>,
    errors: PathBuf,
    has_ended: bool,
}

impl Client {
    /// Starts `command`, whose errors go to the file `errors`.
    pub(super) fn start(mut command: Command, errors: PathBuf) -> Result<Self, String> {
        let what = command.get_program().to_string_lossy().into_owned();
        let failed = |error| format!("{what}: {error}");
        let file = fs::File::create(&errors).map_err(failed)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        own_group(&mut command);
        let mut child = command.spawn().map_err(failed)?;
        let (group, deadline) = (child.id(), Instant::now() + LIMIT);
        let (line, lines) = channel();
        let (end, ended) = channel();
        if let Some(stdout) = child.stdout.take() {
            send_lines(stdout, line, |line| line);
        }
        thread::spawn(move || {
            if let Ok(status) = child.wait() {
                // Nobody listens any more if the case is over.
                let _ = end.send(status);
            }
        });
        Ok(Self { group, deadline, lines, ended, errors, has_ended: false })
    }

    /// The next line of its output; none at its end.
    pub(super) fn line(&self) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(self.left()) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(self.late()),
        }
    }

    /// Waits for a line of its output that `is_it`, as long as `other` runs.
    pub(super) fn wait_for(&self, is_it: impl Fn(&str) -> bool, other: &mut Self) -> Result<(), String> {
        loop {
            match self.lines.recv_timeout(LOOK.min(self.left())) {
                Ok(line) if is_it(&line) => return Ok(()),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(format!("it ended: {}", self.errors())),
                Err(RecvTimeoutError::Timeout) if self.left().is_zero() => return Err(self.late()),
                Err(RecvTimeoutError::Timeout) => {
                    other.has_ended |= other.ended.try_recv().is_ok();
                    hold(!other.has_ended, || format!("the other ended before: {}", other.errors()))?;
                }
            }
        }
    }

    /// The rest of its output, when it has ended well.
    pub(super) fn finish(mut self) -> Result<String, String> {
        let mut output = String::new();
        while let Some(line) = self.line()? {
            output = output + &line + "\n";
        }
        let status = self.ended.recv_timeout(self.left()).map_err(|_| self.late())?;
        self.has_ended = true;
        hold(status.success(), || format!("it ended with {status}: {output}\n{}", self.errors()))?;
        Ok(output)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn late(&self) -> String {
        format!("it takes more than {LIMIT:?}: {}", self.errors())
    }

    fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !self.has_ended {
            end_group(self.group);
        }
    }
}
