//! What agents wrote, made harmless: it is shown by programs that we do not know.

/// Without control characters, and without those that turn the direction of a text. Lines stay lines.
pub(crate) fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| *c == '\n' || !(c.is_control() || turns(*c))).collect()
}

/// The same on one line.
pub(crate) fn line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// At most so many bytes, in whole characters.
pub(crate) fn cut_bytes(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub('…'.len_utf8())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// As Slack and markup want it: what could begin a tag or a mention cannot.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_or_turn_a_text_is_taken_out() {
        assert_eq!(clean("a\u{1b}]9;x\u{7}b\r\n\u{202e}c\tд"), "a]9;xb\ncд");
        assert_eq!(line(" a\n\n b\u{0} "), "a b");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("質問です", 3), "質問…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut_bytes("質問です", 9), "質問…");
        assert_eq!(cut_bytes("質問です", 8), "質…");
        assert_eq!(cut_bytes("質", 3), "質");
    }
}
