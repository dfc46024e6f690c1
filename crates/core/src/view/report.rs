//! A digest as a page of Markdown, for a pull request, a wiki or a mail.

use std::fmt::Write as _;

use super::digest::{Digest, Percentiles};
use crate::moment::Span;

/// How many rows a table has.
const ROWS: usize = 10;

/// The digest as Markdown. `of` says whose it is.
pub fn report(digest: &Digest, of: &str) -> String {
    let day = |moment: crate::Moment| moment.to_string().chars().take(16).collect::<String>().replace('T', " ");
    let (since, until) = (day(digest.since), day(digest.until));
    let mut text = format!("# Questions of {}\n\n{since} to {until} UTC\n\n", plain(of));
    text.push_str("| metric | value | aim |\n|---|---|---|\n");
    let asked = format!("{} asked, {} settled, {} open", digest.total, digest.settled, digest.open);
    let rounds = digest.average_rounds.map_or_else(nothing_settled, |rounds| format!("{rounds:.1}"));
    let rows = [
        ("questions", asked, ""),
        ("auto-resolved, without a human", rate(digest.auto_resolution_rate), "over 80%"),
        ("escalated", rate(digest.escalation_rate), "under 20%"),
        ("average rounds", rounds, "2 to 3"),
        ("agents answer", times(&digest.time_to_answer.agent), ""),
        ("humans answer", times(&digest.time_to_answer.human), ""),
        ("stale", digest.stale.to_string(), "0"),
        ("stuck", digest.stuck.to_string(), "0"),
        ("deadlocks", digest.deadlocks.to_string(), "0"),
        ("fallbacks used", digest.fallbacks_used.to_string(), ""),
        ("learned answers used", digest.learned_used.to_string(), ""),
        ("assumptions overturned", digest.assumptions_overturned.to_string(), ""),
    ];
    for (metric, value, aim) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {metric} | {value} | {aim} |");
    }
    let pairs = digest.by_pair.iter().map(|it| (format!("{} to {}", it.from, it.to), it.count));
    table(&mut text, "Who asked whom", pairs);
    table(&mut text, "Categories", digest.by_category.iter().map(|it| (it.category.to_string(), it.count)));
    table(&mut text, "Topics", digest.topics.iter().map(|it| (plain(&it.topic), it.count)));
    text
}

fn table(text: &mut String, title: &str, rows: impl ExactSizeIterator<Item = (String, u32)>) {
    let all = rows.len();
    if all == 0 {
        return;
    }
    let _ = write!(text, "\n## {title}\n\n| {} | questions |\n|---|---|\n", title.to_lowercase());
    for (name, count) in rows.take(ROWS) {
        let _ = writeln!(text, "| {name} | {count} |");
    }
    if all > ROWS {
        let _ = writeln!(text, "\nand {} more", all - ROWS);
    }
}

/// A rate; over nothing it says so.
pub fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(nothing_settled, |rate| format!("{:.0}%", rate * 100.0))
}

/// What stands for a number over the settled questions where there are none.
pub fn nothing_settled() -> String {
    "nothing settled yet".to_owned()
}

/// How long answers took; where there are none it says so.
pub fn times(it: &Percentiles) -> String {
    match (it.p50_seconds, it.p90_seconds) {
        (Some(half), Some(most)) => {
            let rough = |seconds| Span::seconds(seconds).rough();
            format!("half within {}, nine in ten within {}", rough(half), rough(most))
        }
        _ => "no answers yet".to_owned(),
    }
}

/// What an agent wrote, so that it is text in a table of Markdown and nothing else.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '~' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_percentages_times_are_rough_and_over_nothing_they_say_so() {
        let quick = Percentiles { p50_seconds: Some(725), p90_seconds: Some(7_300) };

        assert_eq!(rate(Some(2.0 / 3.0)), "67%");
        assert_eq!(rate(None), "nothing settled yet");
        assert_eq!(times(&quick), "half within 12m, nine in ten within 2h");
        assert_eq!(times(&Percentiles::default()), "no answers yet");
    }

    #[test]
    fn what_an_agent_wrote_is_text() {
        assert_eq!(plain("a|b\n[x](javascript:1) <b>"), "a\\|b \\[x\\](javascript:1) \\<b\\>");
    }
}
