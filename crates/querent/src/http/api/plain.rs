//! What programs ask and answer all the time, read into its type at once. Only what is plainly what its schema wants is read so;
//! everything else goes the long way of [`input`](super::input), which also says what is wrong with it. What is read here would be
//! read the same there: a test holds the two against each other.

use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use querent_core::{Action, Ask, Choice, ItemId, Party, QuestionId, Span};
use serde::Deserialize;
use serde_json::Value;

use super::Route;
use super::ask::Beside;
use super::call::Named;

/// What was said.
#[derive(Debug, PartialEq)]
pub(super) enum Plain {
    /// To [`ask`](super::ask).
    Ask(Beside, Box<Ask>),
    /// An answer to a question of this item, and by whom.
    Answer(ItemId, Action, Option<Named>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking<'a> {
    item: Option<&'a str>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    topic: String,
    prompt: String,
    context: Option<String>,
    options: Option<Vec<Choice>>,
    blocking: Option<bool>,
    wait: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answering<'a> {
    answer: String,
    note: Option<String>,
    by: Option<&'a str>,
}

/// What a request says; none if that takes a closer look.
pub(super) fn read(route: &Route, below: &str, head: &Parts, body: &[u8]) -> Option<Plain> {
    let is_json = head.headers.get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
    if !is_json || head.uri.query().is_some() {
        return None;
    }
    match route.operation {
        "ask" => asking(body),
        "answer" => answering(below.split('/').nth(2)?, body),
        _ => None,
    }
}

fn asking(body: &[u8]) -> Option<Plain> {
    let Asking { item, from, to, topic, prompt, context, options, blocking, wait } =
        serde_json::from_slice(body).ok()?;
    let fits = is_words(&topic, 200) && is_words(&prompt, 2_000) && are_words(context.as_deref());
    let options = options.unwrap_or_default();
    if !fits || options.len() > 20 || !options.iter().all(is_plain) {
        return None;
    }
    let from = perhaps(from, party).ok()?.map(Named);
    let item = perhaps(item, |text| text.parse().ok()).ok()?;
    let beside = Beside { item, from, wait: perhaps(wait, span).ok()? };
    let ask = Ask { to: perhaps(to, party).ok()?, topic, prompt, context, options, blocking, ..Ask::default() };
    Some(Plain::Ask(beside, Box::new(ask)))
}

fn answering(id: &str, body: &[u8]) -> Option<Plain> {
    let Answering { answer, note, by } = serde_json::from_slice(body).ok()?;
    let question = id.parse().ok().filter(|id: &QuestionId| id.number < 1_000_000_000)?;
    if !are_words(note.as_deref()) {
        return None;
    }
    let (item, by) = (question.item.clone(), perhaps(by, party).ok()?.map(Named));
    Some(Plain::Answer(item, Action::Answer { question, answer: Value::String(answer), note }, by))
}

/// What may be missing; an error if it is there and not plain.
fn perhaps<T>(text: Option<&str>, read: fn(&str) -> Option<T>) -> Result<Option<T>, ()> {
    text.map(|text| read(text).ok_or(())).transpose()
}

/// `human` or an agent.
fn party(text: &str) -> Option<Party> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (text != "querent" && text.bytes().all(is_name)).then(|| text.parse().ok())?
}

fn span(text: &str) -> Option<Span> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits).then(|| text.parse().ok().filter(|_| !text.ends_with(' ')))?
}

fn is_plain(choice: &Choice) -> bool {
    let Choice { id, label, description, recommended: _, implications } = choice;
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    is_id && is_words(label, 200) && are_words(description.as_deref()) && are_words(implications.as_deref())
}

fn are_words(text: Option<&str>) -> bool {
    text.is_none_or(|text| is_words(text, 2_000))
}

/// Whether a text is so short, whatever its characters, and is plainly not only white space.
fn is_words(text: &str, most: usize) -> bool {
    text.len() <= most && text.bytes().any(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
