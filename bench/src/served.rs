//! Servers that are measured, each a process of its own on loopback.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::Outcome;

/// A server, which is ended when this is dropped.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts a server on a free port; `PORT` among the arguments is replaced by it.
    pub(crate) fn start(program: &Path, arguments: &[&str], dir: &Path) -> Outcome<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let arguments = arguments.iter().map(|it| it.replace("PORT", &port.to_string()));
        let child = Command::new(program)
            .args(arguments)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self { child, port };
        // Not every server says when it listens, so each is tried.
        for _ in 0..300 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(server);
            }
            sleep(Duration::from_millis(100));
        }
        Err(format!("{} does not listen", program.display()).into())
    }

    /// Where it listens on loopback.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What the system says of its memory, in bytes: `VmHWM` is the most that it had, `VmRSS` what it has.
    pub(crate) fn memory(&self, name: &str) -> Outcome<u64> {
        memory(self.child.id(), name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that is gone already is ended too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the system says of the memory of a process, in bytes.
pub(crate) fn memory(process: u32, name: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value.ok_or_else(|| format!("the system does not say {name}"))?;
    Ok(value.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}
