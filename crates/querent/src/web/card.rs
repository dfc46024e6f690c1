//! One question as people see it: it stands alone.

use querent_core::{Answer, Choice, EntryKind, Expected, Moment, Provenance, Question, Refusal, Status};
use querent_hub::InboxEntry;
use serde_json::Value;

use super::rich::{age, markdown};
use crate::text::{clean, clean_line};

/// How long an answer may be.
const LONGEST: usize = 2_000;
const LONGEST_JSON: usize = 16 << 10;
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

/// When something happens if nobody answers, and what.
pub(crate) struct Deadline {
    pub(crate) before: &'static str,
    pub(crate) at: String,
    pub(crate) in_words: String,
    pub(crate) after: String,
}

/// One of the answers that are offered.
pub(crate) struct OptionView {
    pub(crate) number: usize,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) description: Option<String>,
    pub(crate) implications: Option<String>,
    pub(crate) recommended: bool,
    pub(crate) is_fallback: bool,
}

/// Where an answer is typed.
pub(crate) struct TextInput {
    pub(crate) label: &'static str,
    pub(crate) is_number: bool,
    pub(crate) rows: u32,
    pub(crate) most: usize,
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

/// What waits for it.
pub(crate) fn blocks(entry: &InboxEntry) -> String {
    let held: Vec<&str> = entry.waiting.holds_up.iter().map(querent_core::SessionId::as_str).collect();
    let shown = || clean_line(&held.iter().take(4).copied().collect::<Vec<_>>().join(", "));
    match held.len() {
        0 if entry.question.status.is_open() && entry.question.blocking => "Its asker waits.".to_owned(),
        0 => "Nobody waits for it; work goes on meanwhile.".to_owned(),
        1 => format!("Holds up {}.", shown()),
        count @ 2..=4 => format!("Holds up {count} sessions: {}.", shown()),
        count => format!("Holds up {count} sessions: {} and {} more.", shown(), count - 4),
    }
}

/// Why it is asked, where that is more than a clarification.
pub(crate) fn why(question: &Question) -> Option<String> {
    use querent_core::{Blocker, Category};
    let category = match question.category {
        Category::Clarification => None,
        Category::PermissionOverride => Some("It asks for leave to do what is not allowed."),
        Category::ExternalDecision => Some("It needs a decision from outside of the project."),
        Category::RiskAck => Some("Somebody must take a risk upon themselves."),
    };
    let blocker = match question.blocker {
        Blocker::None => None,
        Blocker::MutuallyExclusiveRequirements => Some("Two requirements exclude each other."),
        Blocker::MissingExternalData => Some("It needs data that is not in the project."),
        Blocker::SecurityDecision => Some("It bears on security or law."),
    };
    let said: Vec<&str> = [category, blocker].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// What happens if nobody answers, and when.
pub(crate) fn deadline(question: &Question, end: Moment, now: Moment) -> Deadline {
    let after = match &question.fallback {
        Some(fallback) if !question.is_guarded() => {
            let label = question.options.iter().find(|option| fallback.answer == option.id.as_str());
            let label = label.map_or_else(|| shown(&fallback.answer), |option| option.label.clone());
            format!(", “{}” is taken: {} (risk {}).", clean_line(&label), clean_line(&fallback.reason), fallback.risk)
        }
        _ => ", it ends without an answer.".to_owned(),
    };
    Deadline { before: "If nobody answers within", at: end.to_string(), in_words: end.since(now).rough(), after }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The answers that it offers, in order.
pub(crate) fn options(question: &Question) -> Vec<OptionView> {
    let fallback = question.fallback.as_ref().map(|fallback| &fallback.answer);
    let view = |(place, choice): (usize, &Choice)| OptionView {
        number: place + 1,
        id: choice.id.clone(),
        label: clean_line(&choice.label),
        description: choice.description.as_deref().map(clean),
        implications: choice.implications.as_deref().map(clean),
        recommended: choice.recommended,
        is_fallback: fallback.is_some_and(|answer| *answer == choice.id.as_str()),
    };
    if question.options.is_empty() && matches!(question.expected, Expected::Boolean) {
        let option = |number, id: &str, label: &str| OptionView {
            number,
            id: id.to_owned(),
            label: label.to_owned(),
            description: None,
            implications: None,
            recommended: false,
            is_fallback: fallback.is_some_and(|answer| *answer == (id == "true") || *answer == id),
        };
        return vec![option(1, "true", "Yes"), option(2, "false", "No")];
    }
    question.options.iter().enumerate().map(view).collect()
}

/// Where an answer is typed, if it may be.
pub(crate) fn text_input(question: &Question) -> Option<TextInput> {
    let input = |label, is_number, rows, most| Some(TextInput { label, is_number, rows, most });
    match &question.expected {
        Expected::Text => input("Your answer", false, 3, LONGEST),
        Expected::Number => input("Your answer, a number", true, 1, LONGEST),
        Expected::Json { .. } => input("Your answer, in JSON", false, 6, LONGEST_JSON),
        _ if question.allow_free_text => input("Or in your own words", false, 2, LONGEST),
        _ => None,
    }
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
