//! Reading without the lock: the ledgers, and the lines that they do not hold yet.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use querent_core::{Item, ItemId, Question, QuestionId, Shared, State, Stream, evolve, evolve_item, evolve_question};

use super::checkpoint::Checkpoint;
use super::layout::Layout;
use super::ledger::{self, Found};
use super::operations::{self, Index};
use super::place::Place;
use super::scan::scan;
use super::view::{Lines, Look, View};
use super::{Files, recover};
use crate::{Error, Snapshot, Which};

/// What is recorded now, and perhaps what is recorded meanwhile.
pub(crate) struct Reader<'a> {
    files: &'a Files,
    layout: &'a Layout,
    head: u64,
    /// Everything, where there is no checkpoint to go by.
    whole: OnceCell<BTreeSet<ItemId>>,
}

impl<'a> Reader<'a> {
    /// Reads through the view of the process.
    pub(crate) fn open(files: &'a Files, how: Look) -> Result<Self, Error> {
        let head = files.look(how, |view| view.place.seq)?;
        Ok(Self { files, layout: &files.shared.layout, head, whole: OnceCell::new() })
    }

    fn look<T>(&self, at: impl FnOnce(&mut View) -> T) -> Result<T, Error> {
        self.files.look(Look::AsItIs, at)
    }

    /// The items that are listed in `dir`, if as many are there as the checkpoint says; else after a repair.
    fn listed(&self, which: Which, lines: &Lines) -> Result<Vec<ItemId>, Error> {
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
        let mut checkpoint = lines.checkpoint.clone();
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
    fn head(&self) -> u64 {
        self.head
    }

    fn item(&self, id: &ItemId) -> Result<Option<Arc<Item>>, Error> {
        let lines = match self.look(|view| view.item(id))? {
            Ok(item) => return Ok(Some(item)),
            Err(lines) => lines,
        };
        let item = self.read_item(id, &lines)?.map(Arc::new);
        if let Some(item) = &item {
            self.look(|view| view.keep_item(self.layout, item, &lines))??;
        }
        Ok(item)
    }

    fn question(&self, id: &QuestionId) -> Result<Option<Arc<Question>>, Error> {
        let lines = match self.look(|view| view.question(id))? {
            Ok(question) => return Ok(Some(question)),
            Err(lines) => lines,
        };
        let question = self.read_question(id, &lines)?.map(Arc::new);
        if let Some(question) = &question {
            self.look(|view| view.keep_question(self.layout, question, &lines))??;
        }
        Ok(question)
    }

    fn shared(&self, which: Shared) -> Result<Arc<State>, Error> {
        let lines = match self.look(|view| view.shared(which))? {
            Ok(state) => return Ok(state),
            Err(lines) => lines,
        };
        let state = Arc::new(self.read_shared(which, &lines)?);
        self.look(|view| view.keep_shared(which, &state, &lines))?;
        Ok(state)
    }

    fn items(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let lines = match self.look(|view| view.listed(which).ok_or_else(|| view.lines_of_items()))? {
            Ok(ids) => return Ok(ids),
            Err(lines) => lines,
        };
        let ids = self.read_items(which, &lines)?;
        self.look(|view| view.keep_list(which, &ids, &lines))?;
        Ok(ids)
    }
}

impl Reader<'_> {
    fn read_item(&self, id: &ItemId, lines: &Lines) -> Result<Option<Item>, Error> {
        let mut item = match ledger::read_item(self.layout, id)? {
            Found::Good(item) => Some(item),
            Found::Missing if self.is_new(id, lines)? => None,
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &id.clone().into())?.item,
        };
        for entry in &lines.late {
            evolve_item(&mut item, entry.record(self.layout)?);
        }
        Ok(item)
    }

    fn read_question(&self, id: &QuestionId, lines: &Lines) -> Result<Option<Question>, Error> {
        let mut question = match ledger::read_question(self.layout, id)? {
            Found::Good(question) => Some(question),
            Found::Bad => recover::rebuild(self.layout, &id.item.clone().into())?.questions.remove(id),
            Found::Missing => None,
        };
        for entry in &lines.late {
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

    fn read_shared(&self, which: Shared, lines: &Lines) -> Result<State, Error> {
        let stream = which.into();
        let mut state = match ledger::read_shared(self.layout, which)? {
            Found::Good(state) => state,
            Found::Missing if self.is_unheard_of(&stream, lines)? => State::default(),
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &stream)?,
        };
        for entry in &lines.late {
            evolve(&mut state, entry.record(self.layout)?);
        }
        Ok(state)
    }

    fn read_items(&self, which: Which, lines: &Lines) -> Result<Vec<ItemId>, Error> {
        let mut ids: BTreeSet<ItemId> = self.listed(which, lines)?.into_iter().collect();
        let touched: BTreeSet<&ItemId> = lines.late.iter().filter_map(|entry| entry.head.stream.item()).collect();
        ids.extend(touched.iter().copied().cloned());
        if which == Which::All {
            return Ok(ids.into_iter().collect());
        }
        // A mark may be newer or older than these lines; the item itself decides.
        let mut active = Vec::with_capacity(ids.len());
        for id in ids {
            let counts = !touched.contains(&id) || self.item(&id)?.is_some_and(|item| item.is_active());
            if counts {
                active.push(id);
            }
        }
        Ok(active)
    }

    /// Whether nothing before the tail is of this stream, so that a missing ledger is no loss.
    fn is_unheard_of(&self, stream: &Stream, lines: &Lines) -> Result<bool, Error> {
        let index = if lines.checkpoint.is_some() { Index::open_to_read(self.layout)? } else { None };
        index.map_or(Ok(!self.layout.has(&self.layout.segment(1))), |index| {
            Ok(index.find(operations::stream_key(stream))?.is_empty())
        })
    }

    /// Whether the log has never heard of the item, so that a missing ledger is no loss.
    fn is_new(&self, id: &ItemId, lines: &Lines) -> Result<bool, Error> {
        // The view's own may be an older one, which knows of fewer.
        if let Some(checkpoint) = lines.checkpoint.as_ref().and_then(|_| Checkpoint::sound(self.layout))
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
