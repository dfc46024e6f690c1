//! What people look at: the inbox, and who waits for whom.

use std::collections::BTreeSet;
use std::sync::Arc;

use querent_core::view::{Filter, ItemView, Waiting, Waits, queue, waits};
use querent_core::{Party, Question, QuestionId, Refusal};
use querent_journal::Which;

use crate::handle::Handle;

/// What waits for people, the most urgent first.
#[derive(Clone, Debug, PartialEq)]
pub struct Inbox {
    /// The first of them.
    pub entries: Vec<InboxEntry>,
    /// How many there are in all.
    pub total: usize,
}

/// A question that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxEntry {
    /// The question.
    pub question: Question,
    /// Its item.
    pub item: ItemView,
    /// What waits for it.
    pub waiting: Waiting,
}

impl Handle {
    /// The inbox, after what the monitor found: at most `limit` of what waits for people. Costs what is open.
    pub fn inbox(&self, limit: usize) -> Result<Inbox, Refusal> {
        self.monitor_unless_calm()?;
        let (items, snapshot) = self.current(Which::Active)?;
        let queue = queue(&items);
        let total = queue.len();
        let mut entries = Vec::new();
        for waiting in queue.into_iter().take(limit) {
            let place = items.binary_search_by(|item| item.id.cmp(&waiting.id.item));
            if let (Ok(place), Some(question)) = (place, snapshot.question(&waiting.id)?) {
                entries.push(InboxEntry {
                    question: Arc::unwrap_or_clone(question),
                    item: ItemView::of(&items[place]),
                    waiting,
                });
            }
        }
        Ok(Inbox { entries, total })
    }

    /// One question as the inbox shows it, whether it still waits or not.
    pub fn inbox_entry(&self, id: &QuestionId) -> Result<InboxEntry, Refusal> {
        let (question, item) = self.question_and_item(id)?;
        let (items, _) = self.current(Which::Active)?;
        let waiting = queue(&items).into_iter().find(|waiting| waiting.id == *id).unwrap_or_else(|| Waiting {
            id: id.clone(),
            created_at: question.created_at,
            expires_at: question.expires_at,
            blocking: question.blocking,
            holds_up: BTreeSet::new(),
        });
        Ok(InboxEntry { question: Arc::unwrap_or_clone(question), item: ItemView::of(&item), waiting })
    }

    /// Who waits for whom now.
    pub fn waits(&self) -> Result<Waits, Refusal> {
        let (items, _) = self.current(Which::Active)?;
        Ok(waits(&items, &self.locks()?, &*self.rules()?))
    }

    /// How many active questions a filter shows.
    pub fn count_questions(&self, filter: &Filter) -> Result<usize, Refusal> {
        let (items, _) = self.current(Which::Active)?;
        let open = items.iter().flat_map(|item| item.open.values());
        let to = |to: &Party| match &filter.to {
            Some(Party::Human(_)) => to.is_human(),
            Some(wanted) => wanted == to,
            None => true,
        };
        Ok(open.filter(|open| to(&open.to) && filter.status.may_show(open.status)).count())
    }

    /// The number of the last record.
    pub fn head(&self) -> Result<u64, Refusal> {
        Ok(self.inner.journal.read()?.head())
    }
}
