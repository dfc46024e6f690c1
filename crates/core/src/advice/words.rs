//! A text as words, for rules about words: never by substring, never inside quotes, and silent about scripts that they are
//! not written for.

use std::borrow::Cow;

/// What stands for a quoted piece: a thing with a name, whatever its words say.
const QUOTED: char = '\u{fffc}';

/// What opens a quotation, and what closes it.
const QUOTES: &[(char, char)] =
    &[('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»'), ('「', '」'), ('『', '』')];

/// A word, in lower case, and where it stands.
#[derive(Debug)]
pub(super) struct Word<'a> {
    pub text: Cow<'a, str>,
    /// It is the first of its clause.
    pub starts: bool,
    /// It is the last of its clause.
    pub ends: bool,
    /// Its line; 0 for the first.
    pub line: usize,
    /// It names a certain thing: a path, a quotation, a number, a proper name.
    pub is_name: bool,
}

/// The text with every quotation made one character.
pub(super) fn unquoted(text: &str) -> Cow<'_, str> {
    let may_quote = |byte: u8| matches!(byte, b'`' | b'"' | b'\'') || !byte.is_ascii();
    if !text.bytes().any(may_quote) {
        return text.trim().into();
    }
    let chars: Vec<char> = text.trim().chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let end = closing(&chars, at);
        out.push(if end.is_some() { QUOTED } else { c });
        at = end.unwrap_or(at) + 1;
    }
    out.into()
}

/// The words of a text without quotations.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    if text.is_ascii() {
        // The same, without a look at the tables of Unicode.
        let signs = text.bytes().enumerate().map(|(at, byte)| (at, char::from(byte)));
        divided(text, signs, |c| c.is_ascii_alphanumeric())
    } else {
        divided(text, text.char_indices(), char::is_alphanumeric)
    }
}

fn divided(text: &str, signs: impl Iterator<Item = (usize, char)>, speaks: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::with_capacity(text.len() / 5);
    let (mut line, mut broken) = (0, true);
    let mut begun = None;
    let mut rest = signs.peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().copied();
        if belongs(c, next.map(|(_, next)| next), &speaks) {
            begun.get_or_insert(at);
        } else if let Some(from) = begun.take() {
            found.push(word(&text[from..at], broken, line));
            broken = false;
        }
        if begun.is_none() && !c.is_whitespace() || c == '\n' {
            line += usize::from(c == '\n');
            broken = true;
            found.last_mut().into_iter().for_each(|word| word.ends = true);
        }
    }
    found.extend(begun.map(|from| word(&text[from..], broken, line)));
    found.last_mut().into_iter().for_each(|word| word.ends = true);
    found
}

/// How many questions the text asks. Marks in a row are one; those inside a path, an address or code are none.
pub(super) fn questions(text: &str) -> usize {
    let (mut count, mut from) = (0, 0);
    while let Some(start) = text[from..].find(is_mark).map(|at| from + at) {
        let (before, rest) = text.split_at(start);
        let after = rest.trim_start_matches(is_mark);
        let marks = &rest[..rest.len() - after.len()];
        from = start + marks.len();
        let is_wide = marks.contains(['？', '؟']);
        let ends = after.chars().next().is_none_or(|c| c.is_whitespace() || !c.is_ascii() || matches!(c, ')' | ']'));
        let follows = before.chars().next_back().is_some_and(|c| !c.is_whitespace()) && !before.ends_with("()");
        count += usize::from(is_wide || (marks.contains('?') && ends && follows));
    }
    count
}

/// The last question of the text, without its mark; nothing if there is none.
pub(super) fn last_question(text: &str) -> Option<&str> {
    let (before, _) = text.rsplit_once('?')?;
    let ended = before.rmatch_indices(['.', '!', '?', '\n']).find(|(at, mark)| {
        *mark == "\n" || before.get(at + mark.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace))
    });
    before.get(ended.map_or(0, |(at, mark)| at + mark.len())..)
}

fn is_mark(c: char) -> bool {
    matches!(c, '?' | '!' | '？' | '！' | '؟')
}

/// Where the quotation that opens at `at` is closed, if one does.
fn closing(chars: &[char], at: usize) -> Option<usize> {
    let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    let (open, close) = QUOTES.iter().copied().find(|(open, _)| chars.get(at) == Some(open))?;
    // An apostrophe is no quotation mark.
    if open == '\'' && is_letter(at.checked_sub(1)) {
        return None;
    }
    let closes = |end: &usize| chars.get(*end) == Some(&close) && (close != '\'' || !is_letter(end.checked_add(1)));
    (at + 1..chars.len()).find(closes)
}

/// Whether the character is part of a word: `file-system`, `don't`, `src/a.rs` and `.env` are one each.
fn belongs(c: char, next: Option<char>, speaks: impl Fn(char) -> bool) -> bool {
    let joins = || matches!(c, '-' | '\'' | '’' | '.' | '/' | ':' | '@' | '#' | '\\');
    speaks(c) || c == '_' || c == QUOTED || (joins() && next.is_some_and(speaks))
}

fn word(raw: &str, starts: bool, line: usize) -> Word<'_> {
    if raw.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'\'') {
        return Word { text: raw.into(), starts, ends: false, line, is_name: false };
    }
    let told = |c: char| c.is_numeric() || matches!(c, '_' | '.' | '/' | ':' | '@' | '#' | '\\') || !c.is_ascii();
    let capital = raw.chars().any(char::is_uppercase) && !starts && raw != "I" && !raw.starts_with("I'");
    let is_plain = raw.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    let text = if is_plain { raw.into() } else { raw.to_lowercase().into() };
    Word { text, starts, ends: false, line, is_name: capital || raw.chars().any(told) }
}
