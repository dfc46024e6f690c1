//! When two questions are the same question.
//!
//! A question is reduced to its words: by Unicode word boundaries, without regard to case, spacing, punctuation and
//! compatibility forms (full-width letters, ligatures). Order counts, and so does every word: whoever asks about another
//! database, another number or the other way round asks something else, however long the rest of the sentence is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicase::UniCase;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::eight::lower_case;
use crate::id::Fingerprint;
use crate::question::Category;

/// From this similarity on, two questions are the same one with small edits.
pub const SAME: f64 = 0.9;

/// What makes a question the question that it is: category, tags and words, normalised.
///
/// Written `clarification #auth: which token format`. Equal patterns are the same question; those who act on that without
/// a person should ask for no less.
///
/// ```
/// use querent_core::{Category, Pattern};
///
/// let asked = Pattern::of("Use Postgres for sessions?", &["Auth".to_owned()], Category::Clarification);
/// let again = Pattern::of("use  postgres, for sessions", &["auth".to_owned()], Category::Clarification);
/// assert_eq!(asked, again);
/// assert_eq!(asked.as_str(), "clarification #auth: use postgres for sessions");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern of a question. The order of its tags does not matter.
    pub fn of(prompt: &str, tags: &[String], category: Category) -> Self {
        let mut tags: Vec<String> = tags.iter().map(|tag| words(tag, b'-')).collect();
        tags.retain(|tag| !tag.is_empty());
        tags.sort_unstable();
        tags.dedup();
        let mut key = category.as_str().to_owned();
        for tag in &tags {
            key.extend([" #", tag]);
        }
        key.extend([SEPARATOR, &said(prompt)]);
        Self(key)
    }

    /// What it is known by where it is not kept.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.0.as_bytes())
    }

    /// The pattern as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parts(&self) -> Parts<'_> {
        let (head, said) = self.0.split_once(SEPARATOR).unwrap_or(("", &self.0));
        let mut head = head.split(' ');
        Parts { category: head.next().unwrap_or_default(), tags: head.collect(), words: said.split(' ').collect() }
    }
}

/// How alike two questions are, from 0 to 1: 1 if their patterns are equal, at least [`SAME`] if they differ in small edits
/// only, below it if a word that matters was added, left out, exchanged or moved. Questions of different categories have
/// nothing in common, and with other tags the same words are about something else.
pub fn similarity(a: &Pattern, b: &Pattern) -> f64 {
    if a == b {
        return 1.0;
    }
    let (a, b) = (a.parts(), b.parts());
    if a.category != b.category {
        return 0.0;
    }
    let all = ratio(&a.words, &b.words);
    let kept = ratio(&content(&a.words), &content(&b.words));
    // Two bands: a sentence may be of any length, yet no one word of it drowns in the others.
    let said = if kept < 1.0 { SAME * kept } else { SAME + (1.0 - SAME) * all };
    if a.tags == b.tags { said } else { SAME * said * ratio(&a.tags, &b.tags) }
}

/// Whether the one is the other asked again, with small edits at most: an article or a courtesy, a plural, a letter doubled.
pub fn is_repeat(a: &Pattern, b: &Pattern) -> bool {
    similarity(a, b) >= SAME
}

/// Between what a question is about and what it says. No category, tag or word before it has a colon.
const SEPARATOR: &str = ": ";

struct Parts<'a> {
    category: &'a str,
    tags: Vec<&'a str>,
    words: Vec<&'a str>,
}

/// The words of a prompt. One that has none is what it is, so that not all such prompts are the same.
fn said(prompt: &str) -> String {
    let words = words(prompt, b' ');
    if words.is_empty() { prompt.split_whitespace().collect::<Vec<_>>().join(" ") } else { words }
}

/// The words and signs of a text, normalised. Scripts without spaces have a word a letter: finer, and so never too alike.
fn words(text: &str, between: u8) -> String {
    if text.is_ascii() { ascii_words(&lower_case(text), between) } else { unicode_words(text, between.into()) }
}

/// What a character is, in lower case: each a bit. None but those of ASCII are anything.
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
const SYMBOL: u8 = 8;
const OF_A_WORD: u8 = LETTER | DIGIT | UNDERSCORE;
/// Letters, digits and symbols speak; punctuation and white space do not.
const SPEAKS: u8 = LETTER | DIGIT | SYMBOL;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let class = match byte as u8 {
            b'a'..=b'z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'$' | b'+' | b'<' | b'=' | b'>' | b'|' | b'~' => SYMBOL,
            _ => 0,
        };
        classes[byte] = class;
        byte += 1;
    }
    classes
};

/// The same for the texts that are most common, in lower case, at a fraction of the cost. It says what [`unicode_words`] says.
fn ascii_words(text: &str, between: u8) -> String {
    let bytes = text.as_bytes();
    let class = |place: usize| bytes.get(place).map_or(0, |byte| CLASSES[usize::from(*byte)]);
    let is_plain = |place| class(place) & (LETTER | DIGIT) != 0;
    let sign = |place: usize| bytes.get(place).map_or(' ', |byte| char::from(*byte));
    let mut words = String::with_capacity(text.len());
    // Words that stand in the text as they shall are copied together.
    let mut copied = 0..0;
    let mut place = 0;
    while place < bytes.len() {
        let start = place;
        let mut seen = class(start);
        place += 1;
        if seen == 0 && bytes[start] == b' ' {
            continue;
        }
        while seen & OF_A_WORD != 0 {
            let rest = bytes[place..].iter().map(|byte| CLASSES[usize::from(*byte)]);
            for class in rest.take_while(|class| class & OF_A_WORD != 0) {
                seen |= class;
                place += 1;
            }
            // Plain words with a space between them are taken together.
            if bytes.get(place) == Some(&b' ') && between == b' ' && is_plain(place - 1) && is_plain(place + 1) {
                place += 1;
                continue;
            }
            // An apostrophe or a point joins letters and digits, a comma digits alone.
            let joins = match bytes.get(place) {
                Some(b'.' | b'\'') => LETTER | DIGIT,
                Some(b',' | b';') => DIGIT,
                _ => break,
            };
            if class(place - 1) & class(place + 1) & joins == 0 {
                break;
            }
            place += 2;
            seen |= class(place - 1);
        }
        let before = || start.checked_sub(1).map_or(' ', sign);
        if seen & SPEAKS != 0 || (place == start + 1 && is_sign(before(), sign(start), sign(place))) {
            if start == copied.end + 1 && bytes[copied.end] == between && !copied.is_empty() {
                copied.end = place;
            } else {
                words.push_str(&text[copied]);
                if !words.is_empty() {
                    words.push(char::from(between));
                }
                copied = start..place;
            }
        }
    }
    words.push_str(&text[copied]);
    words
}

fn unicode_words(text: &str, between: char) -> String {
    let text = normalised(text);
    let mut words: Vec<&str> = Vec::new();
    let mut before = ' ';
    let mut rest = text.split_word_bounds().peekable();
    while let Some(segment) = rest.next() {
        let after = rest.peek().and_then(|next| next.chars().next()).unwrap_or(' ');
        let mut letters = segment.chars();
        let alone = letters.next().filter(|_| letters.next().is_none());
        if segment.chars().any(speaks) || alone.is_some_and(|sign| is_sign(before, sign, after)) {
            words.push(segment);
        }
        before = segment.chars().next_back().unwrap_or(' ');
    }
    words.join(between.encode_utf8(&mut [0; 4]))
}

/// Compatibility forms composed, case folded, invisible characters gone, and one apostrophe for all.
fn normalised(text: &str) -> String {
    let folded = UniCase::unicode(text.nfkc().collect::<String>()).to_folded_case();
    let visible = folded.nfkc().filter(|c| !is_invisible(*c));
    let plain = visible.map(|c| match c {
        '\u{2019}' | '\u{2018}' | '\u{2bc}' => '\'',
        '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        // Between letters a colon would join them, and a zero-width space would not part them.
        ':' | '\u{200b}' => ' ',
        c => c,
    });
    plain.collect()
}

/// Joiners, marks of direction, soft hyphens, variation selectors: they change how a text looks, not what it says.
fn is_invisible(c: char) -> bool {
    let format = get_general_category(c) == GeneralCategory::Format && c != '\u{200b}';
    format || matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Letters, digits and symbols speak (`C++`, `<` and `>`, currencies); punctuation and white space do not.
fn speaks(c: char) -> bool {
    use GeneralCategory as G;
    c.is_alphanumeric()
        || !matches!(
            get_general_category(c),
            G::ConnectorPunctuation
                | G::DashPunctuation
                | G::OpenPunctuation
                | G::ClosePunctuation
                | G::InitialPunctuation
                | G::FinalPunctuation
                | G::OtherPunctuation
                | G::ModifierSymbol
                | G::NonspacingMark
                | G::SpacingMark
                | G::EnclosingMark
                | G::SpaceSeparator
                | G::LineSeparator
                | G::ParagraphSeparator
                | G::Control
                | G::Format
        )
}

/// Punctuation that is part of what is said where it stands: `C#`, `50%`, `-1`, `!=`.
fn is_sign(before: char, sign: char, after: char) -> bool {
    match sign {
        '#' => before.is_alphanumeric(),
        '%' => before.is_numeric(),
        '-' => !before.is_alphanumeric() && after.is_numeric(),
        '!' => after == '=',
        _ => false,
    }
}

/// The words that matter, each without what a slip or a plural changes. Where no other word is, the fillers matter.
fn content<'a>(words: &[&'a str]) -> Vec<Cow<'a, str>> {
    let content: Vec<_> = words.iter().filter(|word| !FILLERS.contains(word)).map(|word| stem(word)).collect();
    if content.is_empty() { words.iter().map(|word| (*word).into()).collect() } else { content }
}

/// Words that come and go when a question is asked again. Those that can turn an answer (not, can, should, before) are
/// none, and other languages have none here: there, only the same words are a repetition.
const FILLERS: [&str; 13] =
    ["a", "again", "an", "hello", "hi", "just", "kindly", "ok", "okay", "please", "so", "the", "we"];

/// Long plain words without doubled letters and a plural's s. Anything that may be a name or a number stays as it is. No
/// other slips are forgiven: one letter can make the opposite of a word.
fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 5 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.into();
    }
    let mut letters: Vec<char> = word.chars().collect();
    letters.dedup();
    if letters.last() == Some(&'s') {
        letters.pop();
    }
    letters.into_iter().collect::<String>().into()
}

/// The share of words that stay when one sentence is edited into the other.
fn ratio<T: PartialEq>(a: &Vec<T>, b: &Vec<T>) -> f64 {
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 1.0;
    }
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    1.0 - count(strsim::generic_levenshtein(a, b)) / count(longest)
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
