//! A client on one connection that stays, and one that follows the events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a reply may take before something is wrong.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection; made anew when the last one broke.
pub(super) struct Client {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

/// A reply.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

/// The head of a reply.
struct Head {
    status: u16,
    length: u64,
}

impl Client {
    pub(super) fn new(port: u16) -> Self {
        Self { port, stream: None }
    }

    /// Calls; an error means that nobody knows whether the call was carried out.
    pub(super) fn call(&mut self, method: &str, path: &str, key: &str, body: &str) -> io::Result<Reply> {
        let key = if key.is_empty() { String::new() } else { format!("idempotency-key: {key}\r\n") };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\n{key}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        let reply = self.stream().and_then(|stream| {
            stream.get_mut().write_all(request.as_bytes())?;
            let Head { status, length } = head(stream)?;
            let mut body = String::new();
            let read = stream.by_ref().take(length).read_to_string(&mut body)?;
            if read as u64 == length { Ok(Reply { status, body }) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        if reply.is_err() {
            self.stream = None;
        }
        reply
    }

    /// The events after `last`.
    pub(super) fn events(port: u16, last: u64) -> io::Result<Events> {
        let mut client = Self::new(port);
        let request = format!(
            "GET /events HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept: text/event-stream\r\nlast-event-id: {last}\r\n\r\n"
        );
        let stream = client.stream()?;
        stream.get_mut().write_all(request.as_bytes())?;
        match head(stream)?.status {
            200 => {}
            status => return Err(io::Error::other(format!("no events: {status}"))),
        }
        client.stream.map(|stream| Events { stream, text: Vec::new() }).ok_or_else(broken)
    }

    fn stream(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut().ok_or_else(broken)
    }
}

impl Reply {
    /// The data of a success.
    pub(super) fn data(&self) -> Result<Value, String> {
        let refused = || format!("{}: {}", self.status, self.body);
        let mut envelope: Value = serde_json::from_str(&self.body).map_err(|_| refused())?;
        if self.status == 200 && envelope["ok"] == true { Ok(envelope["data"].take()) } else { Err(refused()) }
    }
}

/// A stream of events.
pub(super) struct Events {
    stream: BufReader<TcpStream>,
    text: Vec<u8>,
}

impl Events {
    /// The number and the data of the next event that has come whole.
    pub(super) fn next(&mut self) -> io::Result<(u64, String)> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                let block = String::from_utf8(block).map_err(io::Error::other)?;
                let field = |name| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
                // A sign of life has no number.
                if let (Some(id), Some(data)) = (field("id:"), field("data:")) {
                    return Ok((id.parse().map_err(io::Error::other)?, data.to_owned()));
                }
                continue;
            }
            let size = usize::from_str_radix(&line(&mut self.stream)?, 16).map_err(io::Error::other)?;
            if size == 0 {
                return Err(broken());
            }
            let mut chunk = vec![0; size];
            self.stream.read_exact(&mut chunk)?;
            line(&mut self.stream)?;
            self.text.extend(chunk);
        }
    }
}

fn head(stream: &mut BufReader<TcpStream>) -> io::Result<Head> {
    let first = line(stream)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    let mut head = Head { status, length: 0 };
    loop {
        let line = line(stream)?;
        if line.is_empty() {
            return Ok(head);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            head.length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
}

/// A whole line: one that broke off is none.
fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(broken());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}

fn broken() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
