//! A client that speaks MCP to a child process, and costs as little as it can beside the server that is measured.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::Outcome;
use crate::measure::rate;
use crate::served::memory;

/// A server, and the connection to it. It ends with its input.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server and shakes hands with it.
    pub(crate) fn start(program: &Path, arguments: &[&str], dir: &Path) -> Outcome<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut server = Self { child, input, output };
        server.send(&super::initialize())?;
        server.line()?;
        server.send(&super::initialized())?;
        Ok(server)
    }

    /// The most memory that it has needed so far, in bytes.
    pub(crate) fn most_memory(&self) -> Outcome<u64> {
        memory(self.child.id(), "VmHWM")
    }

    /// Ends it whatever it is at.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        Ok(self.child.kill()?)
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &str) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("no input")?;
        input.write_all(format!("{message}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    /// The next message.
    pub(crate) fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the server ended".into());
        }
        Ok(line)
    }

    /// What a tool says.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        self.send(&super::call(1, tool, arguments))?;
        super::said(&self.line()?)
    }

    /// How many calls a second are answered, with so many in flight. Each reply is seen to be one.
    pub(crate) fn rate(&mut self, tool: &str, in_flight: usize, count: usize) -> Outcome<f64> {
        let start = Instant::now();
        for sent in 0..count + in_flight {
            if sent >= in_flight && !self.line()?.contains("\"structuredContent\"") {
                return Err(format!("{tool} was refused").into());
            }
            if sent < count {
                self.send(&super::call(sent, tool, &json!({})))?;
            }
        }
        Ok(rate(count, start))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // It ends by itself; a zombie is all that would be left.
        let _ = self.child.wait();
    }
}
