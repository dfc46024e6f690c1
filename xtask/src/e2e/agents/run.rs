//! A program under way, its model and its project: one queue for what happens, so that nobody waits in vain.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::e2e::process::{end_group, own_group, send_lines};
use crate::e2e::project::Project;

/// How long a program may take. It needs a few seconds; on a busy machine it starts slowly.
const LIMIT: Duration = Duration::from_mins(2);

/// Something that happened.
#[derive(Debug)]
pub(super) enum Event {
    /// A line of the journal.
    Recorded(Value),
    /// What the model was asked, and did.
    Moved(String),
    /// The program has ended.
    Ended(ExitStatus),
}

/// What happens, in the order in which it was noticed.
pub(super) struct Queue {
    pub(super) sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Queue {
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }
}

/// A program in a process group of its own. It is ended when this is dropped.
pub(super) struct Run<'a> {
    what: String,
    group: u32,
    log: PathBuf,
    deadline: Instant,
    queue: &'a Queue,
    _follower: Follower,
    has_ended: bool,
}

/// What a program left.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl<'a> Run<'a> {
    /// Starts `command`; its output goes to files below `log`.
    pub(super) fn start(mut command: Command, log: &Path, project: &Project, queue: &'a Queue) -> Result<Self, String> {
        let follower = Follower::start(project, queue.sender.clone())?;
        let file = |name: &str| File::create(log.join(name)).map_err(|error| format!("{name}: {error}"));
        command.stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
        own_group(&mut command);
        let what = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{what}: {error}"))?;
        let (group, sender) = (child.id(), queue.sender.clone());
        thread::spawn(move || {
            if let Ok(status) = child.wait() {
                // Nobody listens any more if the case is over.
                let _ = sender.send(Event::Ended(status));
            }
        });
        let (log, deadline) = (log.to_owned(), Instant::now() + LIMIT);
        Ok(Self { what, group, log, deadline, queue, _follower: follower, has_ended: false })
    }

    /// Waits for an event, while the program runs.
    pub(super) fn wait_for(&mut self, what: &str, is_it: impl Fn(&Event) -> bool) -> Result<(), String> {
        loop {
            match self.next()? {
                Event::Ended(status) => return Err(format!("it ended with {status} before {what}; {}", self.output())),
                event if is_it(&event) => return Ok(()),
                _ => {}
            }
        }
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<Finished, String> {
        loop {
            if let Event::Ended(status) = self.next()? {
                return Ok(Finished { status, stdout: self.read("stdout"), stderr: self.read("stderr") });
            }
        }
    }

    fn next(&mut self) -> Result<Event, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let event = self.queue.receiver.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("{} takes more than {LIMIT:?}; {}", self.what, self.output()),
            RecvTimeoutError::Disconnected => format!("nothing is known of {}; {}", self.what, self.output()),
        })?;
        self.has_ended |= matches!(event, Event::Ended(_));
        Ok(event)
    }

    fn output(&self) -> String {
        format!("its stdout: {}\nits stderr: {}", self.read("stdout"), self.read("stderr"))
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.log.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            end_group(self.group);
        }
    }
}

/// A process that tells the queue what is written to the journal.
struct Follower(Child);

impl Follower {
    fn start(project: &Project, sender: Sender<Event>) -> Result<Self, String> {
        let mut child = project.command(&["events", "--follow"]).spawn().map_err(|error| error.to_string())?;
        let lines = child.stdout.take();
        let follower = Self(child);
        let lines = lines.ok_or("the journal cannot be followed")?;
        send_lines(lines, sender, |line| Event::Recorded(serde_json::from_str(&line).unwrap_or_default()));
        Ok(follower)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
