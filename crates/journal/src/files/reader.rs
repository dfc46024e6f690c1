//! Reading without the lock: the ledgers, and the lines that they do not hold yet.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use querent_core::{Item, ItemId, Question, QuestionId, Shared, State, Stream, evolve, evolve_item, evolve_question};

use super::checkpoint::Checkpoint;
use super::commit::hold;
use super::layout::Layout;
use super::ledger::{self, Found};
use super::operations::{self, Index};
use super::place::Place;
use super::scan::scan;
use super::view::View;
use super::{Files, recover};
use crate::{Error, Snapshot, Which};

/// What is recorded now.
pub(crate) struct Reader<'a> {
    files: &'a Files,
    layout: &'a Layout,
    view: Arc<View>,
    /// Everything, where there is no checkpoint to go by.
    whole: OnceCell<BTreeSet<ItemId>>,
}

impl<'a> Reader<'a> {
    /// Reads through a view of its own, or, in a process that stays, through the kept one after what was added since.
    pub(crate) fn open(files: &'a Files) -> Result<Self, Error> {
        let layout = &files.shared.layout;
        let view = if files.shared.stays() {
            let mut kept = hold(&files.shared.view);
            let known = match kept.take() {
                Some(view) if view.is_current(layout) => Some(view),
                Some(view) => view.follow(layout)?,
                None => None,
            };
            let view = known.map_or_else(|| View::open(files, layout, true).map(Arc::new), Ok)?;
            Arc::clone(kept.insert(view))
        } else {
            Arc::new(View::open(files, layout, false)?)
        };
        Ok(Self { files, layout, view, whole: OnceCell::new() })
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
        let mut checkpoint = self.view.checkpoint.clone();
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
        self.view.place.seq
    }

    fn item(&self, id: &ItemId) -> Result<Option<Arc<Item>>, Error> {
        let known = self.view.known().and_then(|known| known.items.get(id).map(Arc::clone));
        if known.is_some() {
            return Ok(known);
        }
        let item = self.read_item(id)?.map(Arc::new);
        if let (Some(item), Some(mut known)) = (&item, self.view.known()) {
            known.keep_item(item);
        }
        Ok(item)
    }

    fn question(&self, id: &QuestionId) -> Result<Option<Question>, Error> {
        let known = self.view.known().and_then(|known| known.questions.get(id).map(Arc::clone));
        if let Some(question) = known {
            return Ok(Some(Arc::unwrap_or_clone(question)));
        }
        let question = self.read_question(id)?;
        if let (Some(question), Some(mut known)) = (&question, self.view.known()) {
            known.keep_question(question);
        }
        Ok(question)
    }

    fn shared(&self, which: Shared) -> Result<State, Error> {
        let known = self.view.known().and_then(|known| known.shared.get(&which).map(Arc::clone));
        if let Some(state) = known {
            return Ok(Arc::unwrap_or_clone(state));
        }
        let state = self.read_shared(which)?;
        if let Some(mut known) = self.view.known() {
            known.shared.insert(which, Arc::new(state.clone()));
        }
        Ok(state)
    }

    fn items(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let known = self.view.known().and_then(|known| known.listed(which).map(|ids| ids.iter().cloned().collect()));
        if let Some(ids) = known {
            return Ok(ids);
        }
        let ids = self.read_items(which)?;
        if let Some(mut known) = self.view.known() {
            known.keep_list(which, &ids);
        }
        Ok(ids)
    }
}

impl Reader<'_> {
    fn read_item(&self, id: &ItemId) -> Result<Option<Item>, Error> {
        let mut item = match ledger::read_item(self.layout, id)? {
            Found::Good(item) => Some(item),
            Found::Missing if self.is_new(id)? => None,
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &id.clone().into())?.item,
        };
        for entry in self.view.tail.iter().filter(|entry| entry.head.stream == *id) {
            evolve_item(&mut item, entry.record(self.layout)?);
        }
        Ok(item)
    }

    fn read_question(&self, id: &QuestionId) -> Result<Option<Question>, Error> {
        let mut question = match ledger::read_question(self.layout, id)? {
            Found::Good(question) => Some(question),
            Found::Bad => recover::rebuild(self.layout, &id.item.clone().into())?.questions.remove(id),
            Found::Missing => None,
        };
        for entry in self.view.tail.iter().filter(|entry| entry.head.stream == id.item) {
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

    fn read_shared(&self, which: Shared) -> Result<State, Error> {
        let stream = which.into();
        let mut state = match ledger::read_shared(self.layout, which)? {
            Found::Good(state) => state,
            Found::Missing if self.is_unheard_of(&stream)? => State::default(),
            Found::Missing | Found::Bad => recover::rebuild(self.layout, &stream)?,
        };
        for entry in self.view.tail.iter().filter(|entry| entry.head.stream == stream) {
            evolve(&mut state, entry.record(self.layout)?);
        }
        Ok(state)
    }

    fn read_items(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let mut ids: BTreeSet<ItemId> = self.listed(which)?.into_iter().collect();
        ids.extend(self.view.tail.iter().filter_map(|entry| entry.head.stream.item().cloned()));
        if which == Which::All {
            return Ok(ids.into_iter().collect());
        }
        // A mark may be newer or older than this snapshot; the item itself decides.
        let touched: BTreeSet<&ItemId> = self.view.tail.iter().filter_map(|entry| entry.head.stream.item()).collect();
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
    fn is_unheard_of(&self, stream: &Stream) -> Result<bool, Error> {
        let index = if self.view.checkpoint.is_some() { Index::open_to_read(self.layout)? } else { None };
        index.map_or(Ok(!self.layout.has(&self.layout.segment(1))), |index| {
            Ok(index.find(operations::stream_key(stream))?.is_empty())
        })
    }

    /// Whether the log has never heard of the item, so that a missing ledger is no loss.
    fn is_new(&self, id: &ItemId) -> Result<bool, Error> {
        // The view's own may be an older one, which knows of fewer.
        if let Some(checkpoint) = self.view.checkpoint.as_ref().and_then(|_| Checkpoint::sound(self.layout))
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
