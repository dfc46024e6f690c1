//! A program under way, and what happens in the project meanwhile: one queue for both, so that nobody waits in vain.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::e2e::project::Project;

/// How long a program may take. It needs a few seconds; on a busy machine it starts slowly.
const LIMIT: Duration = Duration::from_mins(2);

/// A program in a process group of its own. It is ended when this is dropped.
pub(super) struct Run {
    what: String,
    group: u32,
    log: PathBuf,
    deadline: Instant,
    events: Receiver<Event>,
    follower: Option<Child>,
    status: Option<ExitStatus>,
}

enum Event {
    /// A line of the journal.
    Recorded(Value),
    /// The program has ended.
    Ended(ExitStatus),
}

/// What a program left.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Run {
    /// Starts `command`; its output goes to files below `log`.
    pub(super) fn start(mut command: Command, log: &Path, project: &Project) -> Result<Self, String> {
        let (sender, events) = channel();
        let follower = follow(project, sender.clone())?;
        let file = |name: &str| File::create(log.join(name)).map_err(|error| format!("{name}: {error}"));
        command.stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
        own_group(&mut command);
        let what = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{what}: {error}"))?;
        let group = child.id();
        thread::spawn(move || {
            if let Ok(status) = child.wait() {
                // Nobody listens any more if the case is over.
                let _ = sender.send(Event::Ended(status));
            }
        });
        let (log, deadline) = (log.to_owned(), Instant::now() + LIMIT);
        Ok(Self { what, group, log, deadline, events, follower: Some(follower), status: None })
    }

    /// Waits for an event of this type in the project's journal.
    pub(super) fn wait_for(&mut self, kind: &str) -> Result<Value, String> {
        loop {
            match self.next()? {
                Event::Recorded(record) if record["type"] == kind => return Ok(record),
                Event::Recorded(_) => {}
                Event::Ended(status) => {
                    self.status = Some(status);
                    return Err(format!("it ended with {status} before `{kind}`; {}", self.output()));
                }
            }
        }
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<Finished, String> {
        let status = loop {
            if let Event::Ended(status) = self.next()? {
                break status;
            }
        };
        self.status = Some(status);
        Ok(Finished { status, stdout: self.read("stdout"), stderr: self.read("stderr") })
    }

    fn next(&mut self) -> Result<Event, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.events.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("{} takes more than {LIMIT:?}; {}", self.what, self.output()),
            RecvTimeoutError::Disconnected => format!("nothing is known of {}; {}", self.what, self.output()),
        })
    }

    fn output(&self) -> String {
        format!("its stdout: {}\nits stderr: {}", self.read("stdout"), self.read("stderr"))
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.log.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.status.is_none() {
            // The group that was started here, and nothing else.
            let group = format!("-{}", self.group);
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        }
        if let Some(mut follower) = self.follower.take() {
            let _ = follower.kill().and_then(|()| follower.wait());
        }
    }
}

/// Sends every line of the journal from now on.
fn follow(project: &Project, sender: Sender<Event>) -> Result<Child, String> {
    let mut follower = project.command(&["events", "--follow"]).spawn().map_err(|error| error.to_string())?;
    let lines = follower.stdout.take().ok_or("the journal cannot be followed")?;
    thread::spawn(move || {
        for line in BufReader::new(lines).lines().map_while(Result::ok) {
            let record = serde_json::from_str(&line).unwrap_or_default();
            if sender.send(Event::Recorded(record)).is_err() {
                return;
            }
        }
    });
    Ok(follower)
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}
