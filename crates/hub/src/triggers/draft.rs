//! A question before its placeholders are filled.

use querent_core::{Ask, Blocker, Category, Choice, Fallback, HumanInput, Kind, Party, Risk, Span};
use serde_json::{Map, Value};

use super::template::{Lists, Template};

/// How long a question that nobody must answer stays open.
const QUIET_END: Span = Span::minutes(24 * 60);
/// Why a default is safe, for the question's fallback.
const REASON: &str = "the default of this question";
/// The longest topic that a question may have.
const LONGEST_TOPIC: usize = 200;
/// The longest id of an option that is made from its label.
const LONGEST_ID: usize = 40;

/// The question of a trigger.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) kind: Kind,
    pub(super) category: Option<Category>,
    pub(super) to: Party,
    pub(super) topic: Template,
    pub(super) text: Template,
    pub(super) context: Option<Template>,
    pub(super) options: Vec<Offer>,
    pub(super) default: Option<Template>,
    pub(super) allow_free_text: bool,
    pub(super) blocking: bool,
    pub(super) tags: Vec<String>,
}

/// An option of a draft.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) id: Option<String>,
    pub(super) label: Template,
    pub(super) description: Option<Template>,
    pub(super) recommended: bool,
    pub(super) implications: Option<Template>,
}

/// Whether a question of this kind is one that nobody must answer.
pub(super) fn is_quiet(kind: Kind) -> bool {
    matches!(kind, Kind::Celebratory | Kind::Educational)
}

impl Draft {
    /// The question with every placeholder filled; the path of the first that the data does not fill.
    ///
    /// A default becomes the fallback, but for a question that may not end by itself.
    pub(super) fn fill(&self, data: &Map<String, Value>, policy: &HumanInput) -> Result<Ask, &str> {
        let may_end = policy.may_expire(self.category.unwrap_or(Category::Clarification), Blocker::None);
        let default = one(self.default.as_ref(), data, Lists::Commas)?;
        let fallback =
            default.map(|answer| Fallback { answer: answer.into(), reason: REASON.to_owned(), risk: Risk::Low });
        Ok(Ask {
            to: Some(self.to.clone()),
            kind: Some(self.kind),
            category: self.category,
            topic: headline(&self.topic.fill(data, Lists::Commas)?),
            prompt: self.text.fill(data, Lists::Lines)?,
            context: one(self.context.as_ref(), data, Lists::Lines)?,
            options: self.choices(data)?,
            allow_free_text: self.allow_free_text,
            blocking: Some(self.blocking),
            fallback: fallback.filter(|_| may_end),
            tags: self.tags.clone(),
            expires_in: (is_quiet(self.kind) && may_end).then_some(QUIET_END),
            ..Ask::default()
        })
    }

    /// The options with their ids.
    pub(super) fn choices(&self, data: &Map<String, Value>) -> Result<Vec<Choice>, &str> {
        let mut choices: Vec<Choice> = Vec::new();
        for offer in &self.options {
            let label = offer.label.fill(data, Lists::Commas)?;
            let taken = |id: &str| {
                let given = self.options.iter().filter_map(|it| it.id.as_deref());
                given.chain(choices.iter().map(|it| it.id.as_str())).any(|it| it == id)
            };
            let id = offer.id.clone().unwrap_or_else(|| free_id(&label, taken));
            choices.push(Choice {
                id,
                label,
                description: one(offer.description.as_ref(), data, Lists::Commas)?,
                recommended: offer.recommended,
                implications: one(offer.implications.as_ref(), data, Lists::Commas)?,
            });
        }
        Ok(choices)
    }
}

fn one<'a>(template: Option<&'a Template>, data: &Map<String, Value>, lists: Lists) -> Result<Option<String>, &'a str> {
    template.map(|template| template.fill(data, lists)).transpose()
}

/// A topic on one line, cut where data made it too long: a long word must not cost the question.
fn headline(topic: &str) -> String {
    let line = topic.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_TOPIC {
        return line;
    }
    line.chars().take(LONGEST_TOPIC - 1).chain(['\u{2026}']).collect()
}

/// The id of a label that is not taken yet: `Yes, let's go` is `yes-lets-go`.
fn free_id(label: &str, taken: impl Fn(&str) -> bool) -> String {
    let plain: String = label.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).collect();
    let mut id = String::new();
    for word in plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if !id.is_empty() && id.chars().count() + word.chars().count() >= LONGEST_ID {
            break;
        }
        id.push_str(if id.is_empty() { "" } else { "-" });
        id.extend(word.chars().take(LONGEST_ID));
    }
    if id.is_empty() {
        id.push_str("option");
    }
    let numbered = |number: u32| if number == 1 { id.clone() } else { format!("{id}-{number}") };
    (1..=u32::MAX).map(numbered).find(|id| !taken(id)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_one_line_that_fits() {
        assert_eq!(headline("Two\nlines"), "Two lines");
        assert_eq!(headline(&"x".repeat(200)).chars().count(), 200);
        assert_eq!(headline(&"x".repeat(201)), "x".repeat(199) + "\u{2026}");
    }

    #[test]
    fn an_id_is_made_from_its_label() {
        for (label, id) in [
            ("Yes, let's continue!", "yes-lets-continue"),
            ("< 100 ms", "100-ms"),
            ("???", "option"),
            ("Größe 日本", "größe-日本"),
            ("One two three four five six seven eight nine ten", "one-two-three-four-five-six-seven-eight"),
        ] {
            assert_eq!(free_id(label, |_| false), id);
        }
        assert_eq!(free_id("Yes", |id| id == "yes" || id == "yes-2"), "yes-3");
    }
}
