//! The floor under a cycle over HTTP: a server that knows nothing. The same clients send it the same requests; it writes as many bytes,
//! syncs once for all who wait, and replies with ready-made bytes of the same length. That is what this machine leaves to a server on one
//! thread, if nothing had to be read, decided or remembered.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use querent_journal::files::{DiskFile, Open, Options};

use super::http::{Calls, connected};
use super::question::ANSWER;
use super::subject::share_here;
use crate::Outcome;
use crate::process::one_thread;

/// How long the lines are that are written for a question and for its answer.
const ASKED: usize = 1_590;
const ANSWERED: usize = 710;

/// How long the slate is, and the blocks that it is written in.
const SLATE: usize = 1 << 20;
const BLOCK: usize = 4_096;

/// Cycles a second.
pub(super) fn rate(dir: &Path, clients: usize, cycles: usize) -> Outcome<f64> {
    let mut server = Command::new(std::env::current_exe()?)
        .arg("floor")
        .arg(dir)
        .arg(clients.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut port = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut port)?;
    let rate = rate_at(port.trim().parse()?, clients, cycles);
    // It ends with its clients.
    if server.wait()?.success() { rate } else { Err("the server of the floor broke off".into()) }
}

fn rate_at(port: u16, clients: usize, cycles: usize) -> Outcome<f64> {
    one_thread()?.block_on(async { Ok(share_here(connected(port, clients, Calls::One).await?, cycles).await?.rate()) })
}

/// Serves so many clients until they go: each has a connection to ask and wait on, and then one to answer on.
pub(crate) fn serve(dir: &Path, clients: usize, announce: impl FnOnce(u16) -> Outcome<()>) -> Outcome<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    announce(listener.local_addr()?.port())?;
    let mut files = Files::open(dir, clients * ASKED)?;
    let (asked, awaited, answered) = replies();
    let (mut askers, mut answerers) = (Vec::new(), Vec::new());
    for _ in 0..clients {
        askers.push(accept(&listener)?);
        answerers.push(accept(&listener)?);
    }
    while all_have_come(&mut askers)? {
        files.commit(clients * ASKED)?;
        askers.iter_mut().try_for_each(|it| send(it, &asked))?;
        if !all_have_come(&mut answerers)? {
            break;
        }
        files.commit(clients * ANSWERED)?;
        for (answerer, asker) in answerers.iter_mut().zip(&mut askers) {
            send(answerer, &answered)?;
            send(asker, &awaited)?;
        }
    }
    Ok(())
}

/// What is said of a question that is open and of one that is answered, in two events; and to who answers.
fn replies() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let filled = |data: String, length: usize| format!("{data:<length$}");
    let answer = format!(r#""answer":{{"text":"{ANSWER}"}}"#);
    let event = |name: &str, data: String| {
        let event = format!("event: {name}\ndata: {data}\n\n");
        format!("{:x}\r\n{event}\r\n", event.len())
    };
    let asked = event("asked", filled(r#"{"ok":true,"data":{"question_id":"CLR-1-001"}}"#.to_owned(), 280));
    let awaited = event("awaited", filled(format!(r#"{{"ok":true,"data":{{{answer}}}}}"#), 419));
    let reply = filled(format!(r#"{{"ok":true,"data":{{{answer}}}}}"#), 257);
    let head = |rest: String| format!("HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n{rest}\r\n\r\n");
    let events = "content-type: text/event-stream\r\ncache-control: no-cache\r\nx-accel-buffering: no\r\ntransfer-encoding: chunked";
    (
        format!("{}{asked}", head(events.to_owned())).into_bytes(),
        format!("{awaited}0\r\n\r\n").into_bytes(),
        format!("{}{reply}", head(format!("content-type: application/json\r\ncontent-length: {}", reply.len())))
            .into_bytes(),
    )
}

fn accept(listener: &TcpListener) -> Outcome<TcpStream> {
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    // To fall asleep and be woken takes longer than most requests need to come; where there is but one processor, they cannot meanwhile.
    stream.set_nonblocking(available_parallelism().is_ok_and(|processors| processors.get() > 1))?;
    Ok(stream)
}

/// Waits for a request of each; false if they have gone.
fn all_have_come(clients: &mut [TcpStream]) -> Outcome<bool> {
    let mut request = [0; 4 * BLOCK];
    for client in clients {
        let mut come = 0;
        // A request is a head, and a body that is an object.
        while come == 0 || request[come - 1] != b'}' {
            match client.read(&mut request[come..]) {
                Ok(0) => return Ok(false),
                Ok(count) => come += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(true)
}

fn send(client: &mut TcpStream, reply: &[u8]) -> Outcome<()> {
    // What is sent here always has room in what the system keeps.
    Ok(client.write_all(reply)?)
}

/// A log and a slate, as the engine has them.
struct Files {
    log: Box<dyn DiskFile>,
    slate: Box<dyn DiskFile>,
    written: usize,
    /// Blocks of it are written, from where one could begin.
    memory: Vec<u8>,
}

impl Files {
    /// For commits of so many bytes at most.
    fn open(dir: &Path, most: usize) -> Outcome<Self> {
        let disk = Options::new("bench").disk;
        let (log, path) = (disk.open(&dir.join("floor-log"), Open::Create)?, dir.join("floor-slate"));
        // A log grows; to write over what is there would be less work.
        log.set_len(0)?;
        let slate = disk.open(&path, Open::Create)?;
        slate.write_all_at(&vec![0; SLATE], 0)?;
        slate.sync_data()?;
        // Not every disk can be written directly.
        let slate = disk.open(&path, Open::Direct).unwrap_or(slate);
        Ok(Self { log, slate, written: 0, memory: vec![b'x'; most + 3 * BLOCK] })
    }

    fn commit(&mut self, length: usize) -> Outcome<()> {
        self.log.write_all_at(&self.memory[..length], self.written as u64)?;
        let begun = self.written % BLOCK;
        let blocks = (begun + length).next_multiple_of(BLOCK);
        let at = (self.written - begun) % (SLATE - blocks);
        let first = self.memory.as_ptr().align_offset(BLOCK);
        self.slate.write_all_at(&self.memory[first..first + blocks], at as u64)?;
        self.written += length;
        Ok(self.slate.sync_data()?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn the_clients_of_querent_find_nothing_missing_in_what_it_says() {
        let (dir, (tell, port)) = (tempfile::tempdir().unwrap(), mpsc::channel());
        let at = dir.path().to_owned();
        std::fs::write(at.join("floor-log"), vec![0; 1 << 20]).unwrap();
        let server = thread::spawn(move || serve(&at, 3, |port| Ok(tell.send(port)?)));

        assert!(rate_at(port.recv().unwrap(), 3, 12).unwrap() > 0.0);

        server.join().unwrap().unwrap();
        let log = std::fs::metadata(dir.path().join("floor-log")).unwrap();
        assert_eq!(log.len(), 12 * (ASKED + ANSWERED) as u64, "all of it was written, into a new log");
    }
}
