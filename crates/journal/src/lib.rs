//! Querent's storage boundary: one ordered, durable journal of events behind one trait.
//!
//! A journal is the truth. What can be read from it (items, questions, operations) is derived, and an engine may keep it
//! wherever that is fast, as long as every read equals the fold of the records. The [`conformance`] suite says so of both
//! engines: [`Memory`] and [`Files`].

mod beat;
pub mod conformance;
mod error;
pub mod files;
mod memory;
mod wakes;

use std::sync::Arc;

use querent_core::{
    Applied, ComponentName, Envelope, Item, ItemId, Needs, Question, QuestionId, Record, Shared, State, Stream, Ticket,
};

pub use beat::{Beat, Pulse};
pub use error::Error;
pub use files::Files;
pub use memory::Memory;

/// Where the events of a project live.
pub trait Journal: Send + Sync {
    /// Carries out one update: no other happens in between, it is recorded whole or not at all, and it is durable when
    /// this returns. An operation that was recorded before is not run again; its first reply is returned.
    fn update(&self, update: Update) -> Result<Envelope, Error>;

    /// The same for some that nobody waits for on a thread of its own: `done` is called once, when all of them are durable or could
    /// not be made so. It is called on whatever thread, and must not block.
    fn submit(&self, updates: Vec<Update>, done: Done) {
        done(updates.into_iter().map(|update| self.update(update)).collect());
    }

    /// Carries out updates together on this thread, unless that would have to wait for others.
    fn attempt(&self, updates: Vec<Update>) -> Attempt {
        Attempt::Done(updates.into_iter().map(|update| self.update(update)).collect())
    }

    /// What is recorded now; what is recorded while one reads may be in it too.
    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error>;

    /// The same for those who need not know at once what other processes record: it may be a tenth of a second old. What this
    /// process did itself is in it.
    fn read_lately(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        self.read()
    }

    /// Hands the records after `since` to `each`, in order, until it returns false. Memory does not grow with them.
    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error>;

    /// Makes durable whatever was read so far, by anybody through this journal. Whoever acts on a record in the world calls this
    /// first.
    fn sync(&self) -> Result<(), Error>;

    /// Somebody shows that it is alive.
    fn beat(&self, beat: &Beat) -> Result<(), Error>;

    /// The last beats of one sort, sorted by name.
    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error>;

    /// No more beats are expected of this one.
    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error>;

    /// Calls `wake` after every change, also of other processes, until the watch is dropped. It may be called too often.
    fn watch(&self, wake: Wake) -> Result<Watch, Error>;
}

/// A journal that is in several hands.
impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn update(&self, update: Update) -> Result<Envelope, Error> {
        (**self).update(update)
    }

    fn submit(&self, updates: Vec<Update>, done: Done) {
        (**self).submit(updates, done);
    }

    fn attempt(&self, updates: Vec<Update>) -> Attempt {
        (**self).attempt(updates)
    }

    fn read(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        (**self).read()
    }

    fn read_lately(&self) -> Result<Box<dyn Snapshot + '_>, Error> {
        (**self).read_lately()
    }

    fn records(&self, since: u64, each: &mut dyn FnMut(Arc<Record>) -> bool) -> Result<(), Error> {
        (**self).records(since, each)
    }

    fn sync(&self) -> Result<(), Error> {
        (**self).sync()
    }

    fn beat(&self, beat: &Beat) -> Result<(), Error> {
        (**self).beat(beat)
    }

    fn beats(&self, pulse: Pulse) -> Result<Vec<Beat>, Error> {
        (**self).beats(pulse)
    }

    fn still(&self, pulse: Pulse, name: &ComponentName) -> Result<(), Error> {
        (**self).still(pulse, name)
    }

    fn watch(&self, wake: Wake) -> Result<Watch, Error> {
        (**self).watch(wake)
    }
}

/// What came of an attempt.
pub enum Attempt {
    /// They were carried out, or could not be.
    Done(Vec<Result<Envelope, Error>>),
    /// They would have to wait. Nothing has happened.
    Busy(Vec<Update>),
}

/// What is called when updates are durable, or could not be made so, with what became of each.
pub type Done = Box<dyn FnOnce(Vec<Result<Envelope, Error>>) + Send>;

/// What is called after a change.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Keeps a watch alive.
pub struct Watch(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send + Sync>);

impl Watch {
    /// A watch that ends when `guard` is dropped.
    pub fn held_by(guard: impl Send + Sync + 'static) -> Self {
        Self(Box::new(guard))
    }
}

/// Items and questions as the records make them.
pub trait Snapshot {
    /// The number of the last record; 0 if there is none.
    fn head(&self) -> u64;

    /// An item. It may be shared: it grows with all that was ever asked on it.
    fn item(&self, id: &ItemId) -> Result<Option<Arc<Item>>, Error>;

    /// A question with its thread. It may be shared, like an item.
    fn question(&self, id: &QuestionId) -> Result<Option<Arc<Question>>, Error>;

    /// What all items share: a state that has this of it.
    fn shared(&self, which: Shared) -> Result<Arc<State>, Error>;

    /// The ids of the items, sorted.
    fn items(&self, which: Which) -> Result<Vec<ItemId>, Error>;
}

/// Which items are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Every one.
    All,
    /// Those with active questions or a session at work. Costs what is active, not what there is.
    Active,
}

/// One update of one stream, and of what it shares with others.
pub struct Update {
    /// The stream.
    pub stream: Stream,
    /// What the command is known by; none for deadlines alone.
    pub ticket: Option<Ticket>,
    /// What is to be done.
    pub job: Box<dyn Job>,
}

/// What an update does. An engine may run it more than once, on fresher state each time.
pub trait Job: Send {
    /// What [`run`](Job::run) cannot do without.
    fn needs(&mut self, item: &Item) -> Needs;

    /// Decides, and takes the outcome into the state.
    fn run(&mut self, state: &mut State) -> Applied;
}
