//! A live line for each item that is worked on: what happens on it, for how long, and whom it waits for.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use querent_core::{Item, ItemId, Moment, Purpose, Record, Rules, Work, work};
use querent_hub::Handle;

use super::output::{Page, Paint, Paper};
use crate::text::clean_line;

/// How many lines are shown at most; the rest is counted.
const MOST: usize = 12;

/// The lines, and those of them that stand on the terminal.
pub(crate) struct Progress {
    hub: Handle,
    items: BTreeMap<ItemId, Item>,
    /// How long each is.
    drawn: Vec<usize>,
    /// How many lines somebody typed below them.
    typed: Arc<AtomicUsize>,
}

impl Progress {
    pub(crate) fn new(hub: Handle, typed: Arc<AtomicUsize>) -> Self {
        let items = hub.items().unwrap_or_default().into_iter().map(|item| (item.id.clone(), item)).collect();
        Self { hub, items, drawn: Vec::new(), typed }
    }

    /// Looks at the item that a record is about.
    pub(crate) fn see(&mut self, record: &Record) {
        if let Some(item) = record.stream.item().and_then(|id| self.hub.item(id).ok()) {
            self.items.insert(item.id.clone(), item);
        }
    }

    /// Writes `above`, and the lines anew below it, for the terminal as it is now: somebody may have made it smaller.
    pub(crate) fn draw(&mut self, above: &str) {
        let paper = Paper::stdout();
        let mut text = erased(&std::mem::take(&mut self.drawn), self.typed.swap(0, Ordering::Relaxed), paper);
        text.push_str(above);
        for (paint, line) in self.lines(paper) {
            self.drawn.push(line.chars().count());
            let mut page = Page::new(paper);
            page.paint(paint, &line);
            page.text("\n");
            text.push_str(&page.into_text());
        }
        print(&text);
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) {
        let typed = self.typed.swap(0, Ordering::Relaxed);
        print(&erased(&std::mem::take(&mut self.drawn), typed, Paper::stdout()));
    }

    fn lines(&self, paper: Paper) -> Vec<(Paint, String)> {
        let (Ok(rules), now) = (self.hub.rules(), self.hub.now()) else { return Vec::new() };
        let shown: Vec<&Item> = self.items.values().filter(|item| is_under_way(item, &rules)).collect();
        let most = most(shown.len(), paper);
        let mut lines: Vec<_> = shown.iter().take(most).map(|item| line(item, &rules, now)).collect();
        if shown.len() > most {
            lines.push((Paint::Plain, format!("  and {} more", shown.len() - most)));
        }
        let width = paper.width.unwrap_or(80).saturating_sub(1);
        for (_, line) in &mut lines {
            *line = cut(&clean_line_keeping(line), width);
        }
        lines
    }
}

/// How many of so many lines there is room for: what stands above the top of a terminal cannot be taken away again.
fn most(lines: usize, paper: Paper) -> usize {
    let room = paper.height.map_or(MOST, |height| height.saturating_sub(2)).clamp(1, MOST);
    if lines <= room { lines } else { room.saturating_sub(1).max(1) }
}

/// Up to the first of the lines that were drawn, with so many that were typed below them; and everything from there on goes. A line
/// that has become too long for its terminal stands on several.
fn erased(drawn: &[usize], typed: usize, paper: Paper) -> String {
    let width = paper.width.unwrap_or(80).max(1);
    let rows = typed + drawn.iter().map(|length| length.div_ceil(width).max(1)).sum::<usize>();
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A\u{1b}[0J") }
}

fn is_under_way(item: &Item, rules: &Rules) -> bool {
    !matches!(work(item, rules), Work::Over)
}

fn line(item: &Item, rules: &Rules, now: Moment) -> (Paint, String) {
    let (paint, what) = match work(item, rules) {
        Work::Driven { agent, purpose, claim, .. } => {
            let what = match purpose {
                Purpose::Step(step) => format!("{agent} works on {step}"),
                Purpose::Happening(_) => format!("{agent} hears of an event"),
            };
            (Paint::Plain, format!("{what}, {}", now.since(claim.at).rough()))
        }
        Work::Turn { agent, .. } => (Paint::Dim, format!("{agent} is next")),
        Work::Waits(id) => {
            let open = item.open.get(&id.number);
            let to = open.map_or_else(String::new, |it| format!(" waits for {}", it.to));
            let since = open.map_or_else(String::new, |it| format!(", {}", now.since(it.created_at).rough()));
            let agent = open.map_or_else(|| "it".to_owned(), |it| it.agent.to_string());
            (Paint::Warn, format!("{agent}{to} ({id}){since}"))
        }
        Work::WaitsFor(event) => (Paint::Warn, format!("waits for the event {event}")),
        Work::Outside(agent) => (Paint::Dim, format!("{agent} is not invoked by Querent: it has no provider")),
        Work::Over => (Paint::Dim, String::new()),
    };
    (paint, format!("{:<10} {:<14} {what}", item.id, item.stage))
}

/// One line of a terminal: a longer one would take two.
fn cut(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

fn clean_line_keeping(text: &str) -> String {
    // The columns stay where they are; what is in them is clean already.
    if text.contains('\n') { clean_line(text) } else { text.to_owned() }
}

fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever reads may be gone; the team works on.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(width: usize, height: usize) -> Paper {
        Paper { colour: false, width: Some(width), height: Some(height) }
    }

    #[test]
    fn no_more_lines_than_the_terminal_has_room_for() {
        assert_eq!(most(3, terminal(80, 24)), 3);
        assert_eq!(most(40, terminal(80, 24)), MOST - 1, "and one says how many more there are");
        assert_eq!(most(8, terminal(80, 6)), 3);
        assert_eq!(most(8, terminal(80, 1)), 1);
    }

    #[test]
    fn lines_that_wrap_in_a_narrower_terminal_are_taken_away_whole() {
        assert_eq!(erased(&[79, 20], 0, terminal(100, 24)), "\u{1b}[2A\u{1b}[0J");
        assert_eq!(erased(&[79, 20], 1, terminal(30, 24)), "\u{1b}[5A\u{1b}[0J");
        assert_eq!(erased(&[], 0, terminal(30, 24)), "");
    }
}
