//! What is known of one item when a decision about it is made.

use std::collections::BTreeMap;

use crate::access::Access;
use crate::alert::Alerts;
use crate::event::Record;
use crate::id::{ItemId, QuestionId};
use crate::item::Item;
use crate::learned::Knowledge;
use crate::question::Question;
use crate::quota::Quota;
use crate::refusal::{Code, Refusal};
use crate::resources::Resources;
use crate::stream::{Shared, Stream};

/// An item and those of its questions that the decision needs, and what it needs of all that is shared
/// ([`needs`](crate::needs)).
///
/// A settled question stays where it is stored: what a decision costs does not grow with an item's history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The item; none before it is opened.
    pub item: Option<Item>,
    /// The questions at hand.
    pub questions: BTreeMap<QuestionId, Question>,
    /// Which strict question is active.
    pub quota: Quota,
    /// What was learned.
    pub knowledge: Knowledge,
    /// Whose files are whose.
    pub resources: Resources,
    /// What people should look at.
    pub alerts: Alerts,
    /// Who may come in over the network.
    pub access: Access,
}

impl State {
    /// The item, or the refusal that there is none.
    pub fn item(&self, id: &ItemId) -> Result<&Item, Refusal> {
        self.item.as_ref().ok_or_else(|| {
            Refusal::new(
                Code::ItemNotFound,
                format!("there is no item `{id}`"),
                format!("add it: querent item add {id} --title …"),
            )
            .with(serde_json::json!({ "item": id }))
        })
    }

    /// A question at hand, or the refusal that there is none.
    pub fn question(&self, id: &QuestionId) -> Result<&Question, Refusal> {
        self.questions.get(id).ok_or_else(|| {
            let item = &id.item;
            Refusal::new(
                Code::QuestionNotFound,
                format!("there is no question `{id}`"),
                format!("list them: querent questions --item {item} --status all"),
            )
            .with(serde_json::json!({ "question_id": id }))
        })
    }

    /// How many events made this stream, which must be the item's or a shared one at hand.
    pub fn version(&self, stream: &Stream) -> u64 {
        match stream {
            Stream::Item(_) => self.item.as_ref().map_or(0, |item| item.version),
            Stream::Shared(Shared::Quota) => self.quota.version,
            Stream::Shared(Shared::Knowledge) => self.knowledge.version,
            Stream::Shared(Shared::Resources) => self.resources.version,
            Stream::Shared(Shared::Alerts) => self.alerts.version,
            Stream::Shared(Shared::Access) => self.access.version,
        }
    }

    /// Exchanges what the two have of a shared stream.
    pub fn swap(&mut self, shared: Shared, other: &mut Self) {
        match shared {
            Shared::Quota => std::mem::swap(&mut self.quota, &mut other.quota),
            Shared::Knowledge => std::mem::swap(&mut self.knowledge, &mut other.knowledge),
            Shared::Resources => std::mem::swap(&mut self.resources, &mut other.resources),
            Shared::Alerts => std::mem::swap(&mut self.alerts, &mut other.alerts),
            Shared::Access => std::mem::swap(&mut self.access, &mut other.access),
        }
    }

    /// Takes a record of a shared stream in.
    pub(crate) fn evolve_shared(&mut self, shared: Shared, record: &Record) {
        if self.version(&shared.into()) >= record.version {
            return;
        }
        macro_rules! take {
            ($part:ident) => {{
                self.$part.evolve(record);
                self.$part.version = record.version;
            }};
        }
        match shared {
            Shared::Quota => take!(quota),
            Shared::Knowledge => take!(knowledge),
            Shared::Resources => take!(resources),
            Shared::Alerts => take!(alerts),
            Shared::Access => take!(access),
        }
    }
}
