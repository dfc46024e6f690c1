//! The metrics of a period: how many questions there were, who answered them and how fast, and what went wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Provenance};
use crate::command::Cause;
use crate::event::{Event, ExpiryEffect, Record};
use crate::id::{AgentName, ItemId, QuestionId};
use crate::moment::Moment;
use crate::party::Party;
use crate::question::{Category, Question};
use crate::resources::Release;

/// The metrics of a period. A rate or a time over nothing is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// When the period begins.
    pub since: Moment,
    /// When it ends.
    pub until: Moment,
    /// The questions that were asked in it.
    pub total: u32,
    /// The questions that came to their end in it, whenever they were asked.
    pub settled: u32,
    /// The questions that are not settled when it ends, whenever they were asked.
    pub open: u32,
    /// The share of the settled ones that an agent or something learned had answered.
    pub auto_resolution_rate: Option<f64>,
    /// The share of the settled ones that had been escalated.
    pub escalation_rate: Option<f64>,
    /// How many rounds the settled ones took.
    pub average_rounds: Option<f64>,
    /// How long the answers that were given in the period took.
    pub time_to_answer: TimeToAnswer,
    /// How often an agent let its time pass.
    pub stale: u32,
    /// How often a thread was found to go in circles.
    pub stuck: u32,
    /// How often agents were found to wait for each other.
    pub deadlocks: u32,
    /// How often a fallback was taken because nobody answered.
    pub fallbacks_used: u32,
    /// How many assumptions turned out to be wrong.
    pub assumptions_overturned: u32,
    /// How often something learned was the answer.
    pub learned_used: u32,
    /// Who asked whom, the most frequent first. What was escalated counts for whoever was asked at first.
    pub by_pair: Vec<PairCount>,
    /// What sort of decision was wanted, the most frequent first.
    pub by_category: Vec<CategoryCount>,
    /// What it was about, the most frequent first.
    pub topics: Vec<TopicCount>,
}

/// How long answers took, by who gave them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeToAnswer {
    /// Agents.
    pub agent: Percentiles,
    /// People.
    pub human: Percentiles,
}

/// Times by the nearest-rank method, in whole seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half of the answers took no longer.
    pub p50_seconds: Option<u64>,
    /// Nine in ten took no longer.
    pub p90_seconds: Option<u64>,
}

/// How many questions went from one to the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairCount {
    /// Who asked.
    pub from: AgentName,
    /// Who was asked at first; a person is `human`, whoever it is.
    pub to: Party,
    /// How many.
    pub count: u32,
}

/// How many questions of a category there were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CategoryCount {
    /// The category.
    pub category: Category,
    /// How many.
    pub count: u32,
}

/// How many questions about a topic there were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicCount {
    /// The topic, as it was written.
    pub topic: String,
    /// How many.
    pub count: u32,
}

/// Makes a [`Digest`] of records that come one by one, in the order of the journal and from its beginning. Its memory grows
/// with the questions that are open and with what is counted, not with the journal.
#[derive(Clone, Debug)]
pub struct DigestBuilder {
    /// What is only counted is counted here.
    digest: Digest,
    open: BTreeMap<QuestionId, Life>,
    auto_resolved: u32,
    escalated: u32,
    rounds: f64,
    by_agents: Times,
    by_humans: Times,
    pairs: BTreeMap<(AgentName, Party), u32>,
    categories: BTreeMap<Category, u32>,
    topics: BTreeMap<String, u32>,
}

/// What is known of a question until it is settled.
#[derive(Clone, Debug)]
struct Life {
    /// Since when whoever is to answer has it.
    put_at: Moment,
    round: u32,
    escalated: bool,
    answered: Option<Provenance>,
}

/// How many answers took so many seconds.
type Times = BTreeMap<u64, u32>;

impl DigestBuilder {
    /// Begins the digest of what happens from `since` to `until`.
    pub fn new(since: Moment, until: Moment) -> Self {
        let digest = Digest {
            since,
            until,
            total: 0,
            settled: 0,
            open: 0,
            auto_resolution_rate: None,
            escalation_rate: None,
            average_rounds: None,
            time_to_answer: TimeToAnswer::default(),
            stale: 0,
            stuck: 0,
            deadlocks: 0,
            fallbacks_used: 0,
            assumptions_overturned: 0,
            learned_used: 0,
            by_pair: Vec::new(),
            by_category: Vec::new(),
            topics: Vec::new(),
        };
        Self {
            digest,
            open: BTreeMap::new(),
            auto_resolved: 0,
            escalated: 0,
            rounds: 0.0,
            by_agents: Times::new(),
            by_humans: Times::new(),
            pairs: BTreeMap::new(),
            categories: BTreeMap::new(),
            topics: BTreeMap::new(),
        }
    }

    /// Takes the next record. What comes after the period is passed over; what came before it says what was open.
    pub fn add(&mut self, record: &Record) {
        if record.at > self.digest.until {
            return;
        }
        if self.is_in_period(record) {
            self.count(&record.event);
        }
        self.follow(record);
    }

    /// The digest of what was taken.
    pub fn finish(mut self) -> Digest {
        let settled = f64::from(self.digest.settled);
        let over_settled = |sum: f64| (settled > 0.0).then(|| sum / settled);
        self.digest.open = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        self.digest.auto_resolution_rate = over_settled(f64::from(self.auto_resolved));
        self.digest.escalation_rate = over_settled(f64::from(self.escalated));
        self.digest.average_rounds = over_settled(self.rounds);
        self.digest.time_to_answer =
            TimeToAnswer { agent: percentiles(&self.by_agents), human: percentiles(&self.by_humans) };
        let pairs = ranked(self.pairs).map(|((from, to), count)| PairCount { from, to, count });
        self.digest.by_pair = pairs.collect();
        self.digest.by_category =
            ranked(self.categories).map(|(category, count)| CategoryCount { category, count }).collect();
        self.digest.topics = ranked(self.topics).map(|(topic, count)| TopicCount { topic, count }).collect();
        self.digest
    }

    /// What happened in the period, each by its own event: the one place for whatever is only counted.
    fn count(&mut self, event: &Event) {
        match event {
            Event::QuestionAsked(it) => self.count_asked(&it.question),
            Event::QuestionStale(_) => self.digest.stale += 1,
            Event::QuestionEscalated(it) if it.cause == Cause::Stuck => self.digest.stuck += 1,
            Event::QuestionEscalated(it) if it.cause == Cause::Deadlock => self.digest.deadlocks += 1,
            Event::LockReleased(it) if it.reason == Release::Preempted && it.cycle.is_some() => {
                self.digest.deadlocks += 1;
            }
            Event::QuestionExpired(it) if it.effect == ExpiryEffect::Fallback => self.digest.fallbacks_used += 1,
            Event::AssumptionOverturned(_) => self.digest.assumptions_overturned += 1,
            Event::QuestionAnswered(it) if it.answer.provenance == Provenance::Learned => self.digest.learned_used += 1,
            _ => {}
        }
    }

    fn count_asked(&mut self, question: &Question) {
        let to = if question.asked.is_human() { Party::HUMAN } else { question.asked.clone() };
        self.digest.total += 1;
        *self.pairs.entry((question.from.agent.clone(), to)).or_default() += 1;
        *self.categories.entry(question.category).or_default() += 1;
        *self.topics.entry(question.topic.clone()).or_default() += 1;
    }

    /// Follows each question from its beginning, also before the period, to its end.
    fn follow(&mut self, record: &Record) {
        match &record.event {
            Event::QuestionAsked(it) => {
                let life = Life { put_at: record.at, round: it.question.round, escalated: false, answered: None };
                self.open.insert(it.question.id.clone(), life);
            }
            Event::QuestionFollowedUp(it) => self.put_again(record, &it.question, |life| life.round = it.round),
            Event::QuestionEscalated(it) => self.put_again(record, &it.question, |life| life.escalated = true),
            Event::QuestionAnswered(it) => {
                self.answered(record, &it.question, &it.answer);
                if it.status.is_final() {
                    self.settle(record, &it.question);
                }
            }
            Event::QuestionResolved(it) => {
                if let Some(answer) = &it.answer {
                    self.answered(record, &it.question, answer);
                }
                self.settle(record, &it.question);
            }
            Event::QuestionExpired(it) => self.settle(record, &it.question),
            Event::QuestionWithdrawn(it) => self.settle(record, &it.question),
            Event::ItemEnded(_) => record.stream.item().into_iter().for_each(|item| self.settle_all(record, item)),
            _ => {}
        }
    }

    /// Somebody has the question from now on.
    fn put_again(&mut self, record: &Record, id: &QuestionId, change: impl FnOnce(&mut Life)) {
        if let Some(life) = self.open.get_mut(id) {
            life.put_at = record.at;
            life.answered = None;
            change(life);
        }
    }

    fn answered(&mut self, record: &Record, id: &QuestionId, answer: &Answer) {
        let in_period = self.is_in_period(record);
        let Some(life) = self.open.get_mut(id) else { return };
        life.answered = Some(answer.provenance);
        let times = match answer.provenance {
            Provenance::Agent => &mut self.by_agents,
            Provenance::Human => &mut self.by_humans,
            Provenance::Learned | Provenance::Fallback => return,
        };
        if in_period {
            *times.entry(record.at.since(life.put_at).as_millis() / 1_000).or_default() += 1;
        }
    }

    fn settle(&mut self, record: &Record, id: &QuestionId) {
        let Some(life) = self.open.remove(id).filter(|_| self.is_in_period(record)) else { return };
        let auto = matches!(life.answered, Some(Provenance::Agent | Provenance::Learned));
        self.digest.settled += 1;
        self.auto_resolved += u32::from(auto);
        self.escalated += u32::from(life.escalated);
        self.rounds += f64::from(life.round);
    }

    /// With an item end its questions: those that nobody answered are withdrawn, and the other answers stand.
    fn settle_all(&mut self, record: &Record, item: &ItemId) {
        let first = QuestionId { item: item.clone(), number: 0 };
        let own = self.open.range(first..).map(|(id, _)| id).take_while(|id| id.item == *item);
        for id in own.cloned().collect::<Vec<_>>() {
            self.settle(record, &id);
        }
    }

    fn is_in_period(&self, record: &Record) -> bool {
        record.at >= self.digest.since
    }
}

/// The most frequent first; of equally frequent ones, in their own order.
fn ranked<T: Ord>(counts: BTreeMap<T, u32>) -> impl Iterator<Item = (T, u32)> {
    let mut ranked: Vec<(T, u32)> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked.into_iter()
}

fn percentiles(times: &Times) -> Percentiles {
    Percentiles { p50_seconds: nearest_rank(times, 50), p90_seconds: nearest_rank(times, 90) }
}

/// The smallest time that at least `percent` of all times do not exceed.
fn nearest_rank(times: &Times, percent: u64) -> Option<u64> {
    let all: u64 = times.values().map(|count| u64::from(*count)).sum();
    let rank = (all * percent).div_ceil(100);
    let mut seen = 0;
    let reached = times.iter().find(|(_, count)| {
        seen += u64::from(**count);
        seen >= rank
    });
    reached.map(|(seconds, _)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_time_that_somebody_took() {
        for (times, p50, p90) in [
            (vec![], None, None),
            (vec![7], Some(7), Some(7)),
            (vec![1, 9], Some(1), Some(9)),
            (vec![1, 2, 3], Some(2), Some(3)),
            ((1..=10).collect(), Some(5), Some(9)),
            (vec![5, 5, 5, 60], Some(5), Some(60)),
        ] {
            let mut counts = Times::new();
            for seconds in &times {
                *counts.entry(*seconds).or_default() += 1;
            }

            assert_eq!(percentiles(&counts), Percentiles { p50_seconds: p50, p90_seconds: p90 }, "{times:?}");
        }
    }
}
