//! A server of somebody else, as notifications meet it: what comes is handed to the test, and the test says what it replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver as Inbox, Sender, channel};
use std::time::Duration;

use serde_json::Value;

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server on a port of its own.
pub(crate) struct Receiver {
    pub(crate) url: String,
    inbox: Inbox<Request>,
}

/// A request that waits for its reply.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) body: Value,
    stream: TcpStream,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, inbox) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let sender = sender.clone();
                std::thread::spawn(move || read(stream.unwrap(), &sender));
            }
        });
        Self { url, inbox }
    }

    /// The next request, whenever it comes.
    pub(crate) fn next(&self) -> Request {
        self.inbox.recv_timeout(PATIENCE).unwrap()
    }

    /// The next one, which is taken.
    pub(crate) fn take(&self) -> Request {
        let request = self.next();
        request.reply(200, "{}");
        request
    }

    /// Whether nothing came so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.inbox.try_recv().is_err()
    }
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn reply(&self, status: u16, body: &str) {
        let length = body.len();
        let reply = format!("HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        // Whoever asked may be gone by now.
        let _ = (&self.stream).write_all(reply.as_bytes());
    }
}

fn read(stream: TcpStream, sender: &Sender<Request>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let path = lines[0].split(' ').nth(1).unwrap().to_owned();
    let split = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.iter().skip(1).filter_map(split).collect();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let text = String::from_utf8(body).unwrap();
    let body = serde_json::from_str(&text).unwrap_or_default();
    let _ = sender.send(Request { path, headers, text, body, stream });
}
