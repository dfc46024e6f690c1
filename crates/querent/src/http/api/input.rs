//! What a request says: its path, its query and its body as one object that fits the route's schema. What does not is refused
//! with the name of the field.

use std::sync::OnceLock;

use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::request::Parts;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use querent_core::{Refusal, canonical, nearest};
use serde_json::{Map, Value, json};

use super::schema::{Field, nullable};
use super::{Route, Verb};

/// A route with what it takes at hand.
pub(super) struct Checked {
    pub(super) route: &'static Route,
    pub(super) fields: Vec<Field>,
    /// The parts of its path, and how many of them a caller fills in.
    parts: Vec<&'static str>,
    pub(super) names: usize,
    /// Of all that it takes; none if the schema itself were wrong, which a test rules out. Made when it is needed: all of them
    /// together take longer than a whole request.
    validator: OnceLock<Option<Validator>>,
}

impl Checked {
    pub(super) fn new(route: &'static Route) -> Self {
        let mut fields = (route.fields)();
        for field in &mut fields {
            field.in_path = route.path.contains(&format!("{{{}}}", field.name));
            // Many clients send null for what they do not want to say.
            if route.verb == Verb::Post && !field.required {
                field.schema = nullable(field.schema.take());
            }
        }
        let parts: Vec<&str> = route.path.split('/').collect();
        let names = parts.iter().filter(|part| name(part).is_some()).count();
        Self { route, fields, parts, names, validator: OnceLock::new() }
    }

    fn validator(&self) -> Option<&Validator> {
        // None of our patterns looks back or ahead.
        let options = || jsonschema::options().with_pattern_options(PatternOptions::regex());
        self.validator.get_or_init(|| options().build(&object(self.fields.iter())).ok()).as_ref()
    }

    /// Whether a path below the root is this one's, by its parts.
    pub(super) fn is_at(&self, path: &[&str]) -> bool {
        let fits = |part: &str, given: &str| if part.starts_with('{') { !given.is_empty() } else { part == given };
        // Most routes differ in their last part.
        path.len() == self.parts.len() && self.parts.iter().zip(path).rev().all(|(part, given)| fits(part, given))
    }

    /// What such a path names, as it is encoded.
    pub(super) fn params<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'static str, &'a str)> {
        self.parts.iter().zip(path.split('/')).filter_map(|(part, given)| Some((name(part)?, given)))
    }

    /// The schema of the body; none for a route that takes none.
    pub(super) fn body_schema(&self) -> Option<Value> {
        (self.route.verb == Verb::Post).then(|| object(self.fields.iter().filter(|field| !field.in_path)))
    }

    /// What a request says.
    pub(super) fn read(&self, path: &str, head: &Parts, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
        let query = self.query(head.uri.query().unwrap_or_default())?;
        let mut given = match self.route.verb {
            Verb::Get => query,
            Verb::Post => self.body(&head.headers, body)?,
        };
        for (name, value) in self.params(path) {
            let malformed = || Refusal::invalid("path", "the path is not encoded as UTF-8", "percent-encode it");
            let value = decoded(value, false).ok_or_else(malformed)?;
            given.insert(name.to_owned(), Value::String(value));
        }
        given.sort_keys();
        let mut given = self.checked(given)?;
        given.retain(|name, value| !value.is_null() || self.fields.iter().any(|it| it.name == name && it.required));
        Ok(given)
    }

    fn query(&self, query: &str) -> Result<Map<String, Value>, Refusal> {
        let mut given = Map::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let malformed = || Refusal::invalid("query", "the query is not encoded as UTF-8", "percent-encode it");
            let [name, value] = [name, value].map(|it| decoded(it, true).ok_or_else(malformed));
            let (name, value) = (name?, value?);
            let known = self.fields.iter().filter(|it| !it.in_path && self.route.verb == Verb::Get);
            let Some(field) = known.clone().find(|it| it.name == name) else {
                return Err(unknown(&name, known.map(|it| it.name), "query parameter"));
            };
            if given.insert(name.clone(), typed(field, value)?).is_some() {
                return Err(Refusal::invalid(&name, format!("`{name}` is there twice"), "give it once"));
            }
        }
        Ok(given)
    }

    fn body(&self, headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
        let is_json = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).is_some_and(|it| {
            it.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        });
        if body.is_empty() {
            return Ok(Map::new());
        }
        if !is_json {
            return Err(Refusal::invalid(
                "Content-Type",
                "the body is not marked as JSON",
                "send it as application/json",
            ));
        }
        let given = parsed(body)?;
        for name in given.keys() {
            let known = self.fields.iter().filter(|it| !it.in_path).map(|it| it.name);
            if !known.clone().any(|it| it == name) {
                return Err(unknown(name, known, "field"));
            }
        }
        Ok(given)
    }

    /// What is given, if it fits.
    fn checked(&self, given: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        let is_missing = |field: &&Field| field.required && !given.contains_key(field.name);
        if let Some(Field { name, .. }) = self.fields.iter().find(is_missing) {
            let hint = format!("give {name}; see the schema of the request in /openapi.json");
            return Err(Refusal::invalid(name, format!("`{name}` is missing"), hint));
        }
        let instance = Value::Object(given);
        // Whether it fits is found out sooner than where it does not.
        let faulty = self.validator().filter(|it| !it.is_valid(&instance));
        let Some(fault) = faulty.and_then(|it| it.validate(&instance).err()) else {
            return match instance {
                Value::Object(given) => Ok(given),
                _ => Ok(Map::new()),
            };
        };
        let place = fault.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        let message: String =
            format!("`{place}` does not fit: {}", words(&fault.to_string(), fault.kind())).chars().take(500).collect();
        Err(Refusal::invalid(&place, message, "see the schema of the request in /openapi.json"))
    }
}

/// What a part of a path that is filled in by the caller is called.
fn name(part: &'static str) -> Option<&'static str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

/// What is wrong, without the words of a regular expression.
fn words(said: &str, kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Pattern { .. } => "it is not of its form".to_owned(),
        _ => said.to_owned(),
    }
}

/// The schema of an object with these fields and no others.
fn object<'a>(fields: impl Iterator<Item = &'a Field>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        properties.insert(field.name.to_owned(), field.schema.clone());
        required.extend(field.required.then_some(field.name));
    }
    // The first that does not fit is told, and that is the first in the order of the schema.
    canonical::sorted(
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false }),
    )
}

fn parsed(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match canonical::parsed(bytes) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(_) => Err(Refusal::invalid("body", "the body is not a JSON object", "send an object: {\"key\": \"value\"}")),
        Err(error) => {
            Err(Refusal::invalid("body", format!("the body is not JSON: {error}"), "send one JSON object in UTF-8"))
        }
    }
}

/// A value of a query in the type that its schema names.
fn typed(field: &Field, text: String) -> Result<Value, Refusal> {
    let value = match field.schema["type"].as_str() {
        Some("integer") => text.parse::<u64>().ok().map(Value::from),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        _ => Some(Value::String(text)),
    };
    value.ok_or_else(|| {
        let kind = field.schema["type"].as_str().unwrap_or_default();
        Refusal::invalid(field.name, format!("`{}` is not a value of type {kind}", field.name), "see /openapi.json")
    })
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>, what: &str) -> Refusal {
    let known: Vec<&str> = known.collect();
    let shown: String = name.chars().take(100).collect();
    let near = nearest::of(&shown, known.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    let all = if known.is_empty() { "there is none here".to_owned() } else { format!("known: {}", known.join(", ")) };
    let hint = format!("{}{all}", near.unwrap_or_default());
    Refusal::invalid(&shown, format!("there is no {what} `{shown}`"), hint)
}

/// A part of a path or a query as it was before it was encoded; in a query a plus is a space.
fn decoded(text: &str, is_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' if is_query => bytes.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let value = high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                bytes.push(value?);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_it_was_before_it_was_encoded() {
        assert_eq!(decoded("human%3Aalice+b", true).unwrap(), "human:alice b");
        assert_eq!(decoded("human%3Aalice+b", false).unwrap(), "human:alice+b");
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert!(decoded(broken, true).is_none(), "{broken}");
        }
    }

    #[test]
    fn every_schema_compiles() {
        for checked in super::super::CHECKED.iter() {
            assert!(checked.validator().is_some(), "{}", checked.route.operation);
        }
    }
}
