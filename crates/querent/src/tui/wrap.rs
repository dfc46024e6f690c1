//! Text in columns of a terminal, by the width that it has there.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What one column may be made of: more marks than any script needs on one letter.
const MOST_MARKS: usize = 16;

/// The lines of a text, none wider than `width`. A line that goes on is moved in as far as it was itself.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    for line in text.replace('\t', "    ").split('\n') {
        let words = line.trim_start_matches(' ');
        let indent = " ".repeat((line.len() - words.len()).min(width / 2));
        wrap_line(words.trim_end(), &indent, width, &mut lines);
    }
    lines
}

fn wrap_line(words: &str, indent: &str, width: usize, lines: &mut Vec<String>) {
    let mut line = indent.to_owned();
    let mut used = indent.len();
    let mut is_first = true;
    for word in words.split(' ') {
        let wide = word.width();
        if !is_first && used + 1 + wide <= width {
            line.push(' ');
            line.push_str(&calm(word));
            used += 1 + wide;
            continue;
        }
        if !is_first {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            used = indent.len();
        }
        is_first = false;
        for letter in word.graphemes(true) {
            let wide = letter.width();
            if used + wide > width {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                used = indent.len();
            }
            line.extend(letter.chars().take(MOST_MARKS));
            used += wide;
        }
    }
    lines.push(line);
}

/// The text, cut where it would be wider than `width`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return calm(text);
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.graphemes(true) {
        used += letter.width();
        if used + 1 > width {
            break;
        }
        kept.extend(letter.chars().take(MOST_MARKS));
    }
    kept.push('…');
    kept
}

/// The text without heaps of marks on one letter, which would flood the lines above and below.
fn calm(text: &str) -> String {
    text.graphemes(true).flat_map(|letter| letter.chars().take(MOST_MARKS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_words_by_the_width_that_they_have() {
        for (text, width, lines) in [
            ("one two three", 8, vec!["one two", "three"]),
            ("", 8, vec![""]),
            ("a\n\nb", 8, vec!["a", "", "b"]),
            ("日本語 日本", 6, vec!["日本語", "日本"]),
            ("日本語", 5, vec!["日本", "語"]),
            ("unbreakable", 4, vec!["unbr", "eaka", "ble"]),
            ("ab unbreakable", 4, vec!["ab", "unbr", "eaka", "ble"]),
            ("  Q: one two", 8, vec!["  Q: one", "  two"]),
            ("x", 0, vec!["x"]),
        ] {
            assert_eq!(wrap(text, width), lines, "{text:?} in {width}");
        }
    }

    #[test]
    fn no_line_is_wider_than_asked_for_whatever_is_in_it() {
        let zalgo = format!("a{} b\u{200d}\u{1f469}\u{200d}\u{1f469} 日{}", "\u{301}".repeat(500), "x".repeat(90));
        for width in 2..40 {
            for line in wrap(&zalgo, width) {
                assert!(line.width() <= width, "{line:?} in {width}");
                assert!(line.chars().count() < 100);
            }
            assert!(cut(&zalgo, width).width() <= width);
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("too long", 5), "too …");
        assert_eq!(cut("日本語", 4), "日…");
    }
}
