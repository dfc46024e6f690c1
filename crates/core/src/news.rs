//! What happened on an item that an agent's program has not been told yet.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::{Event, Record};
use crate::id::ProgramHandle;
use crate::moment::Moment;

/// How much news an item keeps. Whoever missed more is told what a newcomer is told.
const MOST_NEWS: usize = 32;
/// How many programs an item knows that were told something. One that is forgotten is told as a newcomer is.
const MOST_TOLD: usize = 32;

/// Something that an agent should hear of, by its number on the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// A question has an answer, or will have none.
    Question(u32),
    /// An assumption was overturned.
    Assumption(u32),
}

/// The last news of an item, each by the version that brought it. They are few: a look through all of them costs less than a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latest(Vec<(u64, News)>);

/// The news of an item, and who was told what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Board {
    /// The last news, each by the version of the item that brought it; of each matter the last only.
    #[serde(skip_serializing_if = "Latest::is_empty")]
    pub news: Latest,
    /// Whether older news was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    /// What each program was told.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    told: BTreeMap<ProgramHandle, Told>,
}

/// What a program was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    /// All news up to this version.
    upto: u64,
    /// And these.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    also: BTreeSet<u64>,
    /// When it was told last.
    at: Moment,
}

impl News {
    /// The news that a record of an item is, if it is any. What an agent did itself it knows.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        match &record.event {
            Event::QuestionAnswered(it) => Some(Self::Question(it.question.number)),
            Event::LateAnswerRecorded(it) => Some(Self::Question(it.question.number)),
            Event::QuestionResolved(it) => it.answer.as_ref().map(|_| Self::Question(it.question.number)),
            Event::QuestionExpired(it) => Some(Self::Question(it.question.number)),
            Event::QuestionWithdrawn(it) => record.by.agent().is_none().then_some(Self::Question(it.question.number)),
            Event::AssumptionOverturned(it) => Some(Self::Assumption(it.assumption.number)),
            _ => None,
        }
    }
}

impl Latest {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What came after this version, oldest first.
    pub fn after(&self, version: u64) -> impl Iterator<Item = &(u64, News)> {
        self.0[self.0.partition_point(|(known, _)| *known <= version)..].iter()
    }

    /// Takes one in, in place of what there was of the same matter. The version of the one that had to go for it, if there were too many.
    fn add(&mut self, version: u64, news: News) -> Option<u64> {
        self.forget(news);
        match self.0.binary_search_by_key(&version, |(known, _)| *known) {
            Ok(place) => self.0[place].1 = news,
            Err(place) => self.0.insert(place, (version, news)),
        }
        (self.0.len() > MOST_NEWS).then(|| self.0.remove(0).0)
    }

    /// Of each matter there is one at most.
    fn forget(&mut self, news: News) {
        if let Some(place) = self.0.iter().position(|(_, known)| *known == news) {
            self.0.remove(place);
        }
    }

    fn has(&self, version: u64) -> bool {
        self.0.binary_search_by_key(&version, |(known, _)| *known).is_ok()
    }
}

impl Serialize for Latest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(version, news)| (version, news)))
    }
}

impl<'de> Deserialize<'de> for Latest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(BTreeMap::deserialize(deserializer)?.into_iter().collect()))
    }
}

impl Board {
    /// Whether there is nothing to tell, and nobody was told anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a program has not been told yet, oldest first; none if it is a newcomer, or has missed more than is kept.
    pub fn untold(&self, handle: &ProgramHandle) -> Option<Vec<News>> {
        let told = self.told.get(handle).filter(|told| self.dropped.is_none_or(|dropped| dropped <= told.upto))?;
        let after = self.news.after(told.upto);
        Some(after.filter(|(version, _)| !told.also.contains(version)).map(|(_, news)| *news).collect())
    }

    /// Takes a record of the item in.
    pub(crate) fn evolve(&mut self, record: &Record) {
        if let Event::SessionTold(it) = &record.event {
            return self.tell(&it.handle, it.upto, it.question.as_ref().map(|id| id.number), record);
        }
        // What is open again is no news any more: its answer was none.
        if let Event::QuestionFollowedUp(_) | Event::QuestionEscalated(_) = &record.event
            && let Some(id) = record.event.question()
        {
            self.news.forget(News::Question(id.number));
        }
        let Some(news) = News::of(record) else { return };
        if let Some(dropped) = self.news.add(record.version, news) {
            self.dropped = Some(dropped);
        }
    }

    fn tell(&mut self, handle: &ProgramHandle, upto: u64, question: Option<u32>, record: &Record) {
        let fresh = Told { upto: 0, also: BTreeSet::new(), at: record.at };
        let told = self.told.entry(handle.clone()).or_insert(fresh);
        told.at = record.at;
        told.upto = told.upto.max(upto);
        let of_question = |(_, news): &&(u64, News)| question.is_some_and(|number| *news == News::Question(number));
        told.also.extend(self.news.after(0).filter(of_question).map(|(version, _)| *version));
        let upto = told.upto;
        told.also.retain(|version| *version > upto && self.news.has(*version));
        if self.told.len() > MOST_TOLD
            && let Some(oldest) = self.told.iter().min_by_key(|(_, told)| told.at).map(|(handle, _)| handle.clone())
        {
            self.told.remove(&oldest);
        }
    }
}
