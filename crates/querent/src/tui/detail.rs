//! One question, as lines of a given width: it stands alone.

use querent_core::view::thread;
use querent_core::{Answer, Provenance, Question, Status};
use querent_hub::InboxEntry;
use ratatui::layout::Size;
use ratatui::style::Style;
use ratatui::text::Line;

use super::app::{App, Draft, takes_several};
use super::draw::{Look, Tone};
use super::wrap::wrap;
use crate::asking::{self, OptionView};
use crate::text::{age, clean, clean_line, clock};

/// How far options are moved in.
const OPTION: usize = 7;

/// How far texts are moved in, so that none of their lines looks like one of ours.
const TEXT: usize = 2;
/// Below how many rows no line is left empty.
const LOW: u16 = 14;

/// The lines of the question that is looked at, for a place of this size.
pub(super) fn detail(app: &App, entry: &InboxEntry, look: &Look, size: Size) -> Vec<Line<'static>> {
    let question = &entry.question;
    let mut sheet = Sheet { width: size.width.into(), look, is_dense: size.height < LOW, lines: Vec::new() };
    head(&mut sheet, app, entry);
    sheet.gap();
    sheet.hang(Tone::Bold, "", TEXT, &clean(&question.prompt));
    if let Some(context) = &question.context {
        sheet.gap();
        sheet.hang(Tone::Plain, "", TEXT, &clean(context));
    }
    sheet.gap();
    if question.status.is_open() {
        answers(&mut sheet, question, app.draft());
        if let Some(end) = question.expires_at {
            let deadline = asking::deadline(question, end, app.now);
            sheet.gap();
            sheet.say(Tone::Warn, &format!("{} {}{}", deadline.before, deadline.in_words, deadline.after));
        }
    } else {
        settled(&mut sheet, app, question);
    }
    evidence(&mut sheet, question);
    if !app.hides_thread {
        sheet.gap();
        sheet.say(Tone::Dim, "Thread");
        let said = thread(question, |at| clock(&look.zone, app.now, at));
        sheet.say(Tone::Plain, clean(&said).trim_end());
    }
    sheet.lines
}

fn head(sheet: &mut Sheet<'_>, app: &App, entry: &InboxEntry) {
    let InboxEntry { question, item, .. } = entry;
    sheet.say(Tone::Bold, &format!("{}  {}", question.id, clean_line(&question.topic)));
    let tone = match question.status {
        Status::Escalated => Tone::Bad,
        Status::Answered | Status::Resolved => Tone::Good,
        _ => Tone::Dim,
    };
    let (status, asker, since) = (question.status, &question.from.agent, age(app.now, question.created_at));
    sheet.say(tone, &format!("{status}, asked by {asker} {since} ago"));
    sheet.say(Tone::Dim, &format!("Item {}: {}", item.id, clean_line(&item.title)));
    if question.status.is_open() {
        sheet.say(Tone::Plain, &asking::blocks(entry));
    }
    if let Some(why) = asking::why(question) {
        sheet.say(Tone::Warn, &why);
    }
}

fn answers(sheet: &mut Sheet<'_>, question: &Question, draft: Option<&Draft>) {
    let is_chosen = |number| draft.is_some_and(|draft| draft.chosen.contains(&number));
    let (open, close) = if takes_several(question) { ('[', ']') } else { ('(', ')') };
    for option in asking::options(question) {
        let mark = if is_chosen(option.number) { 'x' } else { ' ' };
        let tone = if is_chosen(option.number) { Tone::Good } else { Tone::Plain };
        let number = if option.number <= 9 { option.number.to_string() } else { String::new() };
        let head = format!("{open}{mark}{close} {number:1}  ");
        sheet.hang(tone, &head, OPTION, &format!("{}{}", option.label, marks(&option)));
        for more in [&option.description, &option.implications].into_iter().flatten() {
            sheet.hang(Tone::Dim, "", OPTION, more);
        }
        if option.number > 9 {
            sheet.hang(Tone::Dim, "", OPTION, &format!("to choose it, type i and {}", clean_line(&option.id)));
        }
    }
    let typed = draft.map(|draft| draft.text.text()).unwrap_or_default();
    match asking::text_input(question) {
        Some(input) => sheet.hang(Tone::Plain, "    i  ", OPTION, &format!("{}: {typed}", input.label)),
        None if !typed.is_empty() => sheet.hang(Tone::Plain, "    i  ", OPTION, typed),
        None => {}
    }
    if let Some(note) = draft.map(|draft| draft.note.text()).filter(|note| !note.is_empty()) {
        sheet.hang(Tone::Plain, "    n  ", OPTION, &format!("Note: {note}"));
    }
    if draft.is_some_and(|draft| draft.is_sending) {
        sheet.say(Tone::Dim, "Sending …");
    } else if draft.is_some_and(|draft| !draft.chosen.is_empty() || !draft.text.is_blank()) {
        sheet.say(Tone::Good, "Enter sends it.");
    }
}

fn marks(option: &OptionView) -> String {
    let marks = [(option.recommended, "recommended"), (option.is_fallback, "fallback")];
    let marks: Vec<&str> = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark).collect();
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) }
}

/// Who said what; and what somebody here was about to say.
fn settled(sheet: &mut Sheet<'_>, app: &App, question: &Question) {
    match &question.answer {
        Some(answer) => {
            let (by, ago) = (clean_line(&answer.by.to_string()), age(app.now, answer.at));
            sheet.say(Tone::Good, &format!("Answered by {by} {ago} ago{}:", how(answer)));
            sheet.hang(Tone::Bold, "", TEXT, &clean(&answer.text));
            if let Some(note) = &answer.note {
                sheet.hang(Tone::Plain, "", TEXT, &format!("Note: {}", clean(note)));
            }
        }
        None => sheet.say(Tone::Warn, &format!("It is {} without an answer.", question.status)),
    }
    if let Some(draft) = app.draft().filter(|draft| !draft.text.is_blank()) {
        sheet.gap();
        sheet.say(Tone::Dim, "What you typed was not sent:");
        sheet.hang(Tone::Plain, "", TEXT, draft.text.text());
    }
}

fn how(answer: &Answer) -> &'static str {
    match answer.provenance {
        Provenance::Human | Provenance::Agent => "",
        Provenance::Learned => ", learned from an earlier answer",
        Provenance::Fallback => ", by the fallback that the asker declared",
    }
}

fn evidence(sheet: &mut Sheet<'_>, question: &Question) {
    if let Some(tried) = question.evidence.as_ref().filter(|tried| !tried.is_empty()) {
        sheet.gap();
        sheet.say(Tone::Dim, "Tried");
        for (what, found) in tried {
            sheet.hang(Tone::Plain, "", TEXT, &format!("{}: {}", clean_line(what), clean(found)));
        }
    }
    if let Some(details) = question.details.as_ref().and_then(|it| serde_json::to_string_pretty(it).ok()) {
        sheet.gap();
        sheet.say(Tone::Dim, "Details");
        sheet.hang(Tone::Plain, "", TEXT, &clean(&details));
    }
}

/// Lines that are being written.
pub(super) struct Sheet<'a> {
    pub(super) width: usize,
    pub(super) look: &'a Look,
    /// Whether there is no room for empty lines.
    pub(super) is_dense: bool,
    pub(super) lines: Vec<Line<'static>>,
}

impl Sheet<'_> {
    /// An empty line.
    pub(super) fn gap(&mut self) {
        if !self.is_dense {
            self.lines.push(Line::default());
        }
    }

    /// A text from the left edge.
    pub(super) fn say(&mut self, tone: Tone, text: &str) {
        self.hang(tone, "", 0, text);
    }

    /// A text after a head; all its lines are moved in, so that none looks like a line of ours.
    pub(super) fn hang(&mut self, tone: Tone, head: &str, by: usize, text: &str) {
        let style: Style = self.look.style(tone);
        for (place, line) in wrap(text, self.width.saturating_sub(by)).into_iter().enumerate() {
            let head = if place == 0 { head } else { "" };
            self.lines.push(Line::styled(format!("{head:by$}{line}"), style));
        }
    }
}
