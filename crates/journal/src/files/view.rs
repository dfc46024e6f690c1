//! What a process knows of the log without the lock: its last lines, and, if the process stays, what it has read already. A
//! view follows the log: that costs what was added since, not what there is, and what this process wrote itself is not read.

use std::collections::{BTreeSet, HashSet, VecDeque, hash_map};
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::HashMap;
use querent_core::{
    Event, Item, ItemId, Question, QuestionId, Record, Shared, State, Stream, change_item, change_question, evolve,
    evolve_item, evolve_question,
};

use super::Files;
use super::checkpoint::Checkpoint;
use super::disk::{DiskFile, Identity, Open};
use super::layout::Layout;
use super::place::Place;
use super::scan::{End, Entry, scan};
use crate::{Error, Which};

/// How many items, and how many questions, are known at most.
const MOST_KNOWN: usize = 16_384;
/// After how many lines a view looks how far the ledgers are.
const LOOK_AGAIN: u64 = 256;
/// How many lines that the ledgers hold are kept, for those who follow the log.
const KEPT: usize = 1_024;
/// How long a look at the log holds for those who need not know at once what other processes do.
const RECENT: Duration = Duration::from_millis(100);
/// How many lines there may be in all; a view that nobody looks at is not let grow.
const MOST_LINES: usize = 65_536;

/// How one looks at a view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// After what was added since.
    Anew,
    /// The same, unless somebody did so a moment ago.
    Lately,
    /// As it was when one looked last, or later.
    AsItIs,
}

/// A view of the log.
pub(crate) struct View {
    checkpoint: Option<Checkpoint>,
    /// The last line that it has.
    pub(crate) place: Place,
    /// The segment of that line.
    segment: Option<Segment>,
    /// Whether the line was seen under the lock. Others may yet be taken back.
    is_sure: bool,
    /// The line up to which this process writes just now, behind that place: it is shown when it is durable.
    coming: Option<Place>,
    /// The last lines, one after the other: all that the ledgers do not hold, and some that they do.
    lines: VecDeque<Arc<Entry>>,
    /// The last line that was taken into what is known, and the one at which it was looked how far the ledgers are.
    taken_in: u64,
    looked: u64,
    /// When it was last looked what was added. Not yet for one that was just made: while it was, somebody may have written lines
    /// that it was not shown, because it was not there.
    followed: Option<Instant>,
    known: Option<Known>,
}

/// A segment of the log: open, by its path, and what it is known by.
struct Segment {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    identity: Identity,
}

/// What was read, as of the last line that was taken in or a later one.
#[derive(Default)]
struct Known {
    items: HashMap<ItemId, Arc<Item>>,
    questions: HashMap<QuestionId, Arc<Question>>,
    shared: HashMap<Shared, Arc<State>>,
    all: Option<BTreeSet<ItemId>>,
    active: Option<BTreeSet<ItemId>>,
}

/// What a reader needs for what is not known: the ledger, and these lines, which the ledger may not hold.
pub(crate) struct Lines {
    pub(crate) late: Vec<Arc<Entry>>,
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The last line that the view had.
    as_of: u64,
}

impl View {
    /// A view of the log as it is now. One that is to be kept knows what it has read.
    pub(crate) fn open(files: &Files, layout: &Layout, kept: bool) -> Result<Self, Error> {
        let sound = || Checkpoint::sound(layout);
        let mut checkpoint = sound();
        // Without a checkpoint everything is read from the log, every time; so it is put in order once, if that can be.
        let well = || Ok(sound().is_some());
        if checkpoint.is_none() && layout.has(&layout.segment(1)) && files.repair_unless(well).is_ok() {
            checkpoint = sound();
        }
        let from = checkpoint.as_ref().map_or(Place::START, |it| it.place);
        let (lines, place) = lines_after(layout, from)?;
        let known = kept.then(Known::default);
        let (segment, is_sure, coming) = (None, false, None);
        let (taken_in, looked, followed) = (place.seq, place.seq, None);
        Ok(Self { checkpoint, place, segment, is_sure, coming, lines, taken_in, looked, followed, known })
    }

    /// Takes in what was added since; says whether its own last line is still there.
    pub(crate) fn follow(&mut self, layout: &Layout) -> Result<bool, Error> {
        if !self.is_current(layout) {
            if self.place == Place::START || !self.place.is_in(layout) {
                return Ok(false);
            }
            let (added, place) = lines_after(layout, self.place)?;
            self.lines.extend(added);
            if place.segment != self.place.segment || self.segment.is_none() {
                self.segment = Segment::open(layout, place);
            }
            (self.place, self.is_sure, self.coming) = (place, false, None);
        }
        self.take_in(layout)?;
        self.followed = Some(Instant::now());
        // The ledgers follow now and then, and so does the look at them: meanwhile the lines are here.
        if self.place.seq - self.looked >= LOOK_AGAIN {
            self.looked = self.place.seq;
            if let Some(checkpoint) = Checkpoint::sound(layout) {
                self.flushed(checkpoint);
            }
        }
        Ok(true)
    }

    /// Takes its lines into what is known.
    pub(crate) fn take_in(&mut self, layout: &Layout) -> Result<(), Error> {
        let first = self.index_of(self.taken_in + 1);
        if let Some(known) = &mut self.known {
            for entry in self.lines.range(first..) {
                known.take_in(entry.record(layout)?);
            }
        }
        self.taken_in = self.place.seq;
        Ok(())
    }

    /// Whether it has all that was added up to a moment ago.
    pub(crate) fn is_recent(&self) -> bool {
        self.followed.is_some_and(|followed| followed.elapsed() < RECENT)
    }

    /// This process is about to write the lines after `from` up to `to`.
    pub(crate) fn expect(&mut self, from: Place, to: Place) {
        self.coming = (self.place == from).then_some(to);
    }

    /// It has not; or what it wrote is not durable.
    pub(crate) fn expect_nothing(&mut self) {
        self.coming = None;
    }

    /// This process has written, or read, these lines after `before`, which is all up to `end`, and they are durable.
    pub(crate) fn add(
        &mut self,
        layout: &Layout,
        (before, lines): &(Place, Vec<Arc<Entry>>),
        end: Place,
        file: &Arc<dyn DiskFile>,
    ) {
        self.coming = None;
        let mut before = *before;
        for line in lines {
            // What does not follow is read from the log.
            if before == self.place {
                self.place = line.place;
                self.lines.push_back(Arc::clone(line));
            }
            before = line.place;
        }
        // Where some are missing, whoever looks next looks for them.
        self.followed = self.followed.filter(|_| self.place >= end);
        if lines.last().is_some_and(|last| last.place == self.place) {
            self.is_sure = true;
            // Whoever followed once is shown all that this process writes.
            self.followed = self.followed.map(|_| Instant::now());
            if !self.segment.as_ref().is_some_and(|known| Arc::ptr_eq(&known.file, file)) {
                self.segment = Segment::of(layout, self.place, Arc::clone(file));
            }
        }
    }

    /// Whether it has grown too large because nobody looks at it.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.lines.len() > MOST_LINES
    }

    /// The derived files hold the log up to `checkpoint`; of what they hold only the last lines are kept.
    pub(crate) fn flushed(&mut self, checkpoint: Checkpoint) {
        if self.checkpoint.as_ref().is_some_and(|known| known.place == checkpoint.place) {
            return;
        }
        let held = self.index_of(checkpoint.place.seq + 1);
        self.lines.drain(..held.saturating_sub(KEPT).min(self.index_of(self.taken_in + 1)));
        self.checkpoint = Some(checkpoint);
        // There is no end of questions that are over: they are known as long as it is the lines that hold them.
        let lines = self.lines.iter().filter_map(|entry| entry.known_record());
        let late: HashSet<&QuestionId> = lines.filter_map(|record| record.event.question()).collect();
        if let Some(known) = &mut self.known {
            known.questions.retain(|id, question| !question.status.is_final() || late.contains(id));
        }
    }

    /// The lines after `since`, if it has all of them.
    pub(crate) fn lines_since(&self, since: u64) -> Option<impl Iterator<Item = &Arc<Entry>>> {
        let first = self.lines.front().map_or(self.place.seq + 1, |entry| entry.head.seq);
        (first <= since.saturating_add(1)).then(|| self.lines.range(self.index_of(since.saturating_add(1))..))
    }

    /// The ids of these items, if they were listed before.
    pub(crate) fn listed(&self, which: Which) -> Option<Vec<ItemId>> {
        let known = self.known.as_ref()?;
        let list = match which {
            Which::All => known.all.as_ref()?,
            Which::Active => known.active.as_ref()?,
        };
        Some(list.iter().cloned().collect())
    }

    pub(crate) fn item(&self, id: &ItemId) -> Result<Arc<Item>, Lines> {
        let known = self.known.as_ref().and_then(|known| known.items.get(id));
        known.map(Arc::clone).ok_or_else(|| self.lines(|entry| entry.head.stream == *id))
    }

    pub(crate) fn question(&self, id: &QuestionId) -> Result<Arc<Question>, Lines> {
        let known = self.known.as_ref().and_then(|known| known.questions.get(id));
        known.map(Arc::clone).ok_or_else(|| self.lines(|entry| entry.head.stream == id.item))
    }

    pub(crate) fn shared(&self, which: Shared) -> Result<Arc<State>, Lines> {
        let known = self.known.as_ref().and_then(|known| known.shared.get(&which));
        known.map(Arc::clone).ok_or_else(|| self.lines(|entry| entry.head.stream == Stream::from(which)))
    }

    /// The lines of all items.
    pub(crate) fn lines_of_items(&self) -> Lines {
        self.lines(|entry| entry.head.stream.item().is_some())
    }

    fn lines(&self, wanted: impl Fn(&Entry) -> bool) -> Lines {
        let late = self.lines.iter().filter(|entry| wanted(entry)).map(Arc::clone).collect();
        Lines { late, checkpoint: self.checkpoint.clone(), as_of: self.place.seq }
    }

    /// Keeps an item that was read with `lines`.
    pub(crate) fn keep_item(&mut self, layout: &Layout, item: &Arc<Item>, lines: &Lines) -> Result<(), Error> {
        let Some(later) = self.taken_in_since(lines, |entry| entry.head.stream == item.id) else { return Ok(()) };
        let mut item = Some(Arc::clone(item));
        for entry in later {
            let mut newer = item.map(Arc::unwrap_or_clone);
            evolve_item(&mut newer, entry.record(layout)?);
            item = newer.map(Arc::new);
        }
        if let Some(known) = &mut self.known {
            room(&mut known.items).extend(item.map(|item| (item.id.clone(), item)));
        }
        Ok(())
    }

    /// Keeps a question that was read with `lines`, unless nothing can happen to it any more: there is no end of those.
    pub(crate) fn keep_question(
        &mut self,
        layout: &Layout,
        question: &Arc<Question>,
        lines: &Lines,
    ) -> Result<(), Error> {
        let is_its = |entry: &Entry| entry.head.stream == question.id.item;
        let Some(later) = self.taken_in_since(lines, is_its) else { return Ok(()) };
        let mut question = Some(Arc::clone(question));
        for entry in later {
            let record = entry.record(layout)?;
            if record.event.question() == question.as_ref().map(|it| &it.id) {
                let mut newer = question.map(Arc::unwrap_or_clone);
                evolve_question(&mut newer, record);
                question = newer.map(Arc::new);
            }
        }
        let question = question.filter(|question| !question.status.is_final());
        if let Some(known) = &mut self.known {
            room(&mut known.questions).extend(question.map(|it| (it.id.clone(), it)));
        }
        Ok(())
    }

    pub(crate) fn keep_shared(&mut self, which: Shared, state: &Arc<State>, lines: &Lines) {
        let later = self.taken_in_since(lines, |entry| entry.head.stream == Stream::from(which));
        if let (Some(known), Some([])) = (&mut self.known, later.as_deref()) {
            known.shared.insert(which, Arc::clone(state));
        }
    }

    pub(crate) fn keep_list(&mut self, which: Which, ids: &[ItemId], lines: &Lines) {
        let later = self.taken_in_since(lines, |entry| entry.head.stream.item().is_some());
        if let (Some(known), Some([])) = (&mut self.known, later.as_deref()) {
            let list = match which {
                Which::All => &mut known.all,
                Which::Active => &mut known.active,
            };
            *list = Some(ids.iter().cloned().collect());
        }
    }

    /// What was taken in after the lines that a reader had; none if the view is another one by now, or knows nothing.
    fn taken_in_since(&self, lines: &Lines, wanted: impl Fn(&Entry) -> bool) -> Option<Vec<Arc<Entry>>> {
        self.known.as_ref()?;
        let taken_in = self.lines_since(lines.as_of)?.take_while(|entry| entry.head.seq <= self.taken_in);
        Some(taken_in.filter(|entry| wanted(entry)).map(Arc::clone).collect())
    }

    /// Where the line of this seq stands among the lines; their end, or their start, if it is not there.
    fn index_of(&self, seq: u64) -> usize {
        let first = self.lines.front().map_or(seq, |entry| entry.head.seq);
        usize::try_from(seq.saturating_sub(first)).unwrap_or(usize::MAX).min(self.lines.len())
    }

    /// Whether the log has not grown since, but by what this process writes, nor been cut.
    fn is_current(&self, layout: &Layout) -> bool {
        let Some(Segment { file, path, identity }) = &self.segment else { return false };
        let there = layout.disk().stat(path);
        let end = self.coming.filter(|it| it.segment == self.place.segment).unwrap_or(self.place).end;
        there.is_ok_and(|(there, length)| there == *identity && (self.place.end..=end).contains(&length))
            && (self.is_sure || self.place.is_in_segment(&**file))
            && !layout.is_followed(self.place)
    }
}

impl Known {
    /// What is known takes a new line in. What is known later than the line stays as it is.
    fn take_in(&mut self, record: &Record) {
        let id = match &record.stream {
            Stream::Item(id) => id,
            Stream::Shared(which) => {
                if let Some(state) = self.shared.get_mut(which) {
                    evolve(Arc::make_mut(state), record);
                }
                return;
            }
        };
        let item = in_place(&mut self.items, id, record, change_item, evolve_item);
        let is_active = item.map(Item::is_active);
        match (&mut self.active, is_active) {
            (Some(active), Some(true)) => drop(active.insert(id.clone())),
            (Some(active), Some(false)) => drop(active.remove(id)),
            // Whether it is active must be looked up.
            (_, None) | (None, _) => self.active = None,
        }
        if let (Event::ItemOpened(_), Some(all)) = (&record.event, &mut self.all) {
            all.insert(id.clone());
        }
        if let Some(id) = record.event.question() {
            in_place(&mut self.questions, id, record, change_question, evolve_question);
        }
    }
}

/// Takes a line into what is known by this id; what is not known yet the line may open.
fn in_place<'a, K: Clone + Eq + Hash, V: Clone>(
    known: &'a mut HashMap<K, Arc<V>>,
    id: &K,
    record: &Record,
    change: fn(&mut V, &Record),
    open: fn(&mut Option<V>, &Record),
) -> Option<&'a V> {
    let value = match known.entry(id.clone()) {
        hash_map::Entry::Occupied(there) => {
            let value = there.into_mut();
            change(Arc::make_mut(value), record);
            value
        }
        hash_map::Entry::Vacant(place) => {
            let mut opened = None;
            open(&mut opened, record);
            place.insert(Arc::new(opened?))
        }
    };
    Some(value)
}

/// A map with room for one more: what is known can be read again.
fn room<K, V>(known: &mut HashMap<K, V>) -> &mut HashMap<K, V> {
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known
}

impl Segment {
    /// The segment of a place, if it can be opened.
    fn open(layout: &Layout, place: Place) -> Option<Self> {
        let path = layout.segment(place.segment);
        Self::of(layout, place, Arc::from(layout.disk().open(&path, Open::Read).ok()?))
    }

    /// The same, which is open already.
    fn of(layout: &Layout, place: Place, file: Arc<dyn DiskFile>) -> Option<Self> {
        let identity = file.identity().ok()?;
        Some(Self { file, path: layout.segment(place.segment), identity })
    }
}

/// The lines after `from`, and where they end. A writer may be at work at the end of the log, so what looks damaged is looked
/// at again.
fn lines_after(layout: &Layout, from: Place) -> Result<(VecDeque<Arc<Entry>>, Place), Error> {
    let read = || {
        let mut entries = VecDeque::new();
        let End { place, .. } = scan(layout, from, |entry| {
            entries.push_back(Arc::new(entry));
            Ok(())
        })?;
        Ok((entries, place))
    };
    read().or_else(|_: Error| read()).or_else(|_: Error| read())
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
