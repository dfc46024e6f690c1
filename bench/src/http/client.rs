//! Clients that cost as little as they can beside the server that is measured: one connection each, which stays.

use std::net::Ipv4Addr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::Outcome;

/// How much is read at once: thousands of clients are in one process.
const BUFFER: usize = 2 << 10;

/// The header of who takes a stream of events.
const EVENTS: &str = "accept: text/event-stream\r\n";

/// A client that calls, and waits for the reply before it calls again.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    port: u16,
    /// What has come of a stream of events and is not read yet.
    text: Vec<u8>,
}

/// What a reply begins with.
struct Head {
    status: u16,
    length: usize,
}

impl Head {
    /// What its first line says.
    fn of(line: &str) -> Outcome<Self> {
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no status")?;
        Ok(Self { status, length: 0 })
    }

    fn take_in(&mut self, line: &str) -> Outcome<()> {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            self.length = value.trim().parse()?;
        }
        Ok(())
    }
}

impl Client {
    pub(crate) async fn connect(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(BUFFER, stream), port, text: Vec::new() })
    }

    /// What a path has, which must be there.
    pub(crate) async fn get(&mut self, path: &str) -> Outcome<Vec<u8>> {
        self.ask_for(path, "").await?;
        self.reply().await
    }

    /// What comes of a call that must succeed.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Outcome<Vec<u8>> {
        self.send(path, "", body).await?;
        self.reply().await
    }

    /// A call that must succeed, and tells what comes of it in events.
    pub(crate) async fn post_for_events(&mut self, path: &str, body: &str) -> Outcome<()> {
        self.send(path, EVENTS, body).await?;
        self.expect_events().await
    }

    async fn send(&mut self, path: &str, headers: &str, body: &str) -> Outcome<()> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// Asks for a path; the reply is read later.
    pub(crate) async fn ask_for(&mut self, path: &str, headers: &str) -> Outcome<()> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{headers}\r\n", self.port);
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// The body of the next reply, which must be a success.
    pub(crate) async fn reply(&mut self) -> Outcome<Vec<u8>> {
        let Head { status, length } = self.head().await?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        if (200..300).contains(&status) {
            Ok(body)
        } else {
            Err(format!("refused with {status}: {}", String::from_utf8_lossy(&body)).into())
        }
    }

    /// Follows the events from now on. The server follows too when this returns: it says so first.
    pub(crate) async fn events(&mut self) -> Outcome<()> {
        self.ask_for("/events", EVENTS).await?;
        self.expect_events().await
    }

    async fn expect_events(&mut self) -> Outcome<()> {
        match self.head().await?.status {
            200 => Ok(()),
            status => Err(format!("no events: {status}").into()),
        }
    }

    /// The next event of a stream.
    pub(crate) async fn event(&mut self) -> Outcome<Event> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                let block = String::from_utf8(block)?;
                let field = |name: &str| {
                    let value = block.lines().find_map(|line| line.strip_prefix(name));
                    value.map(|value| value.trim_start().to_owned())
                };
                // A sign of life has no name.
                let Some(kind) = field("event:") else { continue };
                let id = field("id:").map_or(Ok(0), |id| id.parse())?;
                return Ok(Event { id, kind, data: field("data:").unwrap_or_default() });
            }
            if !self.chunk().await? {
                return Err("the server ended the stream".into());
            }
        }
    }

    /// The end of a stream: no more events.
    pub(crate) async fn end_of_events(&mut self) -> Outcome<()> {
        while self.chunk().await? {}
        if self.text.is_empty() { Ok(()) } else { Err("more events than were expected".into()) }
    }

    /// Reads the next piece of a stream; false if there is none any more.
    async fn chunk(&mut self) -> Outcome<bool> {
        let size = usize::from_str_radix(&line(&mut self.stream).await?, 16)?;
        let begin = self.text.len();
        self.text.resize(begin + size, 0);
        self.stream.read_exact(&mut self.text[begin..]).await?;
        line(&mut self.stream).await?;
        Ok(size > 0)
    }

    async fn head(&mut self) -> Outcome<Head> {
        let come = self.stream.fill_buf().await?;
        if let Some(end) = come.windows(4).position(|it| it == b"\r\n\r\n") {
            let mut lines = std::str::from_utf8(&come[..end])?.split("\r\n");
            let mut head = Head::of(lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| head.take_in(line))?;
            self.stream.consume(end + 4);
            return Ok(head);
        }
        // It has not all come, or is longer than what is read at once.
        let mut line = line(&mut self.stream).await?;
        let mut head = Head::of(&line)?;
        loop {
            line = self::line(&mut self.stream).await?;
            if line.is_empty() {
                return Ok(head);
            }
            head.take_in(&line)?;
        }
    }
}

/// One of a stream of events.
pub(crate) struct Event {
    /// 0 if it has none.
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) data: String,
}

async fn line(stream: &mut BufReader<TcpStream>) -> Outcome<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Err("the server closed the connection".into());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}

/// The data of an envelope that says yes.
pub(crate) fn data(body: &[u8]) -> Outcome<Value> {
    let mut envelope: Value = serde_json::from_slice(body)?;
    match envelope["ok"].as_bool() {
        Some(true) => Ok(envelope["data"].take()),
        _ => Err(format!("refused: {envelope}").into()),
    }
}
