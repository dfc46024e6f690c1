//! The desktop of whoever runs the server: a word to the terminal (OSC 9 and the bell), and to the desktop by D-Bus.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use super::message::{Letter, Note, Urgency};
use super::text::{cut, escaped, line};

/// What is written to a terminal: terminals that know OSC 9 show it, all others ring.
pub(crate) fn escape_sequence(note: &Note) -> String {
    // What could end the sequence was taken out of the text.
    format!("\u{1b}]9;{}\u{7}\u{7}", cut(&line(&note.title), 200))
}

/// The arguments of `notify-send`, which speaks D-Bus.
pub(crate) fn arguments(note: &Note) -> Vec<String> {
    let urgency = match note.urgency {
        Urgency::Low => "low",
        Urgency::Normal => "normal",
        Urgency::High => "critical",
    };
    let body = format!("{}\n{}", escaped(&cut(&note.body, 400)), note.open.as_deref().unwrap_or(&note.foot));
    let fixed = ["--app-name=Querent", "--urgency", urgency, "--"].map(str::to_owned);
    fixed.into_iter().chain([cut(&note.title, 200), body]).collect()
}

/// Sends it both ways, if they are there; one is enough.
pub(crate) fn send(letter: &Letter) -> Result<(), String> {
    let note = letter.note();
    let rung = ring(&escape_sequence(&note));
    let shown = Command::new("notify-send")
        .args(arguments(&note))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match shown {
        Ok(status) if status.success() => Ok(()),
        _ if rung => Ok(()),
        Ok(status) => Err(format!("there is no terminal, and notify-send ended with {status}")),
        Err(error) => Err(format!("there is no terminal, and notify-send cannot be run: {error}")),
    }
}

/// Whether a terminal heard it.
fn ring(sequence: &str) -> bool {
    let mut stderr = std::io::stderr();
    stderr.is_terminal() && stderr.write_all(sequence.as_bytes()).and_then(|()| stderr.flush()).is_ok()
}
