//! What happens in the inbox: a state and what changes it. It touches nothing; whatever is to be done it returns.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use querent_core::{Code, Expected, Moment, Question, QuestionId, Refusal};
use querent_hub::InboxEntry;
use serde_json::Value;

use super::field::Field;
use super::message::{Answered, Drawn, Effect, Found, Key, Message};
use super::wrap::cut;
use crate::asking;
use crate::text::clean_line;

/// How much of an answer is repeated in a notice.
const SHORT: usize = 60;

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Browse,
    Answer,
    Note,
    Filter,
    Help,
}

/// What is said at the bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// Gone with the next key.
    Info(String),
    /// Stays while somebody types.
    Bad(String),
}

/// What somebody is about to answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// The chosen options, by their place.
    pub(super) chosen: BTreeSet<usize>,
    pub(super) text: Field,
    pub(super) note: Field,
    pub(super) is_sending: bool,
}

/// The state.
pub(crate) struct App {
    pub(super) now: Moment,
    /// What waits, the most urgent first; and the chosen one, if it has been settled meanwhile.
    pub(super) entries: Vec<InboxEntry>,
    pub(super) total: usize,
    pub(super) selected: Option<QuestionId>,
    pub(super) drafts: BTreeMap<QuestionId, Draft>,
    pub(super) mode: Mode,
    pub(super) filter: Field,
    pub(super) notice: Option<Notice>,
    pub(super) hides_thread: bool,
    pub(super) scroll: usize,
    pub(super) example: String,
    pub(super) is_loaded: bool,
    known: BTreeSet<QuestionId>,
    drawn: Drawn,
    is_quiet: bool,
}

impl App {
    /// An inbox that is not read yet. A quiet one calls nobody.
    pub(crate) fn new(now: Moment, is_quiet: bool) -> Self {
        Self {
            now,
            entries: Vec::new(),
            total: 0,
            selected: None,
            drafts: BTreeMap::new(),
            mode: Mode::Browse,
            filter: Field::default(),
            notice: None,
            hides_thread: false,
            scroll: 0,
            example: String::new(),
            is_loaded: false,
            known: BTreeSet::new(),
            drawn: Drawn::default(),
            is_quiet,
        }
    }

    /// Takes in what happened; returns what is to be done.
    pub(super) fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Key(Key::Interrupt) | Message::Closed => return vec![Effect::Quit],
            Message::Key(key) => return self.press(key),
            Message::Paste(text) => {
                if let Some(field) = self.field() {
                    field.insert(&text);
                }
            }
            Message::Found(found) => return self.take_in(*found),
            Message::Looked(entry) => self.replace(*entry, true),
            Message::Answered(answered) => self.answered(*answered),
            Message::Failed(refusal) => self.notice = Some(Notice::Bad(said(&refusal))),
            Message::Tick(now) => self.now = now,
            Message::Drawn(drawn) => {
                self.drawn = drawn;
                self.scroll = self.scroll.min(drawn.furthest);
            }
            Message::Resized => {}
        }
        Vec::new()
    }

    /// What the list shows: all that fits the filter.
    pub(super) fn rows(&self) -> Vec<&InboxEntry> {
        let wanted = self.filter.text().trim().to_lowercase();
        let fits = |entry: &&InboxEntry| {
            let InboxEntry { question, item, .. } = *entry;
            let asker = question.from.agent.as_str();
            let texts = [&question.topic, &question.prompt, &item.title, asker, item.id.as_str()];
            wanted.is_empty()
                || question.id.to_string().to_lowercase().contains(&wanted)
                || texts.iter().any(|text| text.to_lowercase().contains(&wanted))
        };
        self.entries.iter().filter(fits).collect()
    }

    /// The question that keys are about.
    pub(super) fn current(&self) -> Option<&InboxEntry> {
        self.rows().into_iter().find(|entry| Some(&entry.question.id) == self.selected.as_ref())
    }

    /// What somebody is about to answer to it.
    pub(super) fn draft(&self) -> Option<&Draft> {
        self.drafts.get(self.selected.as_ref()?)
    }

    fn draft_mut(&mut self) -> Option<&mut Draft> {
        Some(self.drafts.entry(self.selected.clone()?).or_default())
    }

    /// The text that keys go to.
    fn field(&mut self) -> Option<&mut Field> {
        match self.mode {
            Mode::Browse | Mode::Help => None,
            Mode::Filter => Some(&mut self.filter),
            Mode::Answer => self.draft_mut().map(|draft| &mut draft.text),
            Mode::Note => self.draft_mut().map(|draft| &mut draft.note),
        }
    }

    fn press(&mut self, key: Key) -> Vec<Effect> {
        if matches!(self.notice, Some(Notice::Info(_))) || key == Key::Esc {
            self.notice = None;
        }
        match self.mode {
            Mode::Browse => self.browse(key),
            Mode::Help => {
                self.mode = Mode::Browse;
                Vec::new()
            }
            Mode::Answer | Mode::Note | Mode::Filter => self.edit(key),
        }
    }

    fn browse(&mut self, key: Key) -> Vec<Effect> {
        match key {
            Key::Char('q') => return vec![Effect::Quit],
            Key::Char('j') | Key::Down => self.step(1),
            Key::Char('k') | Key::Up => self.step(-1),
            Key::Home | Key::Char('g') => self.step(isize::MIN),
            Key::End | Key::Char('G') => self.step(isize::MAX),
            Key::PageDown | Key::Char(' ') => {
                self.scroll = (self.scroll + self.drawn.page.max(1)).min(self.drawn.furthest);
            }
            Key::PageUp => self.scroll = self.scroll.saturating_sub(self.drawn.page.max(1)),
            Key::Char('t') => self.hides_thread = !self.hides_thread,
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('/') => self.mode = Mode::Filter,
            Key::Char('i') | Key::Tab => self.type_into(Mode::Answer),
            Key::Char('n') => self.type_into(Mode::Note),
            Key::Char(digit @ '1'..='9') => self.choose(usize::from(digit as u8 - b'0')),
            Key::Esc => {
                self.filter.clear();
                self.settle_selection();
            }
            Key::Enter => return self.send(),
            _ => {}
        }
        Vec::new()
    }

    fn edit(&mut self, key: Key) -> Vec<Effect> {
        let mode = self.mode;
        match (key, mode) {
            (Key::Enter, Mode::Answer) => return self.send(),
            (Key::Esc, Mode::Filter) => {
                self.filter.clear();
                self.mode = Mode::Browse;
            }
            (Key::Enter | Key::Esc | Key::Tab, _) => self.mode = Mode::Browse,
            _ => {}
        }
        if let Some(field) = self.field() {
            match key {
                Key::Char(typed) => field.insert(typed.encode_utf8(&mut [0; 4])),
                Key::NewLine => field.insert("\n"),
                Key::Backspace => field.backspace(),
                Key::Delete => field.delete(),
                Key::Erase => field.clear(),
                Key::Left => field.left(),
                Key::Right => field.right(),
                Key::Home => field.home(),
                Key::End => field.end(),
                _ => {}
            }
        }
        if mode == Mode::Filter {
            self.settle_selection();
        }
        Vec::new()
    }

    fn type_into(&mut self, mode: Mode) {
        if self.is_answerable() {
            self.mode = mode;
        }
    }

    /// Whether the question at hand still waits; if not, that is said.
    fn is_answerable(&mut self) -> bool {
        let status = self.current().map(|entry| entry.question.status);
        if let Some(status) = status.filter(|status| !status.is_open()) {
            self.notice = Some(Notice::Info(format!("It is {status}, and takes no answer any more.")));
        }
        status.is_some_and(querent_core::Status::is_open)
    }

    fn choose(&mut self, number: usize) {
        if !self.is_answerable() {
            return;
        }
        let Some(question) = self.current().map(|entry| &entry.question) else { return };
        let (count, is_multi) = (asking::options(question).len(), takes_several(question));
        if number > count {
            let said = if count == 0 { "It offers no options.".to_owned() } else { format!("It has {count} options.") };
            self.notice = Some(Notice::Info(format!("{said} Press i to type an answer.")));
            return;
        }
        let Some(draft) = self.draft_mut().filter(|draft| !draft.is_sending) else { return };
        let was_chosen = draft.chosen.remove(&number);
        if !is_multi {
            draft.chosen.clear();
        }
        if !was_chosen {
            draft.chosen.insert(number);
        }
        self.notice = self.chosen();
    }

    /// What is chosen is also said: its option may be out of sight.
    fn chosen(&self) -> Option<Notice> {
        let chosen = &self.draft()?.chosen;
        let options = asking::options(&self.current()?.question).into_iter();
        let labels: Vec<String> =
            options.filter(|option| chosen.contains(&option.number)).map(|option| cut(&option.label, SHORT)).collect();
        (!labels.is_empty()).then(|| Notice::Info(format!("Chosen: {}", labels.join(", "))))
    }

    fn send(&mut self) -> Vec<Effect> {
        if !self.is_answerable() {
            return Vec::new();
        }
        let Some(question) = self.current().map(|entry| entry.question.clone()) else { return Vec::new() };
        let Some(draft) = self.draft_mut().filter(|draft| !draft.is_sending) else { return Vec::new() };
        match answer_of(draft, &question) {
            Err(why) => {
                self.notice = Some(Notice::Info(why.to_owned()));
                Vec::new()
            }
            Ok(answer) => {
                draft.is_sending = true;
                let note = (!draft.note.is_blank()).then(|| draft.note.text().to_owned());
                (self.mode, self.notice) = (Mode::Browse, None);
                vec![Effect::Answer { question: question.id, answer, note }]
            }
        }
    }

    fn answered(&mut self, answered: Answered) {
        let Answered { question, refusal, entry } = answered;
        if let Some(draft) = self.drafts.get_mut(&question) {
            draft.is_sending = false;
        }
        let first = entry.as_ref().and_then(|entry| entry.question.answer.as_ref()).map(|answer| {
            let (by, text) = (clean_line(&answer.by.to_string()), cut(&clean_line(&answer.text), SHORT));
            format!("{by} was first: {text}. Your answer was not taken.")
        });
        self.notice = Some(match refusal {
            None => {
                self.drafts.remove(&question);
                Notice::Info(format!("{question} has your answer."))
            }
            Some(refusal) => {
                let first = first.filter(|_| refusal.code == Code::QuestionAlreadyAnswered);
                Notice::Bad(first.unwrap_or_else(|| said(&refusal)))
            }
        });
        if let Some(entry) = entry {
            self.replace(entry, false);
        }
    }

    fn take_in(&mut self, found: Found) -> Vec<Effect> {
        let Found { inbox, example, now } = found;
        let was_cut = self.total > self.known.len();
        let before = mem::replace(&mut self.entries, inbox.entries);
        let known: BTreeSet<QuestionId> = self.entries.iter().map(|entry| entry.question.id.clone()).collect();
        let may_ring = self.is_loaded && !self.is_quiet && (!was_cut || inbox.total > self.total);
        let mut effects: Vec<Effect> = Vec::new();
        for entry in self.entries.iter().filter(|entry| may_ring && !self.known.contains(&entry.question.id)) {
            effects.push(Effect::Ring(call(&entry.question)));
        }
        for (place, entry) in before.into_iter().enumerate() {
            let id = &entry.question.id;
            if let Some(here) = self.entries.iter_mut().find(|it| it.question.id == *id) {
                // What was read before the last answer must not bring the question back.
                if here.question.version < entry.question.version {
                    *here = entry;
                }
                continue;
            }
            if entry.question.status.is_open() {
                effects.push(Effect::Look(id.clone()));
            }
            if self.selected.as_ref() == Some(id) {
                self.entries.insert(place.min(self.entries.len()), entry);
            }
        }
        (self.total, self.example, self.now, self.known) = (inbox.total, example, now, known);
        if !self.is_loaded || self.selected.is_none() {
            self.settle_selection();
        }
        self.is_loaded = true;
        effects
    }

    /// A question as it is now. One that is settled stays only while it is looked at; else it is told if it is `news`.
    fn replace(&mut self, entry: InboxEntry, news: bool) {
        let (id, status) = (entry.question.id.clone(), entry.question.status);
        let is_selected = self.selected.as_ref() == Some(&id);
        if !status.is_open() {
            if is_selected && matches!(self.mode, Mode::Answer | Mode::Note) {
                self.mode = Mode::Browse;
            }
            if news && !matches!(self.notice, Some(Notice::Bad(_))) {
                self.notice = Some(Notice::Info(outcome(&entry.question)));
            }
        }
        if let Some(here) = self.entries.iter_mut().find(|it| it.question.id == id)
            && here.question.version <= entry.question.version
        {
            *here = entry;
        }
        self.tidy();
    }

    /// Leaves out what is settled and not looked at.
    fn tidy(&mut self) {
        let selected = self.selected.as_ref();
        self.entries.retain(|entry| entry.question.status.is_open() || Some(&entry.question.id) == selected);
    }

    fn step(&mut self, by: isize) {
        let rows = self.rows();
        let place = rows.iter().position(|entry| Some(&entry.question.id) == self.selected.as_ref()).unwrap_or(0);
        let place = place.saturating_add_signed(by).min(rows.len().saturating_sub(1));
        self.select(rows.get(place).map(|entry| entry.question.id.clone()));
    }

    /// What is selected is among what is shown: the first of it, if nothing else.
    fn settle_selection(&mut self) {
        if self.current().is_none() {
            let first = self.rows().first().map(|entry| entry.question.id.clone());
            self.select(first.or_else(|| self.selected.clone()));
        }
    }

    fn select(&mut self, id: Option<QuestionId>) {
        if self.selected != id {
            (self.selected, self.scroll, self.notice) = (id, 0, None);
            self.tidy();
        }
    }
}

/// Whether several options may be chosen.
pub(super) fn takes_several(question: &Question) -> bool {
    matches!(question.expected, Expected::MultiChoice)
}

/// The answer as it is sent: what was chosen, or what was typed.
fn answer_of(draft: &Draft, question: &Question) -> Result<Value, &'static str> {
    let options = asking::options(question);
    let chosen: Vec<String> =
        options.into_iter().filter(|option| draft.chosen.contains(&option.number)).map(|option| option.id).collect();
    match (chosen.as_slice(), draft.text.is_blank()) {
        ([], true) if question.options.is_empty() && !matches!(question.expected, Expected::Boolean) => {
            Err("Nothing is typed yet: press i, type an answer, and send it with Enter.")
        }
        ([], true) => Err("Nothing is chosen yet: press the number of an option, then Enter."),
        ([], false) => Ok(draft.text.text().into()),
        (_, false) => Err("An option is chosen, and something else is typed: take one of the two back."),
        (_, true) if takes_several(question) => Ok(chosen.into()),
        ([one, ..], true) => Ok(one.clone().into()),
    }
}

/// What became of a question, in a sentence.
fn outcome(question: &Question) -> String {
    match &question.answer {
        Some(answer) => {
            let (by, text) = (clean_line(&answer.by.to_string()), cut(&clean_line(&answer.text), SHORT));
            format!("{} was answered by {by}: {text}", question.id)
        }
        None => format!("{} is {} without an answer.", question.id, question.status),
    }
}

fn call(question: &Question) -> String {
    let text = clean_line(&format!("Querent: {} asks about {}", question.from.agent, question.topic));
    cut(&text, SHORT * 2)
}

fn said(refusal: &Refusal) -> String {
    clean_line(&format!("{}. {}", refusal.message, refusal.hint))
}
