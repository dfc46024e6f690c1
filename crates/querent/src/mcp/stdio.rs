//! The standard streams as a transport that answers everything: a line that is no message gets its error too, and a client
//! that closes its end still hears what it asked before.

mod batch;
mod spell;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep_until};

use self::batch::Batches;

/// The longest line that is read: far above what a call may hold.
const LONGEST: usize = 8 << 20;
/// How long replies may take after the client closed its end. What waits for a person is not waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A client on the standard streams.
pub(crate) struct Stdio {
    input: BufReader<StdioReader>,
    /// What is read of the next line. It is kept here because reading may be broken off at any time.
    line: Line,
    /// What is read of a batch and not handed on yet.
    queue: VecDeque<ClientJsonRpcMessage>,
    /// Whether the version that was agreed on has batches.
    has_batches: bool,
    batches: Batches,
    output: Arc<Mutex<StdioWriter>>,
    open: Arc<Open>,
    /// When the client's end was closed.
    ended: Option<Instant>,
}

#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// It is too long; its bytes are no longer kept.
    cut: bool,
}

/// What a line holds.
enum Received {
    Nothing,
    One(Box<ClientJsonRpcMessage>),
    Batch(Vec<ClientJsonRpcMessage>),
}

/// What is wrong with a line, and under which id it is told.
struct Fault {
    error: ErrorData,
    id: Option<RequestId>,
}

/// Requests that have no reply yet.
#[derive(Default)]
struct Open {
    count: AtomicUsize,
    replied: Notify,
}

impl Stdio {
    /// Begins to listen.
    pub(crate) fn open() -> Self {
        let (input, output) = stdio_pipes();
        Self {
            input: BufReader::new(input),
            line: Line::default(),
            queue: VecDeque::new(),
            has_batches: false,
            batches: Batches::default(),
            output: Arc::new(Mutex::new(output)),
            open: Arc::default(),
            ended: None,
        }
    }

    /// Reads to the end of a line; false at the end of the stream.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                return Ok(false);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end + 1);
            self.line.add(&read[..taken]);
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// A request that is cancelled has no reply.
    fn note(&mut self, notification: &ClientNotification) {
        let ClientNotification::CancelledNotification(cancelled) = notification else { return };
        let Some(request) = &cancelled.params.request_id else { return };
        if let Some(line) = self.batches.cancel(request) {
            let output = Arc::clone(&self.output);
            tokio::spawn(async move { write(&output, line).await });
        }
    }
}

impl Line {
    fn add(&mut self, bytes: &[u8]) {
        self.cut |= self.bytes.len() + bytes.len() > LONGEST;
        if self.cut {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The message, or those of a batch, or the error that is the reply. Nothing for an empty line and for what wants no reply.
    fn received(&self, has_batches: bool) -> Result<Received, Box<Fault>> {
        let wrong = |why: &'static str| Box::new(Fault { error: ErrorData::parse_error(why, None), id: None });
        if self.cut {
            return Err(wrong("the message is longer than 8 MiB"));
        }
        let text = std::str::from_utf8(&self.bytes).map_err(|_| wrong("the message is not UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(Received::Nothing);
        }
        let read = if has_batches && text.starts_with('[') {
            serde_json::from_str(text).map(Received::Batch)
        } else {
            serde_json::from_str(text).map(Received::One)
        };
        if matches!(&read, Ok(Received::Batch(messages)) if messages.is_empty()) {
            return misshapen(text);
        }
        read.or_else(|error| match error.classify() {
            Category::Syntax | Category::Eof => Err(wrong("the message is not JSON")),
            Category::Data | Category::Io => misshapen(text),
        })
    }
}

/// What is JSON and no message: a notification that nobody knows is passed over, all else is told.
fn misshapen(text: &str) -> Result<Received, Box<Fault>> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Shape {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    let Shape { id, method } = serde_json::from_str(text).unwrap_or_default();
    if id.is_none() && method.is_some() {
        return Ok(Received::Nothing);
    }
    Err(Box::new(Fault { error: ErrorData::invalid_request("the message is no JSON-RPC request", None), id }))
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_reply = matches!(item, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        if let ServerJsonRpcMessage::Response(reply) = &item
            && let ServerResult::InitializeResult(agreed) = &reply.result
        {
            self.has_batches = agreed.protocol_version == ProtocolVersion::V_2025_03_26;
        }
        let line = self.batches.write(item);
        let (output, open) = (Arc::clone(&self.output), Arc::clone(&self.open));
        async move {
            let sent = match line? {
                Some(line) => write(&output, line).await,
                None => Ok(()),
            };
            if is_reply && open.count.fetch_sub(1, Ordering::Relaxed) == 1 {
                open.replied.notify_one();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                match &message {
                    ClientJsonRpcMessage::Request(_) => drop(self.open.count.fetch_add(1, Ordering::Relaxed)),
                    ClientJsonRpcMessage::Notification(it) => self.note(&it.notification),
                    _ => {}
                }
                return Some(message);
            }
            if !matches!(self.read_line().await, Ok(true)) {
                break;
            }
            match std::mem::take(&mut self.line).received(self.has_batches) {
                Ok(Received::Nothing) => {}
                Ok(Received::One(message)) => self.queue.push_back(*message),
                Ok(Received::Batch(messages)) => {
                    self.batches.begin(&messages);
                    self.queue.extend(messages);
                }
                Err(fault) => {
                    let Fault { error, id } = *fault;
                    // This may be broken off, which a message must not be.
                    self.open.count.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(self.send(ServerJsonRpcMessage::error(error, id)));
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
        self.output.lock().await.shutdown().await
    }
}

async fn write(output: &Mutex<StdioWriter>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client is told, and under which id.
    fn told(line: &[u8]) -> Option<(String, Option<RequestId>)> {
        let mut it = Line::default();
        it.add(line);
        it.received(false).err().map(|fault| (fault.error.message.into_owned(), fault.id))
    }

    #[track_caller]
    fn is_told(line: &[u8], why: &str, id: Option<i64>) {
        assert_eq!(told(line), Some((why.to_owned(), id.map(RequestId::Number))));
    }

    #[test]
    fn a_line_that_is_no_message_has_its_error() {
        assert_eq!(told(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n"), None);
        assert_eq!(told(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"), None);
        is_told(b"{\"a\": \n", "the message is not JSON", None);
        is_told(b"\"\xff\"\n", "the message is not UTF-8", None);
        is_told(b"[]\n", "the message is no JSON-RPC request", None);
        is_told(&vec![b' '; LONGEST + 1], "the message is longer than 8 MiB", None);
        let wrong = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}\n";
        is_told(wrong, "the message is no JSON-RPC request", Some(7));
    }

    #[test]
    fn what_wants_no_reply_has_none() {
        assert_eq!(told(b"\r\n"), None);
        assert_eq!(told(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\",\"params\":[1]}\n"), None);
    }
}
