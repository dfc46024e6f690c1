//! A turn under way: its signals, its end, and how it is stopped.

use std::future::Future;

use querent_core::ProgramHandle;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use crate::order::Order;
use crate::signal::Signal;

/// A way to invoke an agent. Must be called within a Tokio runtime.
pub trait Provider: Send + Sync {
    /// Begins a turn in a new session of the program.
    fn start(&self, order: Order) -> Result<Run, Failure>;

    /// Begins a turn that goes on with a session of the program. Those that keep no sessions begin anew.
    fn resume(&self, order: Order, handle: &ProgramHandle) -> Result<Run, Failure>;
}

/// A turn. It does nothing before it is [let go](Self::go), so that its process can be put on record before it acts. One that
/// is dropped is cancelled.
#[derive(Debug)]
pub struct Run {
    process: Option<u32>,
    gate: Option<oneshot::Sender<()>>,
    signals: mpsc::Receiver<Signal>,
    end: oneshot::Receiver<Result<(), Failure>>,
    cancel: watch::Sender<bool>,
}

/// What a provider holds of a turn while it goes on.
#[derive(Debug)]
pub struct RunEnd {
    /// Resolves when the turn may begin; fails if it never will.
    pub gate: oneshot::Receiver<()>,
    /// Where its signals go. A full channel waits: an agent that says more than is read is slowed down, not kept in memory.
    pub signals: mpsc::Sender<Signal>,
    /// Becomes true when the turn is to stop.
    pub cancelled: watch::Receiver<bool>,
}

impl RunEnd {
    /// Waits until the turn is to stop.
    pub async fn cancelled(&mut self) {
        // One whose holder is gone is to stop as well.
        let _ = self.cancelled.wait_for(|stop| *stop).await;
    }
}

impl Run {
    /// How many signals may wait to be read.
    const AHEAD: usize = 64;

    /// A turn that `drive` drives, in the process of this number if it has one of its own.
    pub fn new<F>(process: Option<u32>, drive: impl FnOnce(RunEnd) -> F) -> Self
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let (open, gate) = oneshot::channel();
        let (say, signals) = mpsc::channel(Self::AHEAD);
        let (cancel, cancelled) = watch::channel(false);
        let (ended, end) = oneshot::channel();
        let drive = drive(RunEnd { gate, signals: say, cancelled });
        tokio::spawn(async move {
            // Whoever began the turn may be gone by now; then nobody wants to know.
            let _ = ended.send(drive.await);
        });
        Self { process, gate: Some(open), signals, end, cancel }
    }

    /// The number of the process that it runs in; the whole group of that process is its own.
    pub fn process(&self) -> Option<u32> {
        self.process
    }

    /// Lets it begin.
    pub fn go(&mut self) {
        if let Some(gate) = self.gate.take() {
            // Fails only if the turn is over already, which its end tells.
            let _ = gate.send(());
        }
    }

    /// Its next signal; none when there will be no more. May be given up and called again.
    pub async fn next(&mut self) -> Option<Signal> {
        self.signals.recv().await
    }

    /// Stops it. Its end is still to be awaited.
    pub fn cancel(&self) {
        self.cancel.send_replace(true);
    }

    /// How it ended, once it has: with all of its processes. Signals that were not read are lost.
    pub async fn end(self) -> Result<(), Failure> {
        let Self { signals, end, gate, cancel, .. } = self;
        drop((signals, gate));
        let ended = end.await;
        drop(cancel);
        ended.unwrap_or_else(|_| Err(Failure::new(FailureKind::Broken, "the turn was lost")))
    }
}

/// Why a turn came to nothing. Its message names no secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Failure {
    /// In one word.
    pub kind: FailureKind,
    /// In a sentence.
    pub message: String,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Why a turn came to nothing, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// There is no such program, or no such script, or no key.
    Unavailable,
    /// The program ended with an error.
    Exited,
    /// The program was killed by somebody else.
    Killed,
    /// It said more than it may.
    TooMuch,
    /// What it said cannot be read.
    Unreadable,
    /// The API refused, or did not answer.
    Refused,
    /// It was stopped.
    Cancelled,
    /// Querent lost it.
    Broken,
}
