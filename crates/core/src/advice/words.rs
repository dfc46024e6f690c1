//! A text as words, for rules about words: never by substring, never inside quotes, and silent about scripts that they are
//! not written for.

use std::borrow::Cow;

use crate::eight;

/// What stands for a quoted piece: a thing with a name, whatever its words say.
const QUOTED: char = '\u{fffc}';

/// What opens a quotation, and what closes it.
const QUOTES: &[(char, char)] =
    &[('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»'), ('「', '」'), ('『', '』')];

/// A word, in lower case, and where it stands.
#[derive(Debug, PartialEq, Eq)]
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
    let quotes = |it| [b'`', b'"', b'\''].iter().fold(eight::foreign(it), |found, mark| found | eight::same(it, *mark));
    if !eight::any(text.as_bytes(), quotes) {
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
    if text.is_ascii() { ascii_words(text) } else { unicode_words(text) }
}

/// What a character of ASCII is: a letter or a digit, part of a word in any case, part of one before a letter or a digit.
const SPEAKS: u8 = 1;
const BELONGS: u8 = 2;
const JOINS: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 128")]
        let class = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => SPEAKS | BELONGS,
            b'_' => BELONGS,
            b'-' | b'\'' | b'.' | b'/' | b':' | b'@' | b'#' | b'\\' => JOINS,
            _ => 0,
        };
        classes[byte] = class;
        byte += 1;
    }
    classes
};

/// The same for the texts that are most common, at a fraction of the cost. It says what [`unicode_words`] says.
fn ascii_words(text: &str) -> Vec<Word<'_>> {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(0, |byte| CLASSES[usize::from(*byte)]);
    let belongs = |at| class(at) & BELONGS != 0 || class(at) & JOINS != 0 && class(at + 1) & SPEAKS != 0;
    let mut found: Vec<Word<'_>> = Vec::with_capacity(text.len() / 5);
    let (mut line, mut broken, mut at) = (0, true, 0);
    while let Some(byte) = bytes.get(at) {
        let from = at;
        while belongs(at) {
            at += 1;
        }
        if at > from {
            found.push(word(&text[from..at], broken, line));
            broken = false;
            continue;
        }
        if *byte == b'\n' || !char::from(*byte).is_whitespace() {
            line += usize::from(*byte == b'\n');
            broken = true;
            found.last_mut().into_iter().for_each(|word| word.ends = true);
        }
        at += 1;
    }
    found.last_mut().into_iter().for_each(|word| word.ends = true);
    found
}

fn unicode_words(text: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::with_capacity(text.len() / 5);
    let (mut line, mut broken) = (0, true);
    let mut begun = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().copied();
        if belongs(c, next.map(|(_, next)| next)) {
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

/// Whether the text may have one of these words, which are of small letters: seen at a fraction of what its words cost.
pub(super) fn has_word(text: &str, words: &[&str]) -> bool {
    // Most words do not even begin and end like one of them.
    let bit = |byte: &u8| 1_u32 << (byte & 31);
    let ends = |word: &[u8]| word.first().zip(word.last()).map_or([0, 0], |(first, last)| [bit(first), bit(last)]);
    let all = words.iter().map(|word| ends(word.as_bytes())).fold([0, 0], |all, it| [all[0] | it[0], all[1] | it[1]]);
    let may_be = |part: &[u8]| ends(part).into_iter().zip(all).all(|(own, all)| own & all != 0);
    let is_one = |part: &[u8]| may_be(part) && words.iter().any(|word| part.eq_ignore_ascii_case(word.as_bytes()));
    let mut letters = text.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
    // Other alphabets have letters that are ours in lower case.
    !text.is_ascii() || letters.any(is_one)
}

/// Whether the text is sure to have more words than so many. Behind a space another one begins.
pub(super) fn has_more_words_than(many: usize, text: &str) -> bool {
    let begins = |pair: &&[u8; 2]| pair[0] == b' ' && pair[1].is_ascii_alphanumeric();
    text.as_bytes().array_windows().filter(begins).nth(many).is_some()
}

/// How many questions the text asks. Marks in a row are one; those inside a path, an address or code are none.
pub(super) fn questions(text: &str) -> usize {
    let (mut count, mut from) = (0, 0);
    let is_plain = text.is_ascii();
    let next = |text: &str| {
        let marks = |it| eight::same(it, b'?') | eight::same(it, b'!');
        if is_plain { eight::position(text.as_bytes(), marks) } else { text.find(is_mark) }
    };
    while let Some(start) = next(&text[from..]).map(|at| from + at) {
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
fn belongs(c: char, next: Option<char>) -> bool {
    let joins = || matches!(c, '-' | '\'' | '’' | '.' | '/' | ':' | '@' | '#' | '\\');
    c.is_alphanumeric() || c == '_' || c == QUOTED || (joins() && next.is_some_and(char::is_alphanumeric))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of up to so many of these pieces.
    fn made_of(pieces: &[&str], most: usize) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut last = texts.clone();
        for _ in 0..most {
            last = last.iter().flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}"))).collect();
            texts.extend(last.iter().cloned());
        }
        texts
    }

    #[test]
    fn what_is_seen_sooner_is_what_the_words_show() {
        let pieces =
            ["one", "One", "time", "s", "7", "_", "-", "'", ".", "/", " ", "\n", ",", "?", "é", "\u{fffc}", "K"];
        for text in made_of(&pieces, 4) {
            let words = words(&text);
            let has = words.iter().any(|word| word.text == "one" || word.text == "time");
            assert!(has_word(&text, &["one", "time"]) || !has, "{text:?}");
            for many in 0..4 {
                assert!(!has_more_words_than(many, &text) || words.len() > many, "{text:?} {many}");
            }
        }
        assert!(!has_word("Nobody is alone, sometimes.", &["one", "time"]) && !has_more_words_than(1, "a-b, c"));
        assert!(has_more_words_than(1, "a b c") && !has_more_words_than(2, "a b c"), "the first is not counted");
    }

    #[test]
    fn questions_of_plain_texts_are_counted_like_those_of_others() {
        for text in made_of(&["a", "?", "!", " ", ")", "(", "."], 6) {
            assert_eq!(questions(&text), questions(&format!("\u{2014} {text}")), "{text:?}");
        }
    }

    #[test]
    fn plain_texts_have_the_same_words_at_less_cost() {
        let signs = ["a", "B", "7", "_", "-", "'", ".", "/", ":", "#", "\\", " ", "\t", "\n", ",", "?", "("];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            texts = texts.iter().flat_map(|text| signs.map(|sign| format!("{text}{sign}"))).collect();
            for text in &texts {
                assert_eq!(ascii_words(text), unicode_words(text), "{text:?}");
            }
        }
        for byte in 0..128_u8 {
            let text = format!("a{0}b {0} c{0} {0}D", char::from(byte));
            assert_eq!(ascii_words(&text), unicode_words(&text), "{text:?}");
        }
    }
}
