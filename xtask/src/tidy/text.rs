//! Plain text: nothing that does not print, no emoji, no path of somebody's machine.

use std::path::Path;

use super::Finding;

/// Where the files of one person's machine lie. Written in two halves, so that this file keeps its own rule.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers\\"),
];

pub(super) fn check(path: &Path, text: &str) -> Vec<Finding> {
    let lines = text.split('\n').enumerate();
    lines.filter_map(|(place, line)| fault(line).map(|what| Finding::new(path, place + 1, what))).collect()
}

fn fault(line: &str) -> Option<String> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if let Some(character) = line.chars().find(|it| is_unprintable(*it)) {
        let code = u32::from(character);
        return Some(format!("U+{code:04X} is no printable text; write it as an escape or leave it out"));
    }
    if let Some(character) = line.chars().find(|it| is_emoji(*it)) {
        return Some(format!("U+{:04X} is an emoji; use words, or an escape in a test", u32::from(character)));
    }
    let found = MACHINE_PATHS.iter().find(|pattern| begins_a_path(line, pattern))?;
    Some(format!("`{found}` is a path of one machine; use a relative path or a placeholder"))
}

/// Whether `pattern` stands in `line` as the beginning of a path, and not inside a longer one or an address.
fn begins_a_path(line: &str, pattern: &str) -> bool {
    line.match_indices(pattern).any(|(place, _)| {
        let before = line[..place].chars().next_back();
        before.is_none_or(|it| !(it.is_alphanumeric() || matches!(it, '.' | '-' | '_' | '~' | '}' | '>' | '/' | '*')))
    })
}

/// Control characters, what was not UTF-8, and characters that hide or turn text around.
fn is_unprintable(character: char) -> bool {
    let hidden = matches!(
        character,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FFFD}'
    );
    hidden || (character.is_control() && character != '\t')
}

/// What terminals and browsers draw as a coloured picture.
fn is_emoji(character: char) -> bool {
    matches!(
        character,
        '\u{1F000}'..='\u{1FAFF}'
            | '\u{FE0F}'
            | '\u{231A}' | '\u{231B}' | '\u{23E9}'..='\u{23F3}'
            | '\u{2600}'..='\u{26FF}'
            | '\u{2705}' | '\u{270A}'..='\u{270D}' | '\u{2714}' | '\u{2716}' | '\u{2728}'
            | '\u{274C}' | '\u{274E}' | '\u{2753}'..='\u{2757}' | '\u{2763}' | '\u{2764}' | '\u{2795}'..='\u{2797}'
            | '\u{27B0}' | '\u{27BF}' | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}' | '\u{2B55}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(Path::new("a.md"), text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn words_of_every_language_and_signs_are_text() {
        assert_eq!(lines("größer, 日本語, \u{2192} \u{2265} \u{2026} \u{2713}\n\ttab\r\nend\n"), Vec::<usize>::new());
    }

    #[test]
    fn an_emoji_is_found_on_its_line() {
        assert_eq!(lines("one\ntwo \u{1F980}\n\u{2705} three\n"), [2, 3]);
    }

    #[test]
    fn what_does_not_print_is_found() {
        assert_eq!(
            lines("bell \u{7}\nescape \u{1b}[1m\nturned \u{202E}\nbroken \u{FFFD}\ncarriage\rreturn\n"),
            [1, 2, 3, 4, 5]
        );
    }

    #[test]
    fn a_path_of_one_machine_is_found_and_an_address_is_not() {
        let own: Vec<String> = MACHINE_PATHS.iter().map(|path| format!("see `{path}x`\n")).collect();
        assert_eq!(lines(&own.concat()), [1, 2, 3, 4, 5]);
        let address = format!("https://querent.example{0}page, $HOME{0}x, <dir>{0}x\n", MACHINE_PATHS[2]);
        assert_eq!(lines(&address), Vec::<usize>::new());
    }
}
