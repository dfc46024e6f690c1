//! What a process knows of the log without the lock: up to which line, what the ledgers do not hold of it, and, in a process
//! that stays, what it has read already. A kept view follows the log: it costs what was added since, not what there is.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use querent_core::{
    Event, Item, ItemId, Question, QuestionId, Record, Shared, State, Stream, evolve, evolve_item, evolve_question,
};

use super::Files;
use super::checkpoint::Checkpoint;
use super::commit::hold;
use super::disk::{DiskFile, Open};
use super::layout::Layout;
use super::place::Place;
use super::scan::{End, Entry, scan};
use crate::{Error, Which};

/// How many items, and how many questions, are known at most.
const MOST_KNOWN: usize = 16_384;

/// After how many lines a view looks how far the ledgers are.
const LOOK_AGAIN: usize = 64;

/// A view of the log.
pub(crate) struct View {
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The last line that it knows.
    pub(crate) place: Place,
    /// The segment of that line.
    segment: Option<Arc<dyn DiskFile>>,
    /// The lines after the checkpoint. Usually the ledgers hold everything and there is none.
    pub(crate) tail: Vec<Arc<Entry>>,
    known: Option<Mutex<Known>>,
}

/// What was read, as of the view's last line or a later one.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(crate) items: HashMap<ItemId, Arc<Item>>,
    /// Those that may still change.
    pub(crate) questions: HashMap<QuestionId, Arc<Question>>,
    pub(crate) shared: HashMap<Shared, Arc<State>>,
    all: Option<BTreeSet<ItemId>>,
    active: Option<BTreeSet<ItemId>>,
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
        let (tail, place) = lines_after(layout, from)?;
        let segment = if kept { segment(layout, place) } else { None };
        Ok(Self { checkpoint, place, segment, tail, known: kept.then(Mutex::default) })
    }

    /// Whether the log has not grown since, nor been cut.
    pub(crate) fn is_current(&self, layout: &Layout) -> bool {
        let Some(segment) = self.segment.as_deref() else { return false };
        let is_there = || {
            let path = layout.segment(self.place.segment);
            layout.disk().identity(&path).ok().is_some_and(|it| segment.identity().is_ok_and(|mine| mine == it))
        };
        segment.length().is_ok_and(|length| length == self.place.end)
            && self.place.is_in_segment(segment)
            && is_there()
            && !layout.has(&layout.segment(self.place.segment + 1))
    }

    /// The view after the lines that were added since; none if its own last line is gone.
    pub(crate) fn follow(self: Arc<Self>, layout: &Layout) -> Result<Option<Arc<Self>>, Error> {
        if self.place == Place::START || !self.place.is_in(layout) {
            return Ok(None);
        }
        let (added, place) = lines_after(layout, self.place)?;
        let mut next = Arc::unwrap_or_clone(self);
        for entry in &added {
            if let Some(mut known) = next.known() {
                known.take_in(entry.record(layout)?);
            }
        }
        let count = added.len();
        next.tail.extend(added);
        let (before, now) = (next.tail.len() - count, next.tail.len());
        // The ledgers follow now and then, and so does the look at them: meanwhile the lines are here.
        if before / LOOK_AGAIN != now / LOOK_AGAIN
            && let Some(checkpoint) = Checkpoint::sound(layout)
        {
            next.tail.retain(|entry| entry.head.seq > checkpoint.place.seq);
            next.checkpoint = Some(checkpoint);
        }
        if place.segment != next.place.segment || next.segment.is_none() {
            next.segment = segment(layout, place);
        }
        next.place = place;
        Ok(Some(Arc::new(next)))
    }

    /// What was read before, if that is kept.
    pub(crate) fn known(&self) -> Option<MutexGuard<'_, Known>> {
        self.known.as_ref().map(hold)
    }
}

impl Clone for View {
    fn clone(&self) -> Self {
        Self {
            checkpoint: self.checkpoint.clone(),
            place: self.place,
            segment: self.segment.clone(),
            tail: self.tail.clone(),
            known: self.known().map(|known| Mutex::new(known.clone())),
        }
    }
}

impl Known {
    /// The ids of these items, if they were listed before.
    pub(crate) fn listed(&self, which: Which) -> Option<&BTreeSet<ItemId>> {
        match which {
            Which::All => self.all.as_ref(),
            Which::Active => self.active.as_ref(),
        }
    }

    pub(crate) fn keep_list(&mut self, which: Which, ids: &[ItemId]) {
        let list = match which {
            Which::All => &mut self.all,
            Which::Active => &mut self.active,
        };
        *list = Some(ids.iter().cloned().collect());
    }

    pub(crate) fn keep_item(&mut self, item: &Arc<Item>) {
        if self.items.len() >= MOST_KNOWN {
            self.items.clear();
        }
        self.items.insert(item.id.clone(), Arc::clone(item));
    }

    /// Keeps a question, unless nothing can happen to it any more: there is no end of those.
    pub(crate) fn keep_question(&mut self, question: &Question) {
        if question.status.is_final() {
            return;
        }
        if self.questions.len() >= MOST_KNOWN {
            self.questions.clear();
        }
        self.questions.insert(question.id.clone(), Arc::new(question.clone()));
    }

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
        let mut item = self.items.remove(id).map(Arc::unwrap_or_clone);
        evolve_item(&mut item, record);
        let is_active = item.as_ref().map(Item::is_active);
        self.items.extend(item.map(|item| (id.clone(), Arc::new(item))));
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
            let mut question = self.questions.remove(id).map(Arc::unwrap_or_clone);
            evolve_question(&mut question, record);
            if let Some(question) = question.filter(|question| !question.status.is_final()) {
                self.questions.insert(id.clone(), Arc::new(question));
            }
        }
    }
}

fn segment(layout: &Layout, place: Place) -> Option<Arc<dyn DiskFile>> {
    layout.disk().open(&layout.segment(place.segment), Open::Read).ok().map(Arc::from)
}

/// The lines after `from`, and where they end. A writer may be at work at the end of the log, so what looks damaged is looked
/// at again.
fn lines_after(layout: &Layout, from: Place) -> Result<(Vec<Arc<Entry>>, Place), Error> {
    let read = || {
        let mut entries = Vec::new();
        let End { place, .. } = scan(layout, from, |entry| {
            entries.push(Arc::new(entry));
            Ok(())
        })?;
        Ok((entries, place))
    };
    read().or_else(|_: Error| read()).or_else(|_: Error| read())
}
