//! Agents that speak the [Agent Client Protocol](https://agentclientprotocol.com) on their standard input and output.
//!
//! The protocol is the official crate's: its types, its connection, its JSON-RPC. Ours is what stands around it: a process
//! behind a gate and in a group of its own, lines within bounds, and what an agent may do when it asks.

mod files;
mod host;
mod link;
mod permission;
mod process;
mod talk;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::path::Path;
use std::time::Duration;

use agent_client_protocol::v1::schema::StopReason;
use agent_client_protocol::{Error, ErrorCode};
use querent_core::{ProgramHandle, ProviderConfig};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use self::files::Grounds;
use self::host::{Host, Spoken};
use self::link::Link;
use self::process::Process;
use self::talk::{Ending, Lost, Talk};
use crate::normalise::final_text;
use crate::order::Order;
use crate::program::Program;
use crate::run::{Failure, FailureKind, Provider, Run, RunEnd};

/// How long an agent may take to stop when it is told to, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

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
            let host = Host::new(signals.clone(), grounds, order.mcp.is_some());
            let mut turn = Turn { process, link, host, cancelled, grace };
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
    link: Link,
    host: Host,
    cancelled: watch::Receiver<bool>,
    grace: Duration,
}

impl Turn {
    /// Makes the turn, until the agent has ended or has had its time to; what it said.
    async fn drive(
        &mut self,
        gate: oneshot::Receiver<()>,
        order: &Order,
        handle: Option<&ProgramHandle>,
    ) -> Result<String, Failure> {
        let may_begin = tokio::select! {
            biased;
            // One whose holder is gone is to stop as well.
            _ = self.cancelled.wait_for(|stop| *stop) => false,
            opened = gate => opened.is_ok(),
        };
        if !may_begin {
            return Err(stopped());
        }
        let talk = Talk { order, handle, cancelled: self.cancelled.clone(), grace: self.grace };
        let made = match talk.hold(&mut self.link, &self.host).await {
            Ok(ending) => whole(ending),
            Err(Lost::Stopped) => return Err(stopped()),
            Err(lost) => Err(self.failed(lost).await),
        };
        // It may have to write down what it needs to go on some day. Not all agents end when nobody speaks to them any more.
        if timeout(self.grace / 4, self.link.part()).await.is_err() {
            self.process.ask_to_end();
            let _ = timeout(self.grace, self.link.part()).await;
        }
        made
    }

    async fn failed(&mut self, lost: Lost) -> Failure {
        let (kind, message) = match lost {
            Lost::Stopped => return stopped(),
            Lost::Gone => return self.gone().await,
            Lost::TooMuch => (FailureKind::TooMuch, "the agent said more than `max_output` allows".to_owned()),
            Lost::Refused(_, error) if error.code == ErrorCode::AUTH_REQUIRED => {
                let message = format!("the agent wants somebody to log in: {}", self.process.harmless(&said(&error)));
                (FailureKind::Unavailable, message)
            }
            Lost::Refused(method, error) => {
                let message = format!("the agent refused {method}: {}", self.process.harmless(&said(&error)));
                (FailureKind::Refused, message)
            }
            Lost::Unreadable(method, error) => {
                let why = self.process.harmless(&why(&error));
                (FailureKind::Unreadable, format!("the agent's reply to {method} cannot be read: {why}"))
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

fn stopped() -> Failure {
    Failure::new(FailureKind::Cancelled, "the turn was stopped")
}

/// What an error of the agent says; its details, where they are text, say more.
fn said(error: &Error) -> String {
    let details = error.data.as_ref().and_then(|data| data.as_str().or_else(|| data.get("details")?.as_str()));
    details.map_or_else(|| error.message.clone(), |details| format!("{}: {details}", error.message))
}

/// Why a reply was of no use.
fn why(error: &Error) -> String {
    let reason =
        error.data.as_ref().and_then(|data| data.as_str().or_else(|| data.get("error").and_then(Value::as_str)));
    reason.unwrap_or(&error.message).to_owned()
}

/// What an agent said, if it came to an end with it.
fn whole(Ending { reason, spoken: Spoken { text, rejected } }: Ending) -> Result<String, Failure> {
    let (kind, message) = match (reason, rejected) {
        (StopReason::EndTurn, None) => return Ok(text),
        // Some stop as if they were done when they may not do what they want.
        (StopReason::EndTurn, Some(what)) => {
            (FailureKind::Refused, format!("the agent stopped when this was rejected: {what}"))
        }
        (StopReason::Refusal, _) => (FailureKind::Refused, "the agent refused".to_owned()),
        (StopReason::MaxTokens, _) => (FailureKind::TooMuch, "the agent stopped at a limit (`max_tokens`)".to_owned()),
        (StopReason::MaxTurnRequests, _) => {
            (FailureKind::TooMuch, "the agent stopped at a limit (`max_turn_requests`)".to_owned())
        }
        (StopReason::Cancelled, _) => (FailureKind::Cancelled, "the agent says that the turn was stopped".to_owned()),
        _ => (FailureKind::Unreadable, "the agent stopped for a reason that is unknown".to_owned()),
    };
    Err(Failure::new(kind, message))
}
