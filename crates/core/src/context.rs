//! What an agent is told when it goes on with an item: what it built on wrongly first, then what is open, what was answered,
//! and what it may rely on.

use std::fmt::Write;

use serde::Serialize;

use crate::answer::Answer;
use crate::assumption::{Assumption, AssumptionStatus};
use crate::id::{AgentName, ItemId, QuestionId};
use crate::item::Item;
use crate::learned::{Knowledge, Learned};
use crate::question::Question;
use crate::view::{LearnedView, QuestionView};

/// How much of what was learned an agent is told.
const MOST_LEARNED: usize = 10;

/// The context of an agent on an item.
#[derive(Serialize)]
pub struct Context<'a> {
    /// The item.
    pub item: &'a ItemId,
    /// The agent.
    pub agent: &'a AgentName,
    /// What turned out to be wrong, the last first.
    pub overturned: Vec<&'a Assumption>,
    /// The questions of the item that wait for an answer, oldest first.
    pub open_questions: Vec<QuestionView<'a>>,
    /// The last answers, newest first.
    pub answers: Vec<Answered<'a>>,
    /// What was decided without being told and still stands, or was confirmed; what is riskiest first.
    pub assumptions: Vec<&'a Assumption>,
    /// What was learned: these are not asked any more. The most used first.
    pub learned: Vec<LearnedView<'a>>,
    #[serde(skip)]
    title: &'a str,
}

/// A question with the answer that stands.
#[derive(Serialize)]
pub struct Answered<'a> {
    /// The question.
    pub question_id: &'a QuestionId,
    /// Its subject.
    pub topic: &'a str,
    /// What was asked.
    pub prompt: &'a str,
    /// The answer, with where it comes from.
    pub answer: &'a Answer,
}

impl<'a> Context<'a> {
    /// From the item, its open questions, the last ones that have an answer, newest first, and what was learned.
    pub fn new(
        item: &'a Item,
        agent: &'a AgentName,
        open: &'a [Question],
        answered: &'a [Question],
        knowledge: &'a Knowledge,
    ) -> Self {
        let mut learned: Vec<&Learned> = knowledge.active().collect();
        learned.sort_by_key(|it| (std::cmp::Reverse(it.uses), std::cmp::Reverse(it.id)));
        let (mut overturned, mut others): (Vec<&Assumption>, Vec<&Assumption>) =
            item.assumptions.values().partition(|it| it.status == AssumptionStatus::Overturned);
        overturned.reverse();
        others.sort_by_key(|assumption| assumption.urgency());
        let answers = answered.iter().filter_map(|question| {
            let answer = question.answer.as_ref()?;
            Some(Answered { question_id: &question.id, topic: &question.topic, prompt: &question.prompt, answer })
        });
        Self {
            item: &item.id,
            agent,
            overturned,
            open_questions: open.iter().map(|question| QuestionView { question, with_thread: false }).collect(),
            answers: answers.collect(),
            assumptions: others,
            learned: learned.into_iter().take(MOST_LEARNED).map(LearnedView).collect(),
            title: &item.title,
        }
    }

    /// The same as Markdown, for a prompt. Whatever people and agents wrote is kept on lines of its own, so that it cannot pass
    /// for one of ours.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Item {}: {}\n", self.item, line(self.title));
        let mut section = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n## {title}\n\n{}\n", lines.join("\n"));
            }
        };
        section("Overturned: rework what was built on this", self.overturned.iter().map(|it| overturned(it)).collect());
        section("Open questions", self.open_questions.iter().map(|it| open(it.question)).collect());
        section("Answers", self.answers.iter().map(answered).collect());
        section("Assumptions", self.assumptions.iter().map(|it| assumption(it)).collect());
        section("Learned: answered without asking", self.learned.iter().map(|it| learned(it.0)).collect());
        text
    }
}

/// What happened on an item, as Markdown for a program's context: what was overturned first, then what was settled. None if
/// nothing happened.
pub fn news(item: &ItemId, settled: &[Question], overturned_now: &[Assumption]) -> Option<String> {
    if settled.is_empty() && overturned_now.is_empty() {
        return None;
    }
    let mut lines = vec![format!("News from Querent on item {item}:")];
    lines.extend(overturned_now.iter().map(|it| format!("{} Rework what was built on it.", overturned(it))));
    lines.extend(settled.iter().map(|question| match &question.answer {
        Some(answer) => {
            answered(&Answered { question_id: &question.id, topic: &question.topic, prompt: &question.prompt, answer })
        }
        None => format!("- {}: {} -> no answer; it is {}", question.id, line(&question.prompt), question.status),
    }));
    Some(lines.join("\n"))
}

fn overturned(it: &Assumption) -> String {
    let why = it.reviewed.as_ref().map_or_else(String::new, |review| {
        let note = review.note.as_deref().map_or_else(String::new, |note| format!(": {}", line(note)));
        format!(" Overturned by {}{note}.", review.by)
    });
    format!("- {}: {}.{why}", it.id, line(&it.decision))
}

fn open(it: &Question) -> String {
    let blocks = if it.blocking { ", blocking" } else { "" };
    let fallback = it.fallback.as_ref().zip(it.expires_at).map_or_else(String::new, |(fallback, at)| {
        let taken = fallback.answer.as_str().map_or_else(|| fallback.answer.to_string(), str::to_owned);
        format!(" Without an answer by {at}: {}, because {}.", line(&taken), line(&fallback.reason))
    });
    format!("- {} to {} ({}{blocks}): {}{fallback}", it.id, it.to, it.status, line(&it.prompt))
}

fn answered(it: &Answered<'_>) -> String {
    let Answer { by, provenance, text, .. } = it.answer;
    format!("- {}: {} -> {} ({provenance}, by {by})", it.question_id, line(it.prompt), line(text))
}

fn assumption(it: &Assumption) -> String {
    let (decision, reasoning) = (line(&it.decision), line(&it.reasoning));
    let (risk, confidence) = (it.risk_if_wrong.level, it.confidence);
    format!("- {} ({}): {decision}, because {reasoning} (confidence {confidence}, risk {risk})", it.id, it.status)
}

fn learned(it: &Learned) -> String {
    format!("- {}: {} -> {} (confidence {})", it.id, line(&it.prompt), line(&it.answer.text), it.confidence)
}

/// A text on one line, without control characters.
fn line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}
