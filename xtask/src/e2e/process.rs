//! Processes with a limit: each in a group of its own, so that what it started ends with it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

/// Puts what the command starts into a group of its own.
#[cfg(unix)]
pub(super) fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Puts what the command starts into a group of its own.
#[cfg(not(unix))]
pub(super) fn own_group(_: &mut Command) {}

/// Ends the group that the process `leader` was started with, and nothing else.
pub(super) fn end_group(leader: u32) {
    let group = format!("-{leader}");
    // It may have ended by itself.
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
}

/// Sends every line, as long as somebody listens.
pub(super) fn send_lines<T: Send + 'static>(
    from: impl Read + Send + 'static,
    sender: Sender<T>,
    wrap: impl Fn(String) -> T + Send + 'static,
) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(wrap(line)).is_err() {
                return;
            }
        }
    });
}
