//! What a program prints, in lines and within bounds.

use crate::normalise::LONGEST_LINE;

/// How much of a program's complaints is kept.
const KEPT: usize = 4096;
/// How much of a text is kept: its last part.
const LONGEST_TEXT: usize = 1 << 20;
/// What stands in place of a secret.
const MASK: &str = "***";

/// Bytes that become lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    /// Whether the line at hand is too long already.
    is_skipping: bool,
}

/// A line of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// As it was printed, but for what is not text.
    Text(String),
    /// One that nobody wants to read.
    TooLong,
}

impl Lines {
    /// The lines that these bytes end.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (part, is_end) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
            self.is_skipping |= self.held.len() + part.len() > LONGEST_LINE;
            if self.is_skipping {
                self.held = Vec::new();
            } else {
                self.held.extend_from_slice(part);
            }
            if is_end {
                lines.push(self.take());
            }
        }
        lines
    }

    /// The last line, if it has no end.
    pub(crate) fn rest(&mut self) -> Option<Line> {
        (self.is_skipping || !self.held.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> Line {
        let held = std::mem::take(&mut self.held);
        if std::mem::take(&mut self.is_skipping) {
            return Line::TooLong;
        }
        Line::Text(String::from_utf8_lossy(&held).trim_end_matches('\r').to_owned())
    }
}

/// The last part of a text that grows.
#[derive(Debug, Default)]
pub(crate) struct Said(String);

impl Said {
    /// Adds to it.
    pub(crate) fn push(&mut self, text: &str) {
        self.0.push_str(text);
        if self.0.len() > 2 * LONGEST_TEXT {
            let from = self.0.ceil_char_boundary(self.0.len() - LONGEST_TEXT);
            self.0.drain(..from);
        }
    }

    /// All that is left of it.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Values that must not be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// These values. Short ones are words that anybody may say.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= 8).collect();
        // One may be a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text without them.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, MASK))
    }

    fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }
}

/// The last of what a program complains about. Secrets are taken out before anything is cut, so that no part of one is left.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    secrets: Secrets,
    kept: Said,
    /// What may be the beginning of a secret.
    pending: Vec<u8>,
}

impl Complaints {
    /// None yet.
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Adds to them.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > KEPT + 2 * self.secrets.longest() {
            let masked = self.secrets.mask(&String::from_utf8_lossy(&self.pending));
            let safe = masked.floor_char_boundary(masked.len().saturating_sub(self.secrets.longest()));
            let (safe, rest) = masked.split_at(safe);
            self.kept.push(safe);
            self.pending = rest.as_bytes().to_vec();
        }
    }

    /// The last of them.
    pub(crate) fn text(mut self) -> String {
        self.kept.push(&self.secrets.mask(&String::from_utf8_lossy(&self.pending)));
        let all = self.kept.text().trim();
        all[all.ceil_char_boundary(all.len().saturating_sub(KEPT))..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::default();
        let mut all: Vec<Line> = parts.iter().flat_map(|part| lines.push(part)).collect();
        all.extend(lines.rest());
        all
    }

    #[test]
    fn lines_are_put_together_whatever_way_they_come() {
        let text = |line: &str| Line::Text(line.to_owned());
        assert_eq!(lines(&[b"a", b"b\r\n\nc\nd"]), [text("ab"), text(""), text("c"), text("d")]);
        assert_eq!(lines(&[b"\xff\xfea\n"]), [text("\u{fffd}\u{fffd}a")]);
        assert_eq!(lines(&[]), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_not_held() {
        let mut lines = Lines::default();
        let part = vec![b'x'; 1 << 20];
        for _ in 0..64 {
            assert_eq!(lines.push(&part), []);
            assert!(lines.held.capacity() <= 2 * LONGEST_LINE);
        }
        assert_eq!(lines.push(b"\nnext\n"), [Line::TooLong, Line::Text("next".to_owned())]);
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_text_keeps_its_last_part() {
        let mut said = Said::default();
        for _ in 0..10 {
            said.push(&"\u{e9}".repeat(LONGEST_TEXT / 2));
        }
        said.push("end");
        assert!(said.text().len() <= 2 * LONGEST_TEXT && said.text().ends_with("end"));
    }

    #[test]
    fn no_part_of_a_secret_is_left_wherever_it_stands() {
        let secret = "secret-0123456789";
        for before in 0..64 {
            let mut complaints = Complaints::new(Secrets::new([secret.to_owned(), "0123456789".to_owned()]));
            let printed = format!("{}{secret}{}", "a".repeat(before), "z".repeat(KEPT - 32));
            for part in printed.as_bytes().chunks(7) {
                complaints.push(part);
            }
            let text = complaints.text();
            assert!(text.len() <= KEPT && text.ends_with('z'));
            assert!(!text.contains("0123") && !text.contains("789"), "{text}");
        }
    }

    #[test]
    fn complaints_without_an_end_are_not_held() {
        let mut complaints = Complaints::new(Secrets::default());
        for _ in 0..10_000 {
            complaints.push(&[b'x'; 1000]);
        }
        assert!(complaints.kept.text().len() + complaints.pending.len() <= 3 * LONGEST_TEXT);
        assert_eq!(complaints.text().len(), KEPT);
    }
}
