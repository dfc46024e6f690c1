//! One question as people see it: it stands alone.

use querent_core::{Answer, EntryKind, Expected, Moment, Provenance, Question, Refusal, Status};
use querent_hub::InboxEntry;

use super::rich::{age, markdown};
use crate::asking::{Deadline, OptionView, TextInput, blocks, deadline, options, text_input, why};
use crate::text::clean_line;

/// Up to which length the context is shown without being asked for.
const SHORT: usize = 600;

/// A question, ready for its template.
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) version: u64,
    pub(crate) topic: String,
    pub(crate) status: &'static str,
    pub(crate) status_class: &'static str,
    pub(crate) is_open: bool,
    pub(crate) asker: String,
    pub(crate) to: String,
    pub(crate) to_agent: bool,
    pub(crate) item: String,
    pub(crate) item_title: String,
    pub(crate) created_at: String,
    pub(crate) age: String,
    pub(crate) prompt: String,
    pub(crate) since: Vec<Since>,
    pub(crate) context: Option<String>,
    pub(crate) context_open: bool,
    pub(crate) blocks: String,
    pub(crate) why: Option<String>,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) options: Vec<OptionView>,
    pub(crate) option_input: &'static str,
    pub(crate) text_input: Option<TextInput>,
    pub(crate) answer: Option<AnswerView>,
    pub(crate) error: Option<String>,
}

/// What was said after the first round that whoever answers must know.
pub(crate) struct Since {
    pub(crate) from: String,
    pub(crate) what: &'static str,
    pub(crate) body: String,
}

/// The answer that stands.
pub(crate) struct AnswerView {
    pub(crate) by: String,
    pub(crate) how: Option<&'static str>,
    pub(crate) at: String,
    pub(crate) age: String,
    pub(crate) text: String,
    pub(crate) note: Option<String>,
}

impl Card {
    pub(crate) fn new(entry: &InboxEntry, now: Moment) -> Self {
        let InboxEntry { question, item, .. } = entry;
        let is_open = question.status.is_open();
        Self {
            id: question.id.to_string(),
            version: question.version,
            topic: clean_line(&question.topic),
            status: question.status.as_str(),
            status_class: status_class(question.status),
            is_open,
            asker: question.from.agent.to_string(),
            to: question.to.to_string(),
            to_agent: question.to.agent().is_some(),
            item: item.id.to_string(),
            item_title: clean_line(&item.title),
            created_at: question.created_at.to_string(),
            age: age(now, question.created_at),
            prompt: markdown(&question.prompt),
            since: since(question),
            context: question.context.as_deref().map(markdown),
            context_open: question.context.as_ref().is_some_and(|context| context.len() <= SHORT),
            blocks: blocks(entry),
            why: why(question),
            deadline: question.expires_at.filter(|_| is_open).map(|end| deadline(question, end, now)),
            options: options(question),
            option_input: if matches!(question.expected, Expected::MultiChoice) { "checkbox" } else { "radio" },
            text_input: text_input(question),
            answer: question.answer.as_ref().map(|answer| answered(answer, now)),
            error: None,
        }
    }

    /// The same with the reason why an answer was not taken.
    pub(crate) fn with_error(mut self, refusal: &Refusal) -> Self {
        let first = match (&self.answer, refusal.code) {
            (Some(answer), querent_core::Code::QuestionAlreadyAnswered) => {
                Some(format!("{} was first. Your answer was not taken.", answer.by))
            }
            _ => None,
        };
        self.error = Some(first.unwrap_or_else(|| clean_line(&format!("{}. {}", refusal.message, refusal.hint))));
        self
    }
}

pub(crate) fn status_class(status: Status) -> &'static str {
    match status {
        Status::Open | Status::Stale => "warn",
        Status::Escalated => "bad",
        Status::Answered | Status::Resolved => "good",
        Status::Expired | Status::Withdrawn => "",
    }
}

/// The question of this round, if it is not the first, and why it was handed over.
fn since(question: &Question) -> Vec<Since> {
    let entries = question.thread.iter().filter(|entry| entry.round == question.round && !entry.body.is_empty());
    let said = entries.filter_map(|entry| {
        let what = match entry.kind {
            EntryKind::Question if entry.round > 1 => "now asks",
            EntryKind::Escalation => "handed it to a person",
            _ => return None,
        };
        Some(Since { from: clean_line(&entry.from.to_string()), what, body: markdown(&entry.body) })
    });
    said.collect()
}

fn answered(answer: &Answer, now: Moment) -> AnswerView {
    AnswerView {
        by: clean_line(&answer.by.to_string()),
        how: match answer.provenance {
            Provenance::Human | Provenance::Agent => None,
            Provenance::Learned => Some("learned from an earlier answer"),
            Provenance::Fallback => Some("the fallback that the asker declared"),
        },
        at: answer.at.to_string(),
        age: age(now, answer.at),
        text: markdown(&answer.text),
        note: answer.note.as_deref().map(markdown),
    }
}
