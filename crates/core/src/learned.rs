//! What was learned from people's answers: the shared stream `knowledge`.
//!
//! Only what a human said is learned, and only within the project. Equal patterns are the same question, nothing less.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{self, Answer};
use crate::event::{Event, Record};
use crate::id::{Fingerprint, LearnedId, QuestionId};
use crate::moment::Moment;
use crate::pattern::Pattern;
use crate::question::{Category, Question, words};
use crate::spelt;

/// How many answers are remembered that were given once.
const MOST_NOTED: usize = 512;
/// The least confidence with which a learned answer is given.
const ENOUGH: f64 = 0.5;

/// All that was learned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The learned answers, by number.
    pub learned: BTreeMap<u32, Learned>,
    /// What was answered once, by what was asked.
    pub noted: BTreeMap<Fingerprint, Noted>,
    /// How many events made it.
    pub version: u64,
}

/// An answer that is given without asking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// `LRN-<NNN>`.
    pub id: LearnedId,
    /// What it answers.
    pub pattern: Pattern,
    /// The same as somebody asked it.
    pub prompt: String,
    /// What sort of decision it is.
    pub category: Category,
    /// The question's tags.
    pub tags: Vec<String>,
    /// The answer as a human gave it.
    pub answer: Answer,
    /// What it means where the options have other ids.
    pub meaning: Meaning,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// How often it was given.
    pub uses: u32,
    /// How often a human said otherwise.
    pub overruled: u32,
    /// Where it comes from.
    pub source: Lesson,
    /// Whether it is given.
    pub status: LearnedStatus,
    /// When it was learned.
    pub learned_at: Moment,
    /// When it was last given.
    pub used_at: Option<Moment>,
}

/// Where a learned answer comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// Why it was learned.
    pub why: Why,
    /// The questions that were answered so, oldest first.
    pub questions: Vec<QuestionId>,
}

words!(
    /// Why an answer is learned.
    Why {
        /// It is a matter of taste: once is enough.
        Preference = "preference",
        /// The same was asked twice, and answered the same.
        Repeated = "repeated",
    }
);

words!(
    /// Whether a learned answer is given.
    LearnedStatus {
        /// It is.
        Active = "active",
        /// People said otherwise too often.
        Retired = "retired",
        /// A person took it back.
        Revoked = "revoked",
    }
);

/// What an answer says, however the options are numbered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// The options with these labels.
    Labels(Vec<String>),
    /// This.
    Value(#[serde(serialize_with = "crate::canonical::value")] Value),
}

/// An answer that was given once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// What was answered.
    pub answer: Fingerprint,
    /// To which question.
    pub question: QuestionId,
    /// The version of the stream that noted it.
    pub version: u64,
}

impl Meaning {
    /// What `answer` says to `question`.
    pub(crate) fn of(question: &Question, answer: &Answer) -> Self {
        let label = |id: &Value| question.options.iter().find(|it| id == &it.id).map(|it| it.label.clone());
        let labels: Option<Vec<String>> = match &answer.value {
            Value::Array(ids) => ids.iter().map(label).collect(),
            id => label(id).map(|label| vec![label]),
        };
        match labels {
            Some(labels) if !answer.free_text => Self::Labels(labels),
            _ => Self::Value(answer.value.clone()),
        }
    }

    /// The same as an answer to `question`, if it can be said there.
    pub(crate) fn restate(&self, question: &Question) -> Option<answer::Meaning> {
        let given = match self {
            Self::Value(value) => value.clone(),
            Self::Labels(labels) => {
                let id = |label: &String| question.options.iter().find(|it| it.label == *label).map(|it| it.id.clone());
                let ids: Vec<String> = labels.iter().map(id).collect::<Option<_>>()?;
                if let [one] = ids.as_slice() { Value::from(one.as_str()) } else { Value::from(ids) }
            }
        };
        answer::read(&given, &question.expected, &question.options, question.allow_free_text).ok()
    }

    /// What it is known by.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&spelt::bytes(self))
    }
}

impl Learned {
    /// How sure a learned answer is that was overruled so often. The second time retires it.
    pub(crate) fn confidence(why: Why, overruled: u32) -> f64 {
        match (why, overruled) {
            (Why::Preference, 0) => 0.9,
            (Why::Preference, 1) => 0.6,
            (Why::Preference, _) => 0.3,
            (Why::Repeated, 0) => 0.8,
            (Why::Repeated, 1) => 0.5,
            (Why::Repeated, _) => 0.2,
        }
    }

    /// Whether one more human who says otherwise retires it.
    pub(crate) fn is_on_probation(&self) -> bool {
        Self::confidence(self.source.why, self.overruled + 1) < ENOUGH
    }
}

impl Knowledge {
    /// The learned answer to this, if one is given.
    pub fn answer_to(&self, pattern: &Pattern) -> Option<&Learned> {
        self.active().find(|it| it.pattern == *pattern)
    }

    /// The learned answers that are given, oldest first.
    pub fn active(&self) -> impl Iterator<Item = &Learned> {
        self.learned.values().filter(|it| it.status == LearnedStatus::Active && it.confidence >= ENOUGH)
    }

    /// The id of the next one.
    pub(crate) fn next(&self) -> LearnedId {
        LearnedId(self.learned.last_key_value().map_or(0, |(number, _)| *number).saturating_add(1))
    }

    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::AnswerNoted(it) => {
                let (answer, question) = (it.answer, it.question.clone());
                self.noted.insert(it.pattern, Noted { answer, question, version: record.version });
                if self.noted.len() > MOST_NOTED {
                    let oldest = self.noted.iter().min_by_key(|(_, it)| it.version).map(|(pattern, _)| *pattern);
                    oldest.and_then(|pattern| self.noted.remove(&pattern));
                }
            }
            Event::AnswerLearned(it) => {
                self.noted.remove(&it.learned.pattern.fingerprint());
                self.learned.insert(it.learned.id.0, (*it.learned).clone());
            }
            Event::LearnedAnswerUsed(it) => {
                if let Some(learned) = self.learned.get_mut(&it.learned.0) {
                    learned.uses += 1;
                    learned.used_at = Some(record.at);
                }
            }
            Event::LearnedAnswerOverruled(it) => {
                if let Some(learned) = self.learned.get_mut(&it.learned.0) {
                    if learned.is_on_probation() && learned.status == LearnedStatus::Active {
                        learned.status = LearnedStatus::Retired;
                    }
                    learned.overruled += 1;
                    learned.confidence = Learned::confidence(learned.source.why, learned.overruled);
                }
            }
            Event::LearnedAnswerRevoked(it) => {
                if let Some(learned) = self.learned.get_mut(&it.learned.0) {
                    learned.status = LearnedStatus::Revoked;
                }
            }
            _ => {}
        }
    }
}
