//! Everything that is printed goes through here: envelopes for programs, pages for people.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};

use clap::builder::styling::{AnsiColor, Style};
use querent_core::Envelope;
use serde::Serialize;

use super::error::Failure;
use crate::text::clean;

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
}

impl Paint {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Bold => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// A text for people. Whatever is written on it is cleaned first, so only its own colours reach a terminal.
pub(crate) struct Page {
    text: String,
    paper: Paper,
}

/// What a page is written for.
#[derive(Clone, Copy)]
pub(crate) struct Paper {
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// How wide it is; nothing if it is no terminal.
    pub(crate) width: Option<usize>,
    /// How many lines it shows; nothing if it is no terminal.
    pub(crate) height: Option<usize>,
}

impl Paper {
    /// What standard output is.
    pub(crate) fn stdout() -> Self {
        let out = io::stdout();
        let size = terminal_size::terminal_size_of(&out).filter(|(width, _)| width.0 > 0);
        let (width, height) = size.map(|(width, height)| (usize::from(width.0), usize::from(height.0))).unzip();
        Self { colour: colour_on(&out), width, height }
    }

    /// What standard error is.
    pub(crate) fn stderr() -> Self {
        Self { colour: colour_on(&io::stderr()), width: None, height: None }
    }

    /// A file.
    pub(crate) const PLAIN: Self = Self { colour: false, width: None, height: None };
}

impl Page {
    /// An empty page.
    pub(crate) fn new(paper: Paper) -> Self {
        Self { text: String::new(), paper }
    }

    /// How many columns there are, where that is known.
    pub(crate) fn width(&self) -> Option<usize> {
        self.paper.width
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.text.push_str(&clean(text));
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text(text.as_ref());
        self.text.push('\n');
    }

    /// Writes a text in a colour.
    pub(crate) fn paint(&mut self, paint: Paint, text: &str) {
        if self.paper.colour && paint != Paint::Plain && !text.is_empty() {
            let style = paint.style();
            // Writing to a string does not fail.
            let _ = write!(self.text, "{style}{}{style:#}", clean(text));
        } else {
            self.text(text);
        }
    }

    /// Writes what to do now.
    pub(crate) fn next(&mut self, text: impl AsRef<str>) {
        self.paint(Paint::Dim, "next: ");
        self.line(text);
    }

    /// The text that was written.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// Whether colours are wanted on a stream.
fn colour_on(stream: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    stream.is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Prints a page.
pub(crate) fn print_page(page: Page) -> Result<(), Failure> {
    print(page.into_text().as_bytes())
}

/// Prints an envelope on a line of its own.
pub(crate) fn print_envelope(envelope: &Envelope) -> Result<(), Failure> {
    print_line(envelope.as_str())
}

/// Prints a reply with data on a line of its own. It is not kept as a whole: a list may be long.
pub(crate) fn print_data(data: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let printed = Envelope::write_ok(data, &mut out).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    printed.map_err(Failure::Unwritten)
}

/// Prints a line as it is.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    print(&bytes)
}

/// Prints bytes, at once.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Unwritten)
}
