//! A question in words for people: the same on a page and in a terminal.

use querent_core::{Blocker, Category, Choice, Expected, Moment, Question, Refusal, SessionId, canonical};
use querent_hub::{Handle, InboxEntry};
use serde_json::Value;

use crate::text::{clean, clean_line};

/// How long an answer may be.
const LONGEST: usize = 2_000;
const LONGEST_JSON: usize = 16 << 10;

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

/// What waits for it.
pub(crate) fn blocks(entry: &InboxEntry) -> String {
    let held: Vec<&str> = entry.waiting.holds_up.iter().map(SessionId::as_str).collect();
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
    value.as_str().map_or_else(|| canonical::text(value), str::to_owned)
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

/// A command that works here: it asks on an item that can be asked about, by the agent whose turn it is.
pub(crate) fn example(hub: &Handle) -> Result<String, Refusal> {
    let ready = hub.ready()?;
    let turn = ready.iter().find_map(|item| Some((item.id.clone(), item.agent.clone().filter(|_| !item.blocked)?)));
    Ok(match turn {
        Some((item, agent)) => format!(
            "querent ask --item {item} --from {agent} --to human --topic \"Colour\" \\\n  \
             --question \"Which colour?\" --option red=Red --option blue=Blue --wait 10m"
        ),
        None => "querent item add 42 --title \"Sign in by e-mail\"".to_owned(),
    })
}
