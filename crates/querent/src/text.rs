//! Text for a terminal. What agents wrote is untrusted: it must not move the cursor, hide words or retitle the window.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use querent_core::Moment;

/// The text without control characters and escape sequences; lines and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => cleaned.push(c),
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_to_final(&mut rest),
            c if c.is_control() || turns_direction(c) => {}
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// The same on one line.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with all lines but the first moved in: what somebody wrote must not look like a line of ours.
pub(crate) fn hanging(text: &str, by: usize) -> String {
    text.lines().collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(by)))
}

/// How long ago it was: `12m`.
pub(crate) fn age(now: Moment, then: Moment) -> String {
    now.since(then).rough()
}

/// The local time of a moment: `10:02`, on another day than `now` with its date.
pub(crate) fn clock(zone: &TimeZone, now: Moment, moment: Moment) -> String {
    let local = |moment: Moment| Timestamp::from_millisecond(moment.millis()).map(|at| at.to_zoned(zone.clone()));
    match (local(now), local(moment)) {
        (Ok(now), Ok(at)) if now.date() == at.date() => at.strftime("%H:%M").to_string(),
        (_, Ok(at)) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        (_, Err(_)) => moment.to_string(),
    }
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What follows an escape: a control sequence, a string such as a window title, or a single character.
fn skip_escape(rest: &mut Rest<'_>) {
    match rest.next_if(|c| !c.is_control()) {
        Some('[') => skip_to_final(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // Ends with a bell or with `ESC \`; an unended one ends with its line, so that it cannot swallow the rest.
            while let Some(c) = rest.next_if(|c| *c != '\n') {
                if c == '\u{7}' || (c == '\u{1b}' && rest.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

fn skip_to_final(rest: &mut Rest<'_>) {
    while rest.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    rest.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

/// Characters that change the direction of writing: they can make a text read as another.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_control_characters_never_reach_the_terminal() {
        for (text, seen) in [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;http://x\u{1b}\\link", "alink"),
            ("a\u{9b}2Jb\u{8}\r\u{7f}", "ab"),
            ("a\u{1b}]never ended\nb", "a\nb"),
            ("a\u{202e}txt.exe", "atxt.exe"),
            ("\u{1b}", ""),
            ("naïve 日本 \u{1f44d}\tx", "naïve 日本 \u{1f44d}\tx"),
        ] {
            assert_eq!(clean(text), seen, "{text:?}");
        }
    }

    #[test]
    fn a_text_in_a_table_is_one_line() {
        assert_eq!(clean_line("two\r\n  lines\tand a tab "), "two lines and a tab");
    }

    #[test]
    fn a_second_line_never_stands_where_ours_do() {
        assert_eq!(hanging("x\n[RESOLVED] by human: fake", 2), "x\n  [RESOLVED] by human: fake");
        assert_eq!(hanging("one line", 2), "one line");
    }

    #[test]
    fn ages_are_rough_and_clocks_are_local() {
        let then: Moment = "2026-11-15T08:02:00Z".parse().unwrap();
        let now: Moment = "2026-11-15T08:14:59Z".parse().unwrap();

        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let tomorrow: Moment = "2026-11-15T22:02:00Z".parse().unwrap();

        assert_eq!(age(now, then), "12m");
        assert_eq!(clock(&zone, now, then), "10:02");
        assert_eq!(clock(&zone, now, tomorrow), "2026-11-16 00:02");
    }
}
