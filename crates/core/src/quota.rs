//! The strict quota: one strict question at a time in the whole project.

use serde::{Deserialize, Serialize};

use crate::event::{Event, Record};
use crate::id::QuestionId;
use crate::item::Item;

/// The shared stream `quota`. It is taken in the batch that asks a strict question and freed in the one that settles it, so
/// no crash leaves it taken and no two asks pass at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// The strict question that is active.
    pub active: Option<QuestionId>,
    /// How many events made it.
    pub version: u64,
}

impl Quota {
    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::QuotaTaken(it) => self.active = Some(it.question.clone()),
            Event::QuotaFreed(it) if self.active.as_ref() == Some(&it.question) => self.active = None,
            _ => {}
        }
    }
}

/// The strict questions that these events settle.
pub(crate) fn settled<'a>(item: &'a Item, events: &'a [Event]) -> impl Iterator<Item = &'a QuestionId> {
    let settles = |event: &'a Event| match event {
        Event::QuestionAnswered(it) => Some(&it.question),
        Event::QuestionResolved(it) => Some(&it.question),
        Event::QuestionExpired(it) => Some(&it.question),
        Event::QuestionWithdrawn(it) => Some(&it.question),
        _ => None,
    };
    events.iter().filter_map(settles).filter(|id| item.open.get(&id.number).is_some_and(|open| open.strict))
}
