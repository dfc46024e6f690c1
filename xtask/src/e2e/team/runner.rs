//! A `querent run` under way: what it tells is awaited, and it is ended with the case.

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::scene::Scene;
use crate::e2e::process::{end_group, own_group, send_lines};
use crate::e2e::project::hold;

/// How long one may take. It needs seconds; a machine may be busy.
const LIMIT: Duration = Duration::from_mins(3);

/// A runner in a process group of its own.
pub(in crate::e2e) struct Runner {
    child: Child,
    lines: Receiver<String>,
    /// All that it printed so far.
    pub(in crate::e2e) told: Vec<String>,
    deadline: Instant,
    has_ended: bool,
}

impl Runner {
    /// `querent run --json` with these arguments.
    pub(in crate::e2e) fn start(scene: &Scene, arguments: &[&str]) -> Result<Self, String> {
        Self::of(scene.project.command(&[&["run", "--json"], arguments].concat()))
    }

    /// A command that does so.
    pub(in crate::e2e) fn of(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        own_group(&mut command);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let (sender, lines) = channel();
        child.stdout.take().into_iter().for_each(|out| send_lines(out, sender.clone(), |line| line));
        child.stderr.take().into_iter().for_each(|err| send_lines(err, sender.clone(), |line| line));
        Ok(Self { child, lines, told: Vec::new(), deadline: Instant::now() + LIMIT, has_ended: false })
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a record of this type on an item.
    pub(in crate::e2e) fn wait_for(&mut self, item: &str, kind: &str) -> Result<Value, String> {
        self.wait_until(&format!("{kind} of {item}"), |record| record["stream"] == item && record["type"] == kind)
    }

    /// Waits until the item is moved to a stage.
    pub(super) fn wait_for_move(&mut self, item: &str, to: &str) -> Result<Value, String> {
        self.wait_until(&format!("{item} is {to}"), |record| record["stream"] == item && record["data"]["to"] == to)
    }

    fn wait_until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
        self.wait_for_line(what, |line| is_it(&read(line))).map(|line| read(&line))
    }

    /// Waits for a line.
    pub(super) fn wait_for_line(&mut self, what: &str, is_it: impl Fn(&str) -> bool) -> Result<String, String> {
        while let Some(line) = self.next()? {
            if is_it(&line) {
                return Ok(line);
            }
        }
        Err(format!("it ended before {what}: {}", self.told.join("\n")))
    }

    /// Tells it to stop, by a signal.
    pub(super) fn signal(&self, signal: &str) -> Result<(), String> {
        let told = Command::new("kill").args([signal, &self.id().to_string()]).status();
        hold(told.is_ok_and(|told| told.success()), || "the runner could not be told to stop".to_owned())
    }

    /// The most memory that it had at a time, in KiB.
    pub(super) fn memory(&self) -> Result<u64, String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).map_err(|error| error.to_string())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("no VmHWM in {status}"))
    }

    /// Waits for its end, which must be a good one; says how it saw it.
    pub(in crate::e2e) fn finish(mut self) -> Result<(String, Vec<String>), String> {
        let status = self.end()?;
        let told = std::mem::take(&mut self.told);
        let last: Value = told.last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        match last["data"]["ended"].as_str() {
            Some(ended) if status.success() => Ok((ended.to_owned(), told)),
            _ => Err(format!("the runner ended with {status}: {}", told.join("\n"))),
        }
    }

    /// Waits for its end, whatever that is.
    pub(super) fn end(&mut self) -> Result<ExitStatus, String> {
        while self.next()?.is_some() {}
        let status = self.child.wait().map_err(|error| error.to_string())?;
        self.has_ended = true;
        Ok(status)
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => {
                self.told.push(line.clone());
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(format!("it takes more than {LIMIT:?}: {}", self.told.join("\n"))),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if !self.has_ended {
            end_group(self.child.id());
            let _ = self.child.wait();
        }
    }
}
