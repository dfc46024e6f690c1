//! Reading a file of triggers, and saying exactly what is wrong with it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use querent_core::{Category, Expected, Kind, Party, Refusal, answer};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, json};
use serde_saphyr::{DefaultMessageFormatter, Error, Location, MessageFormatter, Spanned};

use super::Trigger;
use super::condition::Condition;
use super::draft::{Draft, Offer, is_quiet};
use super::template::Template;
use crate::config::{self, File};

/// The page that explains the files.
const PAGE: &str = "docs/guides/triggers.md";

/// The triggers of a file. `name` is what the file is called, without its ending.
pub(super) fn read(path: &Path, name: &str, text: &str) -> Result<Vec<Trigger>, Refusal> {
    let source = Source { file: File { path, text } };
    let written: Option<Vec<Written>> = serde_saphyr::from_str(text).map_err(|error| source.unread(&error))?;
    let mut counts = BTreeMap::new();
    let named = |written: Written| {
        let count = counts.entry(written.event.value.clone()).or_insert(0);
        *count += 1;
        let more = if *count == 1 { String::new() } else { format!("/{count}") };
        source.trigger(format!("{name}/{}{more}", written.event.value), written)
    };
    written.unwrap_or_default().into_iter().map(named).collect()
}

/// A trigger as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    event: Spanned<String>,
    phase: Option<String>,
    when: Option<Spanned<String>>,
    ask: Question,
}

/// The question of a trigger as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    kind: Spanned<Kind>,
    text: Spanned<String>,
    topic: Option<Spanned<String>>,
    context: Option<Spanned<String>>,
    #[serde(default)]
    options: Vec<Spanned<Choice>>,
    default: Option<Spanned<String>>,
    blocking: Option<bool>,
    #[serde(default)]
    allow_free_text: bool,
    to: Option<Spanned<String>>,
    category: Option<Category>,
    #[serde(default)]
    tags: Vec<String>,
}

/// An option as it is written: a label, or an object.
struct Choice(Full);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Full {
    label: String,
    id: Option<String>,
    description: Option<String>,
    #[serde(default)]
    recommended: bool,
    implications: Option<String>,
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Choice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a label, or an option with a label")
            }

            fn visit_str<E>(self, label: &str) -> Result<Choice, E> {
                let label = label.to_owned();
                Ok(Choice(Full { label, id: None, description: None, recommended: false, implications: None }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Choice, A::Error> {
                Full::deserialize(MapAccessDeserializer::new(map)).map(Choice)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A file, with the refusals that name its lines.
#[derive(Clone, Copy)]
struct Source<'a> {
    file: File<'a>,
}

impl Source<'_> {
    fn unread(&self, error: &Error) -> Refusal {
        let error = error.without_snippet();
        let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let message = match error {
            Error::SerdeUnknownField { field, expected, .. } => {
                format!("unknown key `{field}`, expected one of {}", quoted(expected))
            }
            Error::SerdeUnknownVariant { variant, expected, .. } => {
                format!("unknown word `{variant}`, expected one of {}", quoted(expected))
            }
            Error::SerdeMissingField { field, .. } => format!("the key `{field}` is missing"),
            Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` is there twice"),
            Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => "one word is expected here".to_owned(),
            other => DefaultMessageFormatter.format_message(other).into_owned(),
        };
        config::unread(&self.file, error.location().map_or(0, |at| self.start(at)), &message, PAGE)
    }

    /// The byte at which something stands. Not every location knows it; each knows its line and its column.
    fn start(&self, at: Location) -> usize {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let (line, column) = (place(at.line()), place(at.column()));
        let before: usize = self.file.text.split_inclusive('\n').take(line).map(str::len).sum();
        let rest = &self.file.text[before..];
        before + rest.char_indices().nth(column).map_or(0, |(start, _)| start)
    }

    fn wrong(&self, at: Location, message: &str, hint: &str) -> Refusal {
        self.file.wrong(self.start(at), message, hint, None)
    }

    fn trigger(&self, name: String, written: Written) -> Result<Trigger, Refusal> {
        let event = filled(self, "event", written.event)?;
        let when = written.when.map(|it| self.condition(&it)).transpose()?;
        let ask = self.draft(&event, written.ask)?;
        Ok(Trigger { name, event, phase: written.phase, when, ask })
    }

    fn condition(&self, written: &Spanned<String>) -> Result<Condition, Refusal> {
        Condition::compile(&written.value).map_err(|why| {
            let message = format!("the condition `{}` does not compile: {why}", written.value.trim());
            self.wrong(written.referenced, &message, "write it in CEL, like: attempts >= 3 && kind == \"test\"")
        })
    }

    fn draft(&self, event: &str, written: Question) -> Result<Draft, Refusal> {
        let kind = written.kind.value;
        let blocking = written.blocking.unwrap_or(kind == Kind::Blocking);
        if blocking && is_quiet(kind) {
            let message = format!("a question that is {kind} never blocks");
            return Err(self.wrong(written.kind.referenced, &message, "leave `blocking` out, or take another kind"));
        }
        let to = match written.to {
            Some(to) => to.value.parse().map_err(|_| {
                let message = format!("`{}` is neither an agent's name nor `human`", to.value);
                self.wrong(to.referenced, &message, "name an agent of .querent/config.toml, or `human`")
            })?,
            None => Party::HUMAN,
        };
        let topic = match &written.topic {
            Some(topic) => self.template(&topic.value, topic.referenced)?,
            None => self.template(&words(event), written.text.referenced)?,
        };
        let text = Spanned { value: filled(self, "text", written.text.clone())?, ..written.text };
        let part = |part: Option<&Spanned<String>>| part.map(|it| self.template(&it.value, it.referenced)).transpose();
        let draft = Draft {
            kind,
            category: written.category,
            to,
            topic,
            text: self.template(&text.value, text.referenced)?,
            context: part(written.context.as_ref())?,
            options: written.options.iter().map(|it| self.offer(it)).collect::<Result<_, _>>()?,
            default: part(written.default.as_ref())?,
            allow_free_text: written.allow_free_text,
            blocking,
            tags: written.tags,
        };
        self.check_options(&draft, &written.options)?;
        self.check_default(&draft, written.default.as_ref())?;
        Ok(draft)
    }

    fn offer(&self, written: &Spanned<Choice>) -> Result<Offer, Refusal> {
        let Choice(full) = &written.value;
        let part = |text: &String| self.template(text, written.referenced);
        if full.label.trim().is_empty() {
            return Err(self.wrong(written.referenced, "an option's label is empty", "say what is chosen"));
        }
        Ok(Offer {
            id: full.id.clone(),
            label: part(&full.label)?,
            description: full.description.as_ref().map(part).transpose()?,
            recommended: full.recommended,
            implications: full.implications.as_ref().map(part).transpose()?,
        })
    }

    fn check_options(&self, draft: &Draft, written: &[Spanned<Choice>]) -> Result<(), Refusal> {
        for (place, (offer, at)) in draft.options.iter().zip(written).enumerate() {
            let before = &draft.options[..place];
            if let Some(id) = offer.id.as_ref().filter(|id| before.iter().any(|other| other.id.as_ref() == Some(*id))) {
                let message = format!("the option id `{id}` is there twice");
                return Err(self.wrong(at.referenced, &message, "give each option an id of its own"));
            }
            if offer.recommended && before.iter().any(|other| other.recommended) {
                return Err(self.wrong(at.referenced, "two options are recommended", "recommend one of them"));
            }
        }
        Ok(())
    }

    /// A default that is known before anything happens must answer the question; any other is checked when it is filled.
    fn check_default(&self, draft: &Draft, written: Option<&Spanned<String>>) -> Result<(), Refusal> {
        let (Some(written), Some(default)) = (written, draft.default.as_ref().and_then(Template::fixed)) else {
            return Ok(());
        };
        let Ok(choices) = draft.choices(&Map::new()) else { return Ok(()) };
        let expected = if choices.is_empty() { Expected::Text } else { Expected::SingleChoice };
        answer::read(&json!(default), &expected, &choices, draft.allow_free_text).map(drop).map_err(|refusal| {
            let message = format!("the default does not answer the question: {}", refusal.message);
            self.wrong(written.referenced, &message, &refusal.hint)
        })
    }

    fn template(&self, text: &str, at: Location) -> Result<Template, Refusal> {
        Template::parse(text).map_err(|(place, why)| {
            // A text may go on for many lines; the one that is meant is the first from its beginning that has the place.
            let begin = self.start(at);
            let found = self.file.text.get(begin..).and_then(|rest| rest.find(place)).map_or(begin, |it| begin + it);
            let message = format!("the placeholder `{place}` cannot be read: {why}");
            self.file.wrong(
                found,
                &message,
                "write {name} or {name.part}; a brace itself is written twice: {{ }}",
                None,
            )
        })
    }
}

/// A text that must not be empty.
fn filled(source: &Source<'_>, key: &str, text: Spanned<String>) -> Result<String, Refusal> {
    if text.value.trim().is_empty() {
        return Err(source.wrong(text.referenced, &format!("`{key}` is empty"), "give it a value"));
    }
    Ok(text.value)
}

/// An event's name as a person writes it: `idea_created` is `Idea created`. Braces stand for themselves.
fn words(event: &str) -> String {
    let plain = event.replace(['_', '-'], " ").replace('{', "{{").replace('}', "}}");
    let mut letters = plain.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
