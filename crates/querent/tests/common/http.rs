//! A running server, and a client that says no more than it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::Project;

/// What the tests' webhooks are signed with, and the token of their bots.
pub(crate) const SECRET: &str = "a-secret-of-the-tests";

/// A running server; ended with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    said: Arc<Mutex<String>>,
}

/// What a server replied.
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn start(project: &Project) -> Self {
        let mut command = project.querent(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = Project::start(command.env("TEST_SECRET", SECRET).stderr(std::process::Stdio::piped()));
        let log = child.stderr.take().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address, said }
    }

    /// At once, in the middle of whatever it does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// In order; it must end well.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    /// What its log says by now.
    pub(crate) fn log(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Sends a request and does not wait for the reply.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        self.send_to(&self.address, method, path, headers, body)
    }

    fn send_to(&self, host: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        write!(stream, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        // A server that has enough of it may hang up.
        let _ = stream.write_all(body);
        stream
    }

    /// The same under another name for the server.
    pub(crate) fn request_to(
        &self,
        host: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        Reply::read(self.send_to(host, method, path, headers, body))
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        Reply::read(self.send(method, path, headers, body))
    }

    /// A request whose body never comes to its end.
    pub(crate) fn send_half(&self, method: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\n{{", self.address).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", &format!("/api/v1{path}"), &[], b"")
    }

    #[expect(clippy::needless_pass_by_value, reason = "what is said reads better at its place")]
    pub(crate) fn post(&self, path: &str, body: Value) -> Reply {
        self.post_with(path, &[], &body)
    }

    /// The same with more headers.
    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        let headers = [&[("Content-Type", "application/json")], headers].concat();
        self.request("POST", &format!("/api/v1{path}"), &headers, body.to_string().as_bytes())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let reply = String::from_utf8(bytes).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of a call that must succeed.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()["data"].clone()
    }

    /// The refusal, which must have this status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let json = self.json();
        assert_eq!((self.status, json["error"]["code"].as_str()), (status, Some(code)), "{}", self.body);
        assert_eq!(json["ok"], false);
        json["error"].clone()
    }
}
