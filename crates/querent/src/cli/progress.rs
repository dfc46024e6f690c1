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

/// The lines, and how many of them stand on the terminal.
pub(crate) struct Progress {
    hub: Handle,
    items: BTreeMap<ItemId, Item>,
    drawn: usize,
    /// How many lines somebody typed below them.
    typed: Arc<AtomicUsize>,
}

impl Progress {
    pub(crate) fn new(hub: Handle, typed: Arc<AtomicUsize>) -> Self {
        let items = hub.items().unwrap_or_default().into_iter().map(|item| (item.id.clone(), item)).collect();
        Self { hub, items, drawn: 0, typed }
    }

    /// Looks at the item that a record is about.
    pub(crate) fn see(&mut self, record: &Record) {
        if let Some(item) = record.stream.item().and_then(|id| self.hub.item(id).ok()) {
            self.items.insert(item.id.clone(), item);
        }
    }

    /// Writes `above`, and the lines anew below it.
    pub(crate) fn draw(&mut self, paper: Paper, above: &str) {
        let lines = self.lines(paper);
        let mut text = self.erased();
        text.push_str(above);
        for line in &lines {
            text.push_str(line);
        }
        self.drawn = lines.len();
        print(&text);
    }

    /// Takes the lines away.
    pub(crate) fn clear(&mut self) {
        let text = self.erased();
        self.drawn = 0;
        print(&text);
    }

    fn erased(&self) -> String {
        // Up to the first line, and everything below goes.
        let lines = self.drawn + self.typed.swap(0, Ordering::Relaxed);
        if lines == 0 { String::new() } else { format!("\u{1b}[{lines}A\u{1b}[0J") }
    }

    fn lines(&self, paper: Paper) -> Vec<String> {
        let (Ok(rules), now) = (self.hub.rules(), self.hub.now()) else { return Vec::new() };
        let shown: Vec<&Item> = self.items.values().filter(|item| is_under_way(item, &rules)).collect();
        let mut lines: Vec<String> = shown.iter().take(MOST).map(|item| line(item, &rules, now, paper)).collect();
        if shown.len() > MOST {
            lines.push(format!("  and {} more\n", shown.len() - MOST));
        }
        lines
    }
}

fn is_under_way(item: &Item, rules: &Rules) -> bool {
    !matches!(work(item, rules), Work::Over)
}

fn line(item: &Item, rules: &Rules, now: Moment, paper: Paper) -> String {
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
    let width = paper.width.unwrap_or(80).saturating_sub(1);
    let text = format!("{:<10} {:<14} {what}", item.id, item.stage);
    let mut page = Page::new(paper);
    page.paint(paint, &cut(&clean_line_keeping(&text), width));
    page.text("\n");
    page.into_text()
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
