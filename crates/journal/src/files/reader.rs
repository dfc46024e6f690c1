//! Reading without the lock: the ledgers, and the lines that they do not hold yet.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use querent_core::{Item, ItemId, Question, QuestionId, Shared, State, Stream, evolve, evolve_item, evolve_question};

use super::checkpoint::Checkpoint;
use super::layout::Layout;
use super::ledger::{self, Found};
use super::operations::{self, Index};
use super::place::Place;
use super::scan::{Entry, scan};
use super::{Files, recover};
use crate::{Error, Snapshot, Which};

/// What is recorded now. Usually the ledgers hold everything and the tail is empty.
pub(crate) struct Reader<'a> {
    files: &'a Files,
    layout: &'a Layout,
    checkpoint: Option<Checkpoint>,
    tail: Vec<Entry>,
    /// Everything, where there is no checkpoint to go by.
    whole: OnceCell<BTreeSet<ItemId>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn open(files: &'a Files, layout: &'a Layout) -> Result<Self, Error> {
        let sound = || Checkpoint::sound(layout);
        let mut checkpoint = sound();
        // Without a checkpoint everything is read from the log, every time; so it is put in order once, if that can be.
        let well = || Ok(sound().is_some());
        if checkpoint.is_none() && layout.has(&layout.segment(1)) && files.repair_unless(well).is_ok() {
            checkpoint = sound();
        }
        let from = checkpoint.as_ref().map_or(Place::START, |it| it.place);
        let tail = tail(layout, from)?;
        Ok(Self { files, layout, checkpoint, tail, whole: OnceCell::new() })
    }

    /// The items that are listed in `dir`, if as many are there as the checkpoint says; else after a repair.
    fn listed(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let dir = match which {
            Which::All => self.layout.items(),
            Which::Active => self.layout.open(),
        };
        let expected = |it: &Checkpoint| match which {
            Which::All => it.items,
            Which::Active => it.open,
        };
        if !self.layout.has(&self.layout.segment(1)) {
            return Ok(Vec::new());
        }
        let mut checkpoint = self.checkpoint.clone();
        for _ in 0..3 {
            let names = ledger::names(self.layout, &dir)?;
            if checkpoint.as_ref().is_some_and(|it| expected(it) == names.len() as u64) {
                return Ok(names);
            }
            // A writer may have been between the two: look again before believing that something is missing.
            checkpoint = Checkpoint::load(self.layout);
        }
        self.files.repair_unless(|| {
            let listed = ledger::names(self.layout, &dir)?.len() as u64;
            Ok(Checkpoint::load(self.layout).is_some_and(|it| expected(&it) == listed))
        })?;
        ledger::names(self.layout, &dir)
    }
}

impl Snapshot for Reader<'_> {
    fn item(&self, id: &ItemId) -> Result<Option<Item>, Error> {
        let mut item = match ledger::read_item(self.layout, id)? {
            Found::Good(item) => Some(item),
            Found::Missing if self.is_new(id)? => None,
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &id.clone().into())?.item,
        };
        for entry in self.tail.iter().filter(|entry| entry.head.stream == *id) {
            evolve_item(&mut item, entry.record(self.layout)?);
        }
        Ok(item)
    }

    fn question(&self, id: &QuestionId) -> Result<Option<Question>, Error> {
        let mut question = match ledger::read_question(self.layout, id)? {
            Found::Good(question) => Some(question),
            Found::Bad => recover::rebuild(self.layout, &id.item.clone().into())?.questions.remove(id),
            Found::Missing => None,
        };
        for entry in self.tail.iter().filter(|entry| entry.head.stream == id.item) {
            let record = entry.record(self.layout)?;
            if record.event.question() == Some(id) {
                evolve_question(&mut question, record);
            }
        }
        if question.is_none() && self.item(&id.item)?.is_some_and(|item| id.number <= item.asked) {
            return Ok(recover::rebuild(self.layout, &id.item.clone().into())?.questions.remove(id));
        }
        Ok(question)
    }

    fn shared(&self, which: Shared) -> Result<State, Error> {
        let stream = which.into();
        let mut state = match ledger::read_shared(self.layout, which)? {
            Found::Good(state) => state,
            Found::Missing if self.is_unheard_of(&stream)? => State::default(),
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &stream)?,
        };
        for entry in self.tail.iter().filter(|entry| entry.head.stream == stream) {
            evolve(&mut state, entry.record(self.layout)?);
        }
        Ok(state)
    }

    fn items(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let mut ids: BTreeSet<ItemId> = self.listed(which)?.into_iter().collect();
        ids.extend(self.tail.iter().filter_map(|entry| entry.head.stream.item().cloned()));
        if which == Which::All {
            return Ok(ids.into_iter().collect());
        }
        // A mark may be newer or older than this snapshot; the item itself decides.
        let touched: BTreeSet<&ItemId> = self.tail.iter().filter_map(|entry| entry.head.stream.item()).collect();
        let mut active = Vec::with_capacity(ids.len());
        for id in ids {
            let counts = !touched.contains(&id) || self.item(&id)?.is_some_and(|item| item.is_active());
            if counts {
                active.push(id);
            }
        }
        Ok(active)
    }
}

impl Reader<'_> {
    /// Whether nothing before the tail is of this stream, so that a missing ledger is no loss.
    fn is_unheard_of(&self, stream: &Stream) -> Result<bool, Error> {
        let index = if self.checkpoint.is_some() { Index::open_to_read(self.layout)? } else { None };
        index.map_or(Ok(!self.layout.has(&self.layout.segment(1))), |index| {
            Ok(index.find(operations::stream_key(stream))?.is_empty())
        })
    }

    /// Whether the log has never heard of the item, so that a missing ledger is no loss.
    fn is_new(&self, id: &ItemId) -> Result<bool, Error> {
        if let Some(checkpoint) = &self.checkpoint
            && !self.layout.has(&self.layout.item_dir(id))
            && ledger::names(self.layout, &self.layout.items())?.len() as u64 >= checkpoint.items
        {
            return Ok(true);
        }
        let known = if let Some(known) = self.whole.get() {
            known
        } else {
            let mut all = BTreeSet::new();
            scan(self.layout, Place::START, |entry| {
                all.extend(entry.head.stream.item().cloned());
                Ok(())
            })?;
            self.whole.get_or_init(|| all)
        };
        Ok(!known.contains(id))
    }
}

/// The lines after `from`. A writer may be at work at the end of the log, so what looks damaged is looked at again.
fn tail(layout: &Layout, from: Place) -> Result<Vec<Entry>, Error> {
    let read = || {
        let mut entries = Vec::new();
        scan(layout, from, |entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    };
    read().or_else(|_: Error| read()).or_else(|_: Error| read())
}
