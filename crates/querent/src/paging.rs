//! Long lists in pages: how many at most, and where the next page begins. A cursor names a place in the order of its list, so
//! that a page is right whatever was added or taken away since the last one.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use querent_core::view::{Filter, QuestionView, StatusFilter};
use querent_core::{ItemId, Moment, Party, Question, QuestionId, Refusal};
use querent_hub::Handle;
use serde::{Deserialize, Serialize};

/// How many a page has where nothing is said.
pub(crate) const USUAL: usize = 100;
/// How many a page has at most.
pub(crate) const MOST: u32 = 500;

/// A part of a list.
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) entries: Vec<T>,
    /// Where the next page begins; none if there is none.
    pub(crate) next: Option<String>,
}

/// How many are wanted.
pub(crate) fn limit(given: Option<usize>) -> usize {
    given.unwrap_or(USUAL).clamp(1, MOST as usize)
}

/// Which questions are wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    item: Option<ItemId>,
    to: Option<Party>,
    #[serde(default)]
    status: StatusFilter,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl Wanted {
    /// A page of them, the oldest first. It costs what it shows, not what there is.
    pub(crate) fn find(self, hub: &Handle) -> Result<Page<Arc<Question>>, Refusal> {
        let after = self.cursor.as_deref().map(place).transpose()?;
        if let Some(agent) = self.to.as_ref().and_then(Party::agent) {
            hub.rules()?.agent(agent)?;
        }
        let filter = Filter { to: self.to, status: self.status };
        let page = hub.questions_page(self.item.as_ref(), &filter, after.as_ref(), limit(self.limit))?;
        let last = page.questions.last().filter(|_| page.more);
        let next = last.map(|it| format!("{}.{}", it.created_at.millis(), it.id));
        Ok(Page { entries: page.questions, next })
    }
}

/// A page of questions as it is told.
#[derive(Serialize)]
pub(crate) struct Listed<'a> {
    questions: Vec<QuestionView<'a>>,
    count: usize,
    next_cursor: Option<&'a str>,
}

impl<'a> Listed<'a> {
    pub(crate) fn of(page: &'a Page<Arc<Question>>) -> Self {
        let questions = page.entries.iter().map(|question| QuestionView { question, with_thread: false });
        Self { questions: questions.collect(), count: page.entries.len(), next_cursor: page.next.as_deref() }
    }
}

/// A page of a list that is sorted by `key`, which no two of it share.
pub(crate) fn sorted<T, K: Ord + Display + FromStr>(
    mut entries: Vec<T>,
    key: impl Fn(&T) -> K,
    cursor: Option<&str>,
    limit: usize,
) -> Result<Page<T>, Refusal> {
    if let Some(cursor) = cursor {
        let after: K = cursor.parse().map_err(|_| foreign())?;
        entries.drain(..entries.partition_point(|entry| key(entry) <= after));
    }
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().filter(|_| more).map(|entry| key(entry).to_string());
    Ok(Page { entries, next })
}

fn place(cursor: &str) -> Result<(Moment, QuestionId), Refusal> {
    let parsed = cursor.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    parsed.map(|(at, id)| (Moment::from_millis(at), id)).ok_or_else(foreign)
}

/// The refusal for what is no cursor of this list.
pub(crate) fn foreign() -> Refusal {
    Refusal::invalid("cursor", "this is no cursor of this list", "give next_cursor of the last page, or none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_sorted_list_follow_on_each_other_whatever_is_added() {
        let page = |list: &[u64], cursor: Option<&str>| {
            sorted(list.to_vec(), |it| *it, cursor, 2).map(|it| (it.entries, it.next))
        };

        let (first, next) = page(&[1, 3, 5, 7], None).unwrap();
        assert_eq!((first, next.as_deref()), (vec![1, 3], Some("3")));

        let (second, next) = page(&[1, 2, 3, 4, 5], next.as_deref()).unwrap();
        assert_eq!((second, next), (vec![4, 5], None));
        assert!(page(&[1], Some("x")).is_err());
    }

    #[test]
    fn a_limit_stays_within_bounds() {
        assert_eq!((limit(None), limit(Some(0)), limit(Some(7)), limit(Some(9_999))), (100, 1, 7, 500));
    }
}
