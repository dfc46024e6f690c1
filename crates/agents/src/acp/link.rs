//! Lines to and from an agent. Whatever waits here may be given up at any time, and no line is lost or torn by that.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

/// An agent that does not read what it is told is not listened to any more, from this many bytes on.
const AHEAD: usize = 16 << 20;

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

    /// Says nothing any more.
    pub(super) fn hang_up(&mut self) {
        self.stdin = None;
        self.outgoing.clear();
    }

    /// The next line; none when there will be no more.
    pub(super) async fn hear(&mut self) -> Result<Option<String>, TooMuch> {
        loop {
            let is_writing = !self.outgoing.is_empty();
            let is_reading = self.outgoing.len() < AHEAD;
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
            }
        }
    }
}

/// Writes some of the bytes; none if nobody reads them any more.
async fn write(stdin: Option<&mut ChildStdin>, bytes: &[u8]) -> Option<usize> {
    stdin?.write(bytes).await.ok().filter(|count| *count > 0)
}
