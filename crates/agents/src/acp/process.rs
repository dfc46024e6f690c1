//! The agent's process: its own group, an environment by a list, and a gate before it begins.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::run::{Failure, FailureKind};

/// Becomes the program once it is told to. If whoever starts it dies before, it never does.
const GATE: &str = "read -r go && exec \"$@\"";

/// The variables that every program gets.
const ALWAYS: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];

/// How much of the end of what a program complains about is kept.
const TAIL: usize = 4096;

/// A program and its arguments, and the variables that it may see.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// As the config has it.
    pub(super) command: Vec<String>,
    /// The names of the variables that are passed on.
    pub(super) env: Vec<String>,
    /// Where a program is looked for that is named by a path.
    pub(super) root: PathBuf,
}

/// A program that was started. Its group is killed with it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Group,
    complaints: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    /// What must not be repeated of what it says.
    secrets: Vec<String>,
}

impl Program {
    /// Starts the program in a directory. It waits for a line on its input before it begins.
    pub(super) fn start(
        &self,
        directory: &Path,
        extra: &BTreeMap<String, String>,
    ) -> Result<(Process, ChildStdin, ChildStdout), Failure> {
        let unavailable = |message: String| Failure::new(FailureKind::Unavailable, message);
        let (name, arguments) =
            self.command.split_first().ok_or_else(|| unavailable("the provider names no `command`".to_owned()))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program =
            found(name, &self.root, &path).ok_or_else(|| unavailable(format!("the program `{name}` is not there")))?;
        let listed = ALWAYS.iter().copied().chain(self.env.iter().map(String::as_str));
        let passed: Vec<(String, OsString)> =
            listed.filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?))).collect();
        let mut command = Command::new("sh");
        command.args(["-c", GATE, "querent"]).arg(program).args(arguments).current_dir(directory);
        command.env_clear().envs(passed).envs(extra);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| unavailable(format!("`{name}` cannot be started: {error}")))?;
        let group = Group(child.id());
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let lost = || Failure::new(FailureKind::Broken, format!("`{name}` was started without its pipes"));
        let listener = tokio::spawn(listen(child.stderr.take().ok_or_else(lost)?, Arc::clone(&complaints)));
        let (stdin, stdout) = (child.stdin.take().ok_or_else(lost)?, child.stdout.take().ok_or_else(lost)?);
        Ok((Process { child, group, complaints, listener, secrets: self.secrets(extra) }, stdin, stdout))
    }

    /// The values that only this program should know.
    fn secrets(&self, extra: &BTreeMap<String, String>) -> Vec<String> {
        let passed = self.env.iter().filter_map(|name| std::env::var(name).ok());
        // Short ones are switches, and would blot out half of every sentence.
        passed.chain(extra.values().cloned()).filter(|value| value.len() >= 8).collect()
    }
}

impl Process {
    /// Its number, which is that of its group.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Asks all of the group to end.
    pub(super) fn ask_to_end(&self) {
        self.group.signal(Urgency::Please);
    }

    /// Kills whatever is left of the group.
    pub(super) async fn kill(mut self) {
        self.group.kill();
        let _ = self.child.kill().await;
    }

    /// Somebody's words on one line, of a bounded length, and without secrets.
    pub(super) fn harmless(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for secret in &self.secrets {
            words = words.replace(secret.as_str(), "***");
        }
        let words: Vec<&str> =
            words.split(|c: char| c.is_whitespace() || c.is_control()).filter(|it| !it.is_empty()).collect();
        words.join(" ").chars().take(300).collect()
    }

    /// The last line that it complained with, if it did. Whoever it started may go on complaining, so there is a limit.
    pub(super) async fn last_words(&mut self, limit: Duration) -> Option<String> {
        let _ = timeout(limit, &mut self.listener).await;
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&complaints);
        text.lines().rev().map(|line| self.harmless(line)).find(|line| !line.is_empty())
    }
}

/// The group of a process, by its number.
#[derive(Debug)]
struct Group(Option<u32>);

#[derive(Clone, Copy, Debug)]
enum Urgency {
    Please,
    Now,
}

impl Group {
    /// Kills all of it.
    fn kill(&mut self) {
        self.signal(Urgency::Now);
        self.0 = None;
    }

    /// Tells all of it to end. Those that have ended already cannot be told, which is as good.
    #[cfg(unix)]
    fn signal(&self, urgency: Urgency) {
        use rustix::process::{Pid, Signal, kill_process_group};

        let signal = match urgency {
            Urgency::Please => Signal::TERM,
            Urgency::Now => Signal::KILL,
        };
        if let Some(group) = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// There are no groups here: the process itself is killed by its handle.
    #[cfg(not(unix))]
    fn signal(&self, _: Urgency) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Keeps the end of what a program complains about, so that it can go on complaining.
async fn listen(mut stderr: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..read]);
        let excess = kept.len().saturating_sub(TAIL);
        kept.drain(..excess);
    }
}

/// Where a program is: below the project if it is named by a path, else wherever the search path says.
fn found(name: &str, root: &Path, path: &OsStr) -> Option<PathBuf> {
    let is_path = name.contains('/');
    let places: Vec<PathBuf> = if is_path { vec![root.to_path_buf()] } else { std::env::split_paths(path).collect() };
    places.into_iter().map(|place| place.join(name)).find(|program| program.is_file())
}
