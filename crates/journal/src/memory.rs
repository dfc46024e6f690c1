//! The journal in memory: a real engine, for tests and simulation. Nothing outlives the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use querent_core::{
    ComponentName, Envelope, Item, ItemId, Moment, Operation, OperationId, Question, QuestionId, Record, Shared, State,
    Stream,
};

use crate::wakes::Wakes;
use crate::{Beat, Error, Journal, Pulse, Snapshot, Update, Wake, Watch, Which};

/// A journal in memory.
#[derive(Default)]
pub struct Memory {
    inner: Mutex<Inner>,
    wakes: Wakes,
    beats: Mutex<BTreeMap<(Pulse, ComponentName), Moment>>,
}

#[derive(Default)]
struct Inner {
    records: Vec<Arc<Record>>,
    states: BTreeMap<ItemId, State>,
    shared: State,
    operations: HashMap<OperationId, Operation>,
}

impl Memory {
    /// An empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    fn pulses(&self) -> MutexGuard<'_, BTreeMap<(Pulse, ComponentName), Moment>> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Memory {
    fn update(&self, mut update: Update) -> Result<Envelope, Error> {
        let mut inner = self.lock();
        if let Some(ticket) = update.ticket.as_ref().filter(|ticket| !ticket.is_fresh)
            && let Some(known) = inner.operations.get(&ticket.id)
        {
            return Ok(known.replay(&ticket.fingerprint).unwrap_or_else(|refusal| Envelope::refused(&refusal)));
        }
        let known = update.stream.item().and_then(|id| inner.states.get(id));
        let mut state = known.cloned().unwrap_or_default();
        let mut shared = inner.shared.clone();
        for which in Shared::ALL {
            state.swap(which, &mut shared);
        }
        let applied = update.job.run(&mut state);
        let changed = !applied.batches.is_empty();
        for batch in applied.batches {
            for mut record in batch.records {
                record.seq = inner.records.len() as u64 + 1;
                inner.records.push(Arc::new(record));
            }
            inner.operations.extend(batch.operation.map(|operation| (operation.id.clone(), operation)));
        }
        if changed {
            for shared in Shared::ALL {
                inner.shared.swap(shared, &mut state);
                state.swap(shared, &mut State::default());
            }
            if let Stream::Item(id) = update.stream {
                inner.states.insert(id, state);
            }
            drop(inner);
            self.wakes.wake();
        }
        Ok(applied.reply)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        let inner = self.lock();
        Ok(Box::new(Frozen {
            head: inner.records.len() as u64,
            states: inner.states.clone(),
            shared: inner.shared.clone(),
        }))
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        let from = usize::try_from(since).unwrap_or(usize::MAX);
        let later: Vec<Arc<Record>> = self.lock().records.iter().skip(from).cloned().collect();
        later.into_iter().all(each);
        Ok(())
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        self.pulses().insert((beat.pulse, beat.name.clone()), beat.at);
        Ok(())
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        let beats = self.pulses();
        let wanted = beats.iter().filter(|((it, _), _)| *it == pulse);
        Ok(wanted.map(|((_, name), at)| Beat { pulse, name: name.clone(), at: *at }).collect())
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        self.pulses().remove(&(pulse, name.clone()));
        Ok(())
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        Ok(self.wakes.add(wake))
    }
}

struct Frozen {
    head: u64,
    states: BTreeMap<ItemId, State>,
    shared: State,
}

impl Snapshot for Frozen {
    fn head(&self) -> u64 {
        self.head
    }

    fn item(&self, id: &ItemId) -> Result<Option<Arc<Item>>, Error> {
        Ok(self.states.get(id).and_then(|state| state.item.clone()).map(Arc::new))
    }

    fn question(&self, id: &QuestionId) -> Result<Option<Arc<Question>>, Error> {
        Ok(self.states.get(&id.item).and_then(|state| state.questions.get(id).cloned()).map(Arc::new))
    }

    fn shared(&self, _: Shared) -> Result<Arc<State>, Error> {
        Ok(Arc::new(self.shared.clone()))
    }

    fn items(&self, which: Which) -> Result<Vec<ItemId>, Error> {
        let items = self.states.values().filter_map(|state| state.item.as_ref());
        let wanted = items.filter(|item| which == Which::All || item.is_active());
        Ok(wanted.map(|item| item.id.clone()).collect())
    }
}
