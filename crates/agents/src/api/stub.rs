//! A server on loopback that says what a test tells it to say, to the byte, and remembers what it was told.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// What the server does with one connection.
#[derive(Debug)]
pub(super) enum Act {
    /// Sends these pieces, each by itself, and closes.
    Send(Vec<Vec<u8>>),
    /// Sends this piece, says that it did, and then holds the connection until the client goes, which it says too.
    Hold(Vec<u8>, oneshot::Sender<()>, oneshot::Sender<()>),
    /// Sends the first piece, and then the second without end.
    Endless(Vec<u8>, Vec<u8>),
    /// Closes without a word.
    Close,
}

/// The server. It takes one connection for each of its acts, and then no more.
pub(super) struct Stub {
    pub(super) url: String,
    told: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    pub(super) async fn new(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        tokio::spawn(async move {
            for act in acts {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = request(&mut stream).await;
                heard.lock().unwrap().push(request);
                play(stream, act).await;
            }
        });
        Self { url, told }
    }

    /// The requests so far, whole.
    pub(super) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

async fn request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "the client went before it had said what it wants");
        text.extend_from_slice(&piece[..read]);
        let whole = String::from_utf8_lossy(&text);
        let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            return whole.into_owned();
        }
    }
}

async fn play(mut stream: TcpStream, act: Act) {
    // A client that has what it wants, or enough, may go at any time.
    match act {
        Act::Send(pieces) => {
            for piece in pieces {
                let _ = stream.write_all(&piece).await;
                let _ = stream.flush().await;
                tokio::task::yield_now().await;
            }
        }
        Act::Hold(piece, sent, gone) => {
            stream.write_all(&piece).await.unwrap();
            let _ = sent.send(());
            let _ = stream.read(&mut [0]).await;
            let _ = gone.send(());
        }
        Act::Endless(first, more) => {
            let mut is_there = stream.write_all(&first).await.is_ok();
            while is_there {
                is_there = stream.write_all(&more).await.is_ok();
            }
        }
        Act::Close => {}
    }
}

/// A reply with this status and these headers, and a body that ends with the connection.
pub(super) fn reply(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Whatever\r\n{headers}\r\n{body}").into_bytes()
}

/// A stream of events, in one piece.
pub(super) fn stream(events: &[&str]) -> Vec<u8> {
    let events = events.join("\r\n\r\nevent: x\r\ndata: ");
    reply(200, "content-type: text/event-stream\r\n", &format!("event: x\r\ndata: {events}\r\n\r\n"))
}
