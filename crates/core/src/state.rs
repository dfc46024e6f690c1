//! What is known of one item when a decision about it is made.

use std::collections::BTreeMap;

use crate::id::{ItemId, QuestionId};
use crate::item::Item;
use crate::question::Question;
use crate::refusal::{Code, Refusal};

/// An item and those of its questions that the decision needs ([`needs`](crate::needs)).
///
/// A settled question stays where it is stored: what a decision costs does not grow with an item's history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The item; none before it is opened.
    pub item: Option<Item>,
    /// The questions at hand.
    pub questions: BTreeMap<QuestionId, Question>,
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

    /// How many events made the item.
    pub fn version(&self) -> u64 {
        self.item.as_ref().map_or(0, |item| item.version)
    }
}
