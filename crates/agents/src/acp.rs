//! Agents that speak the [Agent Client Protocol](https://agentclientprotocol.com) on their standard input and output.
//!
//! The part of the protocol that a client without a screen needs is written by hand here. Its official crate is not used: it
//! turns on `serde_json`'s `preserve_order` for the whole program, and with that the bytes that operations and answers are
//! known by would depend on the order in which somebody wrote the fields of an object.

mod files;
mod link;
mod permission;
mod process;
mod rpc;
mod talk;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::path::Path;
use std::time::Duration;

use querent_core::{ProgramHandle, ProviderConfig};
use tokio::time::timeout;

use self::files::Grounds;
use self::link::Link;
use self::process::Process;
use self::talk::{Ending, Lost, Talk};
use crate::normalise::final_text;
use crate::order::Order;
use crate::program::Program;
use crate::run::{Failure, FailureKind, Provider, Run, RunEnd};

/// How long an agent may take to stop when it is told to, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The error of an agent that wants somebody to log in.
const LOGIN: i64 = -32000;

/// An agent that speaks the protocol.
#[derive(Debug)]
pub(crate) struct Acp {
    program: Program,
    max_output: u64,
    grace: Duration,
}

impl Acp {
    /// The agent that the config names, for the project in `root`.
    pub(crate) fn new(config: &ProviderConfig, root: &Path) -> Result<Self, Failure> {
        let program = Program::new(&config.command, &config.env, root)?;
        Ok(Self { program, max_output: config.max_output, grace: GRACE })
    }

    fn begin(&self, order: Order, handle: Option<ProgramHandle>) -> Result<Run, Failure> {
        let grounds = Grounds::new(&order.directory).map_err(|error| {
            Failure::new(FailureKind::Unavailable, format!("the directory of the turn cannot be used: {error}"))
        })?;
        let (process, stdin, stdout) = Process::start(&self.program, grounds.directory(), &order.env)?;
        let link = Link::new(stdin, stdout, self.max_output);
        let grace = self.grace;
        Ok(Run::new(Some(process.id()), |end| async move {
            let RunEnd { gate, signals, cancelled } = end;
            let talk = Talk::new(link, signals.clone(), grounds, order.mcp.is_some());
            let mut turn = Turn { process, talk, cancelled, grace };
            let said = turn.drive(gate, &order, handle.as_ref()).await;
            turn.process.kill().await;
            for signal in said.map(|text| final_text(&text))? {
                // Somebody who listens no more wants no more.
                let _ = signals.send(signal).await;
            }
            Ok(())
        }))
    }
}

impl Provider for Acp {
    fn start(&self, order: Order) -> Result<Run, Failure> {
        self.begin(order, None)
    }

    fn resume(&self, order: Order, handle: &ProgramHandle) -> Result<Run, Failure> {
        self.begin(order, Some(handle.clone()))
    }
}

/// A turn under way.
struct Turn {
    process: Process,
    talk: Talk,
    cancelled: tokio::sync::watch::Receiver<bool>,
    grace: Duration,
}

impl Turn {
    /// Makes the turn, until the agent has ended or has had its time to; what it said.
    async fn drive(
        &mut self,
        gate: tokio::sync::oneshot::Receiver<()>,
        order: &Order,
        handle: Option<&ProgramHandle>,
    ) -> Result<String, Failure> {
        let stopped = || Failure::new(FailureKind::Cancelled, "the turn was stopped");
        let turn = async {
            match gate.await {
                Ok(()) => Some(self.talk.turn(order, handle).await),
                Err(_) => None,
            }
        };
        let made = tokio::select! {
            biased;
            // One whose holder is gone is to stop as well.
            _ = self.cancelled.wait_for(|stop| *stop) => None,
            made = turn => made,
        };
        let Some(made) = made else {
            let _ = timeout(self.grace, self.talk.stop()).await;
            return Err(stopped());
        };
        let made = match made {
            Ok(ending) => whole(ending),
            Err(lost) => Err(self.failed(lost).await),
        };
        // It may have to write down what it needs to go on some day. Not all agents end when nobody speaks to them any more.
        if timeout(self.grace / 4, self.talk.part()).await.is_err() {
            self.process.ask_to_end();
            let _ = timeout(self.grace, self.talk.part()).await;
        }
        made
    }

    async fn failed(&mut self, lost: Lost) -> Failure {
        let (kind, message) = match lost {
            Lost::Gone => return self.gone().await,
            Lost::TooMuch => (FailureKind::TooMuch, "the agent said more than `max_output` allows".to_owned()),
            Lost::Refused(_, complaint) if complaint.code == LOGIN => {
                let message =
                    format!("the agent wants somebody to log in: {}", self.process.harmless(&complaint.message));
                (FailureKind::Unavailable, message)
            }
            Lost::Refused(method, complaint) => {
                let message = format!("the agent refused {method}: {}", self.process.harmless(&complaint.message));
                (FailureKind::Refused, message)
            }
            Lost::Unreadable(method) => {
                (FailureKind::Unreadable, format!("the agent's reply to {method} cannot be read"))
            }
            Lost::Version(version) => {
                let message = format!("the agent speaks version {version} of the protocol, and not version 1");
                (FailureKind::Unreadable, message)
            }
        };
        Failure::new(kind, message)
    }

    /// The agent ended in the middle of the turn.
    async fn gone(&mut self) -> Failure {
        let status = timeout(self.grace, self.process.ended()).await.ok().flatten();
        let (kind, how) = match status.map(|status| status.code()) {
            Some(Some(code)) => (FailureKind::Exited, format!("the agent ended with {code}")),
            Some(None) => (FailureKind::Killed, "the agent was killed".to_owned()),
            None => (FailureKind::Exited, "the agent hung up".to_owned()),
        };
        let message = match self.process.last_words(self.grace).await {
            Some(words) => format!("{how}: {words}"),
            None => how,
        };
        Failure::new(kind, message)
    }
}

/// What an agent said, if it came to an end with it.
fn whole(Ending { reason, text, rejected }: Ending) -> Result<String, Failure> {
    let (kind, message) = match (reason.as_str(), rejected) {
        ("end_turn", None) => return Ok(text),
        // Some stop as if they were done when they may not do what they want.
        ("end_turn", Some(what)) => (FailureKind::Refused, format!("the agent stopped when this was rejected: {what}")),
        ("refusal", _) => (FailureKind::Refused, "the agent refused".to_owned()),
        ("max_tokens" | "max_turn_requests", _) => {
            (FailureKind::TooMuch, format!("the agent stopped at a limit (`{reason}`)"))
        }
        ("cancelled", _) => (FailureKind::Cancelled, "the agent says that the turn was stopped".to_owned()),
        _ => (FailureKind::Unreadable, "the agent stopped for a reason that is unknown".to_owned()),
    };
    Err(Failure::new(kind, message))
}
