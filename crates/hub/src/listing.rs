//! Questions in pages. A process that stays keeps the order of the active ones, and lets it follow the log: a page costs what
//! it shows and what happened since the last one, not what is open.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, MutexGuard, PoisonError};

use querent_core::view::{Filter, StatusFilter};
use querent_core::{Item, ItemId, Moment, Party, Question, QuestionId, Refusal, Status};
use querent_journal::{Snapshot, Which};

use crate::handle::{Handle, all, numbers};

/// How many records are followed; after more than that the order is made anew.
const MOST_FOLLOWED: u64 = 4_096;
/// Of how many settled questions the place is remembered.
const MOST_SETTLED: usize = 131_072;

/// How often what is due is looked for: what comes to be due meanwhile is found by the next one.
const MOST_ROUNDS: u32 = 3;

/// A part of a list of questions.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionPage {
    /// The questions, the oldest first.
    pub questions: Vec<Arc<Question>>,
    /// Whether there are more after them.
    pub more: bool,
}

/// Where a question stands in a list: the oldest first.
type Place = (Moment, QuestionId);

/// What a list can tell of a question without reading it.
#[derive(Clone, Debug, PartialEq)]
struct Brief {
    to: Party,
    status: Status,
}

/// What an item has in the order.
#[derive(Default)]
struct Own {
    places: BTreeSet<Place>,
    /// The first part of each place, by the number of its question.
    asked: HashMap<u32, Moment>,
    due: Option<Moment>,
}

/// What may be different on an item.
enum Touched {
    Questions(BTreeSet<u32>),
    All,
}

/// The active questions in their order.
#[derive(Default)]
pub(crate) struct Listing {
    /// The last record that it knows; none before it was made.
    head: Option<u64>,
    order: BTreeMap<Place, Brief>,
    items: HashMap<ItemId, Own>,
    /// When the next deadline of each item passes.
    due: BTreeSet<(Moment, ItemId)>,
    /// Questions that are over: nothing of this changes any more.
    settled: HashMap<QuestionId, (Moment, Brief)>,
}

impl Handle {
    /// A page of questions, the oldest first, after what the monitor found: at most `limit` after the place `after`.
    pub fn questions_page(
        &self,
        item: Option<&ItemId>,
        filter: &Filter,
        after: Option<&(Moment, QuestionId)>,
        limit: usize,
    ) -> Result<QuestionPage, Refusal> {
        self.monitor_unless_calm()?;
        if filter.status.only_active() {
            let (listing, snapshot) = self.listing()?;
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            match item {
                None => {
                    let places = listing.order.range((from, Bound::Unbounded)).filter(|(_, it)| it.may_pass(filter));
                    return page(&*snapshot, places.map(|(place, _)| &place.1), filter, limit);
                }
                Some(id) => {
                    if let Some(own) = listing.items.get(id) {
                        let places = own.places.range((from, Bound::Unbounded));
                        let open = |place: &&Place| listing.order.get(*place).is_some_and(|it| it.may_pass(filter));
                        return page(&*snapshot, places.filter(open).map(|place| &place.1), filter, limit);
                    }
                }
            }
        }
        self.any_page(item, filter, after, limit)
    }

    /// The same where settled questions count too. Of those only the places are remembered.
    fn any_page(
        &self,
        item: Option<&ItemId>,
        filter: &Filter,
        after: Option<&Place>,
        limit: usize,
    ) -> Result<QuestionPage, Refusal> {
        let (items, snapshot) = match item {
            Some(id) => self.item(id).and_then(|item| Ok((vec![item], self.inner.journal.read()?)))?,
            None => self.current(Which::All)?,
        };
        let mut places = Vec::new();
        let mut listing = self.lock_listing();
        for item in &items {
            for number in numbers(item, filter.status) {
                let id = item.question_id(number);
                let known = match item.open.get(&number) {
                    Some(open) => Some((open.created_at, Brief { to: open.to.clone(), status: open.status })),
                    None => listing.settled(&*snapshot, &id)?,
                };
                let Some((at, brief)) = known else { continue };
                let place = (at, id);
                if brief.may_pass(filter) && after.is_none_or(|after| place > *after) {
                    places.push(place);
                }
            }
        }
        drop(listing);
        places.sort_unstable();
        page(&*snapshot, places.iter().map(|place| &place.1), filter, limit)
    }

    /// The order as it is now, after what is due, and the snapshot that it is of.
    fn listing(&self) -> Result<(MutexGuard<'_, Listing>, Box<dyn Snapshot + '_>), Refusal> {
        let mut listing = self.lock_listing();
        let mut rounds = 0;
        loop {
            let snapshot = self.inner.journal.read()?;
            self.keep_up(&mut listing, &*snapshot)?;
            rounds += 1;
            let now = self.now();
            let due: Vec<ItemId> =
                listing.due.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| id.clone()).collect();
            let mut settled = false;
            for id in due {
                let item = snapshot.item(&id)?;
                settled |= item.map_or(Ok(false), |item| self.settle(&item))?;
            }
            if !settled || rounds == MOST_ROUNDS {
                return Ok((listing, snapshot));
            }
        }
    }

    /// Lets the order follow the log up to a snapshot.
    fn keep_up(&self, listing: &mut Listing, snapshot: &dyn Snapshot) -> Result<(), Refusal> {
        let head = snapshot.head();
        match listing.head {
            Some(known) if known == head => return Ok(()),
            Some(known) if known < head && head - known <= MOST_FOLLOWED => {
                let mut touched: BTreeMap<ItemId, Touched> = BTreeMap::new();
                self.inner.journal.records(known, &mut |record| {
                    if let Some(item) = record.stream.item() {
                        let it = touched.entry(item.clone()).or_insert_with(|| Touched::Questions(BTreeSet::new()));
                        match (record.event.question(), &mut *it) {
                            (Some(id), Touched::Questions(numbers)) if id.item == *item => {
                                numbers.insert(id.number);
                            }
                            _ => *it = Touched::All,
                        }
                    }
                    record.seq < head
                })?;
                for (id, touched) in touched {
                    match (snapshot.item(&id)?, touched) {
                        (Some(item), Touched::Questions(numbers)) => {
                            listing.renew(&item, numbers.into_iter().collect(), snapshot)?;
                        }
                        (item, _) => {
                            listing.forget(&id);
                            item.map_or(Ok(()), |item| listing.add(&item, snapshot))?;
                        }
                    }
                }
            }
            _ => {
                *listing = Listing { settled: std::mem::take(&mut listing.settled), ..Listing::default() };
                for item in all(snapshot, Which::Active)? {
                    listing.add(&item, snapshot)?;
                }
            }
        }
        listing.head = Some(head);
        Ok(())
    }

    fn lock_listing(&self) -> MutexGuard<'_, Listing> {
        self.inner.listing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listing {
    /// Adds an item of which nothing is known.
    fn add(&mut self, item: &Item, snapshot: &dyn Snapshot) -> Result<(), Refusal> {
        // What is open on an item that has ended is withdrawn; so this is what `Which::Active` has, too.
        self.renew(item, numbers(item, StatusFilter::Active), snapshot)
    }

    /// Brings these questions of an item up to date, and its deadline. Costs what they are, not what the item has.
    fn renew(&mut self, item: &Item, numbers: Vec<u32>, snapshot: &dyn Snapshot) -> Result<(), Refusal> {
        let mut own = self.items.remove(&item.id).unwrap_or_default();
        for number in numbers {
            let id = item.question_id(number);
            if let Some(at) = own.asked.remove(&number) {
                let place = (at, id.clone());
                own.places.remove(&place);
                self.order.remove(&place);
            }
            let Some((at, brief)) = active(item, &id, snapshot)? else { continue };
            own.asked.insert(number, at);
            own.places.insert((at, id.clone()));
            self.order.insert((at, id), brief);
        }
        if let Some(due) = own.due.take() {
            self.due.remove(&(due, item.id.clone()));
        }
        own.due = item.open.values().filter_map(|open| open.due).min();
        self.due.extend(own.due.map(|due| (due, item.id.clone())));
        if !own.places.is_empty() || own.due.is_some() {
            self.items.insert(item.id.clone(), own);
        }
        Ok(())
    }

    fn forget(&mut self, id: &ItemId) {
        let Some(Own { places, due, .. }) = self.items.remove(id) else { return };
        for place in places {
            self.order.remove(&place);
        }
        if let Some(due) = due {
            self.due.remove(&(due, id.clone()));
        }
    }

    /// What is known of a question that waits no longer; none if there is no such question.
    fn settled(&mut self, snapshot: &dyn Snapshot, id: &QuestionId) -> Result<Option<(Moment, Brief)>, Refusal> {
        if let Some(known) = self.settled.get(id) {
            return Ok(Some(known.clone()));
        }
        let Some(question) = snapshot.question(id)? else { return Ok(None) };
        let known = (question.created_at, Brief::of(&question));
        if question.status.is_final() {
            if self.settled.len() >= MOST_SETTLED {
                self.settled.clear();
            }
            self.settled.insert(id.clone(), known.clone());
        }
        Ok(Some(known))
    }
}

impl Brief {
    fn of(question: &Question) -> Self {
        Self { to: question.to.clone(), status: question.status }
    }

    /// Whether the question may be one that the filter shows; the question itself says so for certain.
    fn may_pass(&self, filter: &Filter) -> bool {
        let to = match &filter.to {
            Some(Party::Human(_)) => self.to.is_human(),
            Some(to) => self.to == *to,
            None => true,
        };
        to && filter.status.may_show(self.status)
    }
}

/// What is known of a question that is active; none of one that is not.
fn active(item: &Item, id: &QuestionId, snapshot: &dyn Snapshot) -> Result<Option<(Moment, Brief)>, Refusal> {
    if item.has_ended() {
        return Ok(None);
    }
    match item.open.get(&id.number) {
        Some(open) => Ok(Some((open.created_at, Brief { to: open.to.clone(), status: open.status }))),
        None if item.answered.contains(&id.number) => {
            Ok(snapshot.question(id)?.map(|question| (question.created_at, Brief::of(&question))))
        }
        None => Ok(None),
    }
}

/// The first questions of these that the filter shows.
fn page<'a>(
    snapshot: &dyn Snapshot,
    ids: impl Iterator<Item = &'a QuestionId>,
    filter: &Filter,
    limit: usize,
) -> Result<QuestionPage, Refusal> {
    let mut questions = Vec::new();
    for id in ids {
        let Some(question) = snapshot.question(id)?.filter(|question| filter.shows(question)) else { continue };
        if questions.len() == limit {
            return Ok(QuestionPage { questions, more: true });
        }
        questions.push(question);
    }
    Ok(QuestionPage { questions, more: false })
}
