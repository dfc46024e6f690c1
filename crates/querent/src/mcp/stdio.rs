//! The standard streams as a transport that answers everything: a line that is no JSON gets its error too, and a client that
//! closes its end still hears what it asked before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

/// The longest line that is read: far above what a call may hold.
const LONGEST: usize = 8 << 20;
/// How much is read ahead of the server.
const AHEAD: usize = 64 << 10;
/// How long replies may take after the client closed its end. What waits for a person is not waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A client on the standard streams.
pub(crate) struct Stdio {
    inner: AsyncRwTransport<RoleServer, DuplexStream, StdioWriter>,
    wrong: mpsc::Receiver<&'static str>,
    open: Arc<Open>,
    /// When the client's end was closed.
    ended: Option<Instant>,
}

/// Requests that have no reply yet.
#[derive(Default)]
struct Open {
    count: AtomicUsize,
    replied: Notify,
}

impl Stdio {
    /// Begins to read.
    pub(crate) fn open() -> Self {
        let (stdin, stdout) = stdio_pipes();
        let (ours, theirs) = duplex(AHEAD);
        let (tell, wrong) = mpsc::channel(16);
        tokio::spawn(pass_on(BufReader::new(stdin), ours, tell));
        Self {
            inner: AsyncRwTransport::new_server(theirs, stdout).with_max_line_length(usize::MAX),
            wrong,
            open: Arc::default(),
            ended: None,
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_reply = matches!(item, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        let (sending, open) = (self.inner.send(item), Arc::clone(&self.open));
        async move {
            let sent = sending.await;
            if is_reply && open.count.fetch_sub(1, Ordering::Relaxed) == 1 {
                open.replied.notify_one();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                Some(why) = self.wrong.recv() => {
                    let error = ServerJsonRpcMessage::error(ErrorData::parse_error(why, None), None);
                    self.inner.send(error).await.ok()?;
                }
                message = self.inner.receive() => match message {
                    Some(message) => {
                        if matches!(message, ClientJsonRpcMessage::Request(_)) {
                            self.open.count.fetch_add(1, Ordering::Relaxed);
                        }
                        return Some(message);
                    }
                    None => break,
                }
            }
        }
        // It may be polled anew after every reply, so the end is kept.
        let end = *self.ended.get_or_insert_with(|| Instant::now() + LAST_WORDS);
        while self.open.count.load(Ordering::Relaxed) > 0 {
            tokio::select! {
                () = self.open.replied.notified() => {}
                () = sleep_until(end) => break,
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Hands on each line that is JSON, and tells of those that are not. Ends with the client.
async fn pass_on(mut stdin: BufReader<StdioReader>, mut to: DuplexStream, tell: mpsc::Sender<&'static str>) {
    let mut line = Vec::new();
    loop {
        let Ok(Some(whole)) = next_line(&mut stdin, &mut line).await else { return };
        let wrong = if whole { fault(&line) } else { Some("the message is longer than 8 MiB") };
        let passed = match wrong {
            None => to.write_all(&line).await.is_ok(),
            Some(why) => tell.send(why).await.is_ok(),
        };
        if !passed {
            return;
        }
    }
}

/// Reads a line with its end; says whether it is whole, or too long and cut. None at the end of the stream.
async fn next_line(stdin: &mut BufReader<StdioReader>, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    line.clear();
    let mut whole = true;
    loop {
        let read = stdin.fill_buf().await?;
        if read.is_empty() {
            return Ok(None);
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(read.len(), |end| end + 1);
        whole = whole && line.len() + taken <= LONGEST;
        if whole {
            line.extend_from_slice(&read[..taken]);
        }
        stdin.consume(taken);
        if end.is_some() {
            return Ok(Some(whole));
        }
    }
}

/// What is wrong with a line that is no JSON. An empty one is nothing at all.
fn fault(line: &[u8]) -> Option<&'static str> {
    match std::str::from_utf8(line) {
        Err(_) => Some("the message is not UTF-8"),
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => serde_json::from_str::<IgnoredAny>(text).err().map(|_| "the message is not JSON"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_are_no_json_have_a_fault() {
        assert_eq!(fault(b"{\"a\": [1]}\r\n"), None);
        assert_eq!(fault(b"\r\n"), None);
        assert_eq!(fault(b"{\"a\": "), Some("the message is not JSON"));
        assert_eq!(fault(b"\"\xff\""), Some("the message is not UTF-8"));
    }
}
