//! How the inbox looks. All that an agent wrote is cleaned, and no line is wider than its place.

use jiff::tz::TimeZone;
use querent_hub::InboxEntry;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::app::{App, Mode, Notice};
use super::detail::{Sheet, detail};
use super::field::Field;
use super::message::Drawn;
use super::wrap::{cut, wrap};
use crate::asking;
use crate::text::{age, clean_line};

/// From which width on the list stands beside the detail.
const WIDE: u16 = 72;
/// Below how many rows the list above the detail is one question.
const LOW: u16 = 16;
/// The least that something can be shown in.
const LEAST: (u16, u16) = (24, 8);
/// The most lines of what is said at the bottom, and of what is typed there.
const MOST: usize = 4;

const HELP: &str = "\
j k, arrows  the next question, the one before
1 to 9       choose an option; again takes it back
i or Tab     type an answer; Esc leaves the field
n            add a note to the answer
Enter        send what is chosen or typed
Ctrl-J       a new line in what is typed
Ctrl-U       erase what is typed
PgUp PgDn    scroll the question
t            hide or show the thread
/            filter the list; Esc clears it
q, Ctrl-C    quit; what was asked stays asked";

/// What the terminal can do, and where it stands.
pub(crate) struct Look {
    pub(crate) colour: bool,
    pub(crate) zone: TimeZone,
}

/// What a text is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
    Selected,
}

impl Look {
    pub(super) fn style(&self, tone: Tone) -> Style {
        let coloured = |colour| if self.colour { Style::new().fg(colour) } else { Style::new() };
        match tone {
            Tone::Plain => Style::new(),
            Tone::Bold => Style::new().add_modifier(Modifier::BOLD),
            Tone::Dim => Style::new().add_modifier(Modifier::DIM),
            Tone::Good => coloured(Color::Green),
            Tone::Warn => coloured(Color::Yellow),
            Tone::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Selected => Style::new().add_modifier(Modifier::REVERSED),
        }
    }
}

/// Draws the inbox; says how far its detail can be scrolled.
pub(super) fn draw(app: &App, look: &Look, frame: &mut Frame<'_>) -> Drawn {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        write(frame, area, &[Line::raw("This window is too small.")]);
        return Drawn::default();
    }
    let head = Line::styled(cut(&headline(app), area.width.into()), look.style(Tone::Bold));
    write(frame, area, &[head]);
    let foot = footer(app, look, area.width.into());
    let height = rows(foot.len());
    let bottom = Rect { y: area.bottom() - height, height, ..area };
    write(frame, bottom, &foot);
    let typed = typing(app, look, Rect { y: area.y + 1, height: bottom.y - area.y - 1, ..area }, frame);
    let middle = Rect { y: area.y + 1, height: (bottom.y - area.y - 1).saturating_sub(typed), ..area };
    match app.current() {
        _ if app.mode == Mode::Help => page(frame, middle, look, &[(Tone::Plain, HELP)]),
        Some(entry) => question(app, look, frame, middle, entry),
        None => nothing(app, look, frame, middle),
    }
}

/// The list and the detail, beside or above each other.
fn question(app: &App, look: &Look, frame: &mut Frame<'_>, area: Rect, entry: &InboxEntry) -> Drawn {
    let rule = look.style(Tone::Dim);
    let (left, right) = if area.width >= WIDE {
        let width = (area.width * 2 / 5).clamp(34, 44);
        let right = Rect { x: area.x + width + 2, width: area.width - width - 2, ..area };
        for y in area.top()..area.bottom() {
            frame.buffer_mut().set_string(area.x + width, y, "│", rule);
        }
        (Rect { width, ..area }, right)
    } else {
        let most = if area.height < LOW { 2 } else { (area.height / 3) & !1 };
        let height = rows(app.rows().len()).saturating_mul(2).min(most).min(area.height);
        let line = Line::styled("─".repeat(area.width.into()), rule);
        write(frame, Rect { y: area.y + height, height: (area.height - height).min(1), ..area }, &[line]);
        let below = Rect { y: area.y + height + 1, height: area.height.saturating_sub(height + 1), ..area };
        (Rect { height, ..area }, below)
    };
    list(app, look, frame, left);
    let lines = detail(app, entry, look, right.as_size());
    let seen = usize::from(right.height);
    let furthest = lines.len().saturating_sub(seen);
    let from = app.scroll.min(furthest);
    write(frame, right, &lines[from..]);
    if from < furthest && right.height > 0 {
        // The row is the marker's alone: a line that is half covered reads as another.
        let last = Rect { y: right.bottom() - 1, height: 1, ..right };
        let marker = format!("{:>1$}", "more: PgDn", usize::from(right.width));
        write(frame, last, &[Line::styled(marker, look.style(Tone::Dim))]);
    }
    Drawn { furthest, page: seen.saturating_sub(1) }
}

/// Two lines for each question; the chosen one is always seen.
fn list(app: &App, look: &Look, frame: &mut Frame<'_>, area: Rect) {
    let entries = app.rows();
    let place = entries.iter().position(|entry| Some(&entry.question.id) == app.selected.as_ref()).unwrap_or(0);
    let fit = usize::from(area.height / 2).max(1);
    let first = (place + 1).saturating_sub(fit);
    let width = usize::from(area.width).saturating_sub(1);
    let mut lines = Vec::new();
    for (number, entry) in entries.iter().enumerate().skip(first).take(fit) {
        let is_here = number == place;
        let question = &entry.question;
        let left = question.expires_at.filter(|_| question.status.is_open());
        let left = left.map(|end| format!(" {} left", end.since(app.now).rough())).unwrap_or_default();
        let room = width.saturating_sub(2 + left.len());
        let topic = cut(&clean_line(&question.topic), room);
        let gap = " ".repeat(room.saturating_sub(topic.width()));
        let (mark, tone) = if is_here { ("> ", Tone::Selected) } else { ("  ", Tone::Bold) };
        lines.push(Line::from(vec![
            Span::raw(mark),
            Span::styled(topic, look.style(tone)),
            Span::raw(gap),
            Span::styled(left, look.style(Tone::Warn)),
        ]));
        let tone = if question.status.is_open() { Tone::Dim } else { Tone::Good };
        lines.push(Line::styled(format!("  {}", cut(&facts(app, entry), width.saturating_sub(2))), look.style(tone)));
    }
    write(frame, area, &lines);
}

/// Since when it waits, what it holds up, and who asks on what.
fn facts(app: &App, entry: &InboxEntry) -> String {
    let InboxEntry { question, item, waiting } = entry;
    let state = match waiting.holds_up.len() {
        _ if !question.status.is_open() => question.status.to_string(),
        0 => age(app.now, question.created_at),
        held => format!("{}, holds up {held}", age(app.now, question.created_at)),
    };
    format!("{state}, {} on {}", question.from.agent, item.id)
}

fn nothing(app: &App, look: &Look, frame: &mut Frame<'_>, area: Rect) -> Drawn {
    let filter = app.filter.text().trim();
    if !app.is_loaded {
        return page(frame, area, look, &[(Tone::Dim, "Reading the inbox …")]);
    }
    if !filter.is_empty() && !app.entries.is_empty() {
        let none = format!("No question has “{filter}”. Esc clears the filter.");
        return page(frame, area, look, &[(Tone::Plain, &none)]);
    }
    let how = "What agents ask people appears here by itself. To see it, run this in another terminal:";
    let example = format!("  {}", app.example.replace('\n', "\n  "));
    page(
        frame,
        area,
        look,
        &[(Tone::Bold, "Nothing waits for you."), (Tone::Plain, ""), (Tone::Plain, how), (Tone::Good, &example)],
    )
}

fn page(frame: &mut Frame<'_>, area: Rect, look: &Look, texts: &[(Tone, &str)]) -> Drawn {
    let mut sheet = Sheet { width: area.width.into(), look, is_dense: false, lines: Vec::new() };
    for (tone, text) in texts {
        sheet.say(*tone, text);
    }
    write(frame, area, &sheet.lines);
    Drawn::default()
}

fn headline(app: &App) -> String {
    let waits = match app.total {
        _ if !app.is_loaded => String::new(),
        0 => "nothing waits for you".to_owned(),
        1 => "1 question waits for you".to_owned(),
        total => format!("{total} questions wait for you"),
    };
    let filter = app.filter.text().trim();
    let shown = if filter.is_empty() { String::new() } else { format!(", {} have “{filter}”", app.rows().len()) };
    format!("Querent  {waits}{shown}")
}

/// What is said, and the keys that do something now.
fn footer(app: &App, look: &Look, width: usize) -> Vec<Line<'static>> {
    let (tone, said) = match &app.notice {
        Some(Notice::Info(text)) => (Tone::Good, text.as_str()),
        Some(Notice::Bad(text)) => (Tone::Bad, text.as_str()),
        None => (Tone::Plain, ""),
    };
    let said = wrap(said, width).into_iter().take(MOST).filter(|line| !line.is_empty());
    let mut lines: Vec<Line<'static>> = said.map(|line| Line::styled(line, look.style(tone))).collect();
    let has_options = app.current().is_some_and(|entry| !asking::options(&entry.question).is_empty());
    let keys = match (app.mode, app.current()) {
        (Mode::Answer, _) => "Enter send  Esc leave the field",
        (Mode::Note, _) => "Enter keep the note  Esc leave it",
        (Mode::Filter, _) => "Enter keep the filter  Esc clear it",
        (Mode::Help, _) => "any key goes back",
        (Mode::Browse, Some(entry)) if !entry.question.status.is_open() => "j/k move  ? help  q quit  / filter",
        (Mode::Browse, Some(_)) if has_options => {
            "1-9 choose  Enter send  ? help  q quit  j/k move  i type  n note  / filter"
        }
        (Mode::Browse, Some(_)) => "i type  Enter send  ? help  q quit  j/k move  n note  / filter",
        (Mode::Browse, None) => "? help  q quit",
    };
    lines.push(Line::styled(whole_keys(keys, width), look.style(Tone::Dim)));
    lines
}

/// As many of the keys as fit.
fn whole_keys(keys: &str, width: usize) -> String {
    let mut shown = String::new();
    for key in keys.split("  ") {
        let gap = if shown.is_empty() { "" } else { "  " };
        if shown.width() + gap.len() + key.width() > width {
            break;
        }
        shown.push_str(gap);
        shown.push_str(key);
    }
    shown
}

/// The field that somebody types in, above the last lines. Returns its height.
fn typing(app: &App, look: &Look, area: Rect, frame: &mut Frame<'_>) -> u16 {
    let empty = Field::default();
    let (label, field) = match app.mode {
        Mode::Browse | Mode::Help => return 0,
        Mode::Filter => ("Filter", &app.filter),
        Mode::Answer => {
            let input = app.current().and_then(|entry| asking::text_input(&entry.question));
            let label = input.map_or("Your answer, an option by its name", |input| input.label);
            (label, app.draft().map_or(&empty, |draft| &draft.text))
        }
        Mode::Note => ("A note to your answer", app.draft().map_or(&empty, |draft| &draft.note)),
    };
    let width = usize::from(area.width);
    // Room for the cursor after the last letter.
    let lines = wrap(field.text(), width.saturating_sub(1));
    let upto = wrap_before(field.before(), width.saturating_sub(1));
    let row = upto.len().saturating_sub(1);
    let first = (row + 1).saturating_sub(MOST);
    let shown: Vec<Line<'_>> = lines.iter().skip(first).take(MOST).map(|line| Line::raw(line.as_str())).collect();
    let height = rows(shown.len()) + 1;
    let top = area.bottom().saturating_sub(height);
    write(frame, Rect { y: top, height: 1, ..area }, &[Line::styled(cut(label, width), look.style(Tone::Selected))]);
    write(frame, Rect { y: top + 1, height: height - 1, ..area }, &shown);
    let column = upto.last().map_or(0, |line| rows(line.width()));
    frame.set_cursor_position(Position { x: area.x + column, y: top + 1 + rows(row - first) });
    height
}

/// The lines up to the cursor; spaces at its end count, since the next letter stands after them.
fn wrap_before(text: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    let spaces = text.len() - text.trim_end_matches(' ').len();
    if let Some(last) = lines.last_mut() {
        let room = width.saturating_sub(last.width());
        last.push_str(&" ".repeat(spaces.min(room)));
    }
    lines
}

fn write(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'_>]) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

/// A number of rows or columns: never more than a screen has.
fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
