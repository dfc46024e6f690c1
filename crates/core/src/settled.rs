//! What an item remembers of its questions that have an answer, so that nothing is asked twice.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Fingerprint;
use crate::moment::Moment;

/// How many answered questions an item remembers.
const MOST_SETTLED: usize = 256;

/// A question that has an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// What it is known by.
    pub pattern: Fingerprint,
    /// When it was answered.
    pub at: Moment,
    /// Whether a human answered it.
    pub human: bool,
}

/// The last questions of an item that have an answer, by their number. They are few and come in order, so that a look through all
/// of them costs less than a tree that finds them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settlements(VecDeque<(u32, Settled)>);

impl Settlements {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remembers that a question has an answer, and forgets the oldest if these are too many.
    pub(crate) fn insert(&mut self, number: u32, settled: Settled) {
        match self.find(number) {
            Ok(place) => self.0[place].1 = settled,
            Err(place) => self.0.insert(place, (number, settled)),
        }
        if self.0.len() > MOST_SETTLED {
            self.0.pop_front();
        }
    }

    /// Forgets a question.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Settled> {
        let place = self.find(number).ok()?;
        self.0.remove(place).map(|(_, settled)| settled)
    }

    /// Which of those that are known by this was answered last, and when: by a human, or by anybody.
    pub(crate) fn last(&self, pattern: &Fingerprint, by_human: bool) -> Option<(u32, Moment)> {
        let mut last = None;
        let (older, newer) = self.0.as_slices();
        for part in [older, newer] {
            for (number, it) in part {
                if it.pattern == *pattern && (it.human || !by_human) {
                    last = last.max(Some((it.at, *number)));
                }
            }
        }
        last.map(|(at, number)| (number, at))
    }

    fn find(&self, number: u32) -> Result<usize, usize> {
        // Most are newer than all others.
        if self.0.back().is_none_or(|(last, _)| *last < number) {
            return Err(self.0.len());
        }
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }
}

impl Serialize for Settlements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(number, settled)| (number, settled)))
    }
}

impl<'de> Deserialize<'de> for Settlements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let by_number = BTreeMap::<u32, Settled>::deserialize(deserializer)?;
        Ok(Self(by_number.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(words: &str, at: i64, human: bool) -> Settled {
        Settled { pattern: Fingerprint::of(words.as_bytes()), at: Moment::from_millis(at), human }
    }

    fn last(all: &Settlements, words: &str, by_human: bool) -> Option<u32> {
        all.last(&Fingerprint::of(words.as_bytes()), by_human).map(|(number, _)| number)
    }

    #[test]
    fn the_last_of_those_that_are_the_same_is_found() {
        let mut all = Settlements::default();
        for (number, it) in
            [(1, settled("tea", 10, true)), (2, settled("tea", 30, false)), (3, settled("cup", 40, true))]
        {
            all.insert(number, it);
        }

        assert_eq!((last(&all, "tea", false), last(&all, "tea", true)), (Some(2), Some(1)));
        assert_eq!(last(&all, "cake", false), None);
        all.insert(2, settled("cake", 50, false));
        assert_eq!((last(&all, "tea", false), last(&all, "cake", false)), (Some(1), Some(2)));
        all.remove(1);
        assert_eq!(last(&all, "tea", false), None);
    }

    #[test]
    fn the_oldest_are_forgotten_and_what_is_stored_is_read_back() {
        let mut all = Settlements::default();
        for number in 1..=300 {
            all.insert(number, settled(&number.to_string(), 0, false));
        }

        let read: Settlements = serde_json::from_value(serde_json::to_value(&all).unwrap()).unwrap();

        assert_eq!(read, all);
        assert_eq!(read.0.len(), MOST_SETTLED);
        assert_eq!((last(&read, "44", false), last(&read, "45", false)), (None, Some(45)));
    }
}
