//! The pipes of an agent, and the frames of the protocol that go through them in lines. Whatever waits here may be given up at
//! any time, and no line is lost or torn by that.

use agent_client_protocol::{Channel, RawJsonRpcMessage, RawJsonRpcResponse, TransportFrame};
use futures_util::StreamExt;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::host::Host;
use crate::signal::Signal;

/// An agent that does not read what it is told is not listened to any more, from this many bytes on.
const AHEAD: usize = 16 << 20;

/// How much is shown of a line that is no message, in Unicode scalars.
const SHOWN: usize = 200;

/// It said more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// The pipes of an agent.
#[derive(Debug)]
pub(super) struct Link {
    /// None once the agent listens no more.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// What is still to be written.
    outgoing: Vec<u8>,
    /// What was read of a line.
    line: Vec<u8>,
    /// How many bytes may still be read.
    left: u64,
}

impl Link {
    /// A link that reads at most so many bytes.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, most: u64) -> Self {
        Self { stdin: Some(stdin), stdout: BufReader::new(stdout), outgoing: Vec::new(), line: Vec::new(), left: most }
    }

    /// Says a line. It goes out while the next one is awaited.
    pub(super) fn say(&mut self, line: &str) {
        if self.stdin.is_some() {
            self.outgoing.extend_from_slice(line.as_bytes());
            self.outgoing.push(b'\n');
        }
    }

    /// Carries frames between the agent and a connection, until the agent says nothing any more or the connection is over.
    /// What the agent prints that is no message is no matter of the connection.
    pub(super) async fn carry(&mut self, connection: &mut Channel, host: &Host) -> Result<(), TooMuch> {
        // An agent is heard again when it has its reply, so that its requests do not pile up.
        let mut unanswered: usize = 0;
        loop {
            tokio::select! {
                biased;
                frame = connection.rx.next() => {
                    let Some(frame) = frame else { return Ok(()) };
                    if matches!(frame, TransportFrame::Single(RawJsonRpcMessage::Response(_))) {
                        unanswered = unanswered.saturating_sub(1);
                    }
                    if let Ok(line) = frame.to_json() {
                        self.say(&line);
                    }
                }
                line = self.hear(unanswered == 0) => {
                    let Some(line) = line? else {
                        connection.tx.close_channel();
                        return Ok(());
                    };
                    match TransportFrame::parse_json(&line) {
                        TransportFrame::Single(message) => {
                            match &message {
                                RawJsonRpcMessage::Request(_) => unanswered += 1,
                                RawJsonRpcMessage::Response(RawJsonRpcResponse::Error { error, .. }) => {
                                    host.complained(error.as_ref().clone().into_acp_error());
                                }
                                RawJsonRpcMessage::Notification(_) | RawJsonRpcMessage::Response(_) => {}
                            }
                            if connection.tx.unbounded_send(TransportFrame::Single(message)).is_err() {
                                return Ok(());
                            }
                        }
                        _ if line.is_empty() => {}
                        _ => host.signal(Signal::Ignored(line.chars().take(SHOWN).collect())).await,
                    }
                }
            }
        }
    }

    /// Says nothing any more, and waits until the agent says nothing any more either.
    pub(super) async fn part(&mut self) {
        self.hang_up();
        while let Ok(Some(_)) = self.hear(true).await {}
    }

    fn hang_up(&mut self) {
        self.stdin = None;
        self.outgoing.clear();
    }

    /// The next line; none when there will be no more. Without `is_reading` only what is to be said goes out.
    async fn hear(&mut self, is_reading: bool) -> Result<Option<String>, TooMuch> {
        loop {
            let is_writing = !self.outgoing.is_empty();
            let is_reading = is_reading && self.outgoing.len() < AHEAD;
            let Self { stdin, stdout, outgoing, .. } = self;
            tokio::select! {
                written = write(stdin.as_mut(), outgoing), if is_writing => match written {
                    Some(count) => drop(self.outgoing.drain(..count)),
                    None => self.hang_up(),
                },
                read = stdout.fill_buf(), if is_reading => {
                    let Ok(bytes @ [_, ..]) = read else { return Ok(None) };
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(bytes.len(), |end| end + 1);
                    self.left = self.left.checked_sub(taken as u64).ok_or(TooMuch)?;
                    self.line.extend_from_slice(&bytes[..taken]);
                    self.stdout.consume(taken);
                    if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
                    }
                }
                else => std::future::pending().await,
            }
        }
    }
}

/// Writes some of the bytes; none if nobody reads them any more.
async fn write(stdin: Option<&mut ChildStdin>, bytes: &[u8]) -> Option<usize> {
    stdin?.write(bytes).await.ok().filter(|count| *count > 0)
}
