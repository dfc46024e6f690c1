//! The agent's process, and the end of what it complains about.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::program::{Complaints, Ended, Group, Pipes, Program, Secrets, Start, Started};
use crate::run::Failure;

/// The longest of an agent's words that are repeated, in Unicode scalars.
const LONGEST: usize = 300;

/// An agent that was started. Its group is killed with it.
#[derive(Debug)]
pub(super) struct Process {
    number: u32,
    group: Group,
    /// None once it has ended.
    ended: Option<Ended>,
    /// How it ended, if that is known.
    status: Option<ExitStatus>,
    complaints: Arc<Mutex<Complaints>>,
    listener: JoinHandle<()>,
    /// What must not be repeated of what it says.
    secrets: Secrets,
}

impl Process {
    /// Starts the program in a directory. It waits for a line on its input before it begins.
    pub(super) fn start(
        program: &Program,
        directory: &Path,
        extra: &BTreeMap<String, String>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Failure> {
        let mut env = program.environment();
        let secrets = Secrets::new(program.let_pass(&env).chain(extra.values().cloned()));
        env.extend(extra.iter().map(|(name, value)| (name.into(), value.into())));
        let start = Start {
            name: program.name(),
            program: program.found(&env)?,
            arguments: program.arguments.clone(),
            env,
            directory: directory.to_owned(),
        };
        let Started { process: number, group, ended, pipes } = start.start()?;
        let Pipes { stdin, stdout, stderr } = pipes;
        let complaints = Arc::new(Mutex::new(Complaints::new(secrets.clone())));
        let listener = tokio::spawn(listen(stderr, Arc::clone(&complaints)));
        Ok((Self { number, group, ended: Some(ended), status: None, complaints, listener, secrets }, stdin, stdout))
    }

    /// Its number, which is that of its group.
    pub(super) fn id(&self) -> u32 {
        self.number
    }

    /// Waits until it has ended. May be given up and called again.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        if let Some(ended) = &mut self.ended {
            self.status = ended.await.ok().and_then(Result::ok);
            self.ended = None;
        }
        self.status
    }

    /// Asks all of the group to end.
    pub(super) fn ask_to_end(&self) {
        self.group.signal(Signal::TERM);
    }

    /// Kills whatever is left of the group.
    pub(super) async fn kill(mut self) {
        self.group.signal(Signal::KILL);
        let _ = self.ended().await;
    }

    /// Somebody's words on one line, of a bounded length, and without secrets.
    pub(super) fn harmless(&self, words: &str) -> String {
        let words = self.secrets.mask(words);
        let words: Vec<&str> =
            words.split(|c: char| c.is_whitespace() || c.is_control()).filter(|it| !it.is_empty()).collect();
        words.join(" ").chars().take(LONGEST).collect()
    }

    /// The last line that it complained with, if it did. Whoever it started may go on complaining, so there is a limit.
    pub(super) async fn last_words(&mut self, limit: Duration) -> Option<String> {
        let _ = timeout(limit, &mut self.listener).await;
        let complaints = std::mem::take(&mut *self.complaints.lock().unwrap_or_else(PoisonError::into_inner));
        complaints.text().lines().rev().map(|line| self.harmless(line)).find(|line| !line.is_empty())
    }
}

/// Keeps the end of what a program complains about, so that it can go on complaining.
async fn listen(mut stderr: ChildStderr, complaints: Arc<Mutex<Complaints>>) {
    let mut piece = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        complaints.lock().unwrap_or_else(PoisonError::into_inner).push(&piece[..read]);
    }
}
