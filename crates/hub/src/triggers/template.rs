//! Texts with `{placeholders}`, filled from an event's data.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A text with placeholders. `{{` and `}}` stand for the braces themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A dotted path into the data.
    Placeholder(String),
}

/// How a list is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// A line with a dash for each entry.
    Lines,
    /// On one line, with commas.
    Commas,
}

impl Template {
    /// Reads a text. What cannot be read is returned as it stands, from its brace on, with the reason.
    pub(super) fn parse(text: &str) -> Result<Self, (&str, &'static str)> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(brace) = rest.find(['{', '}']) {
            add(&mut pieces, &rest[..brace]);
            rest = &rest[brace..];
            if let Some(after) = ["{{", "}}"].into_iter().find_map(|twice| rest.strip_prefix(twice)) {
                add(&mut pieces, &rest[..1]);
                rest = after;
                continue;
            }
            let end = rest.find('}').filter(|end| *end > 0);
            let Some(end) = end else {
                let line = rest.lines().next().unwrap_or(rest);
                return Err((line, if rest.starts_with('}') { "it closes nothing" } else { "it is not closed" }));
            };
            let path = &rest[1..end];
            if !is_path(path) {
                let shown = rest[..=end].lines().next().unwrap_or(rest);
                return Err((shown, "it is no name, nor names with dots between them"));
            }
            pieces.push(Piece::Placeholder(path.to_owned()));
            rest = &rest[end + 1..];
        }
        add(&mut pieces, rest);
        Ok(Self { pieces })
    }

    /// The text, if it has no placeholders.
    pub(super) fn fixed(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with every placeholder filled; the path of the first that the data does not fill.
    pub(super) fn fill(&self, data: &Map<String, Value>, lists: Lists) -> Result<String, &str> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder(path) => match (find(data, path).ok_or(path.as_str())?, lists) {
                    (Value::Null, _) => return Err(path),
                    (Value::Array(list), Lists::Lines) if !list.is_empty() => {
                        push_lines(&mut filled, list.iter().map(one_line));
                    }
                    (Value::Object(fields), Lists::Lines) if !fields.is_empty() => {
                        push_lines(&mut filled, listed(fields));
                    }
                    (Value::String(text), _) => filled.push_str(text.trim_end_matches('\n')),
                    (value, _) => filled.push_str(&one_line(value)),
                },
            }
        }
        Ok(filled.trim_end().to_owned())
    }
}

fn add(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn is_path(path: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    path.split('.').all(word) && !path.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands at a dotted path. A number is a place in a list, from 0 on.
fn find<'a>(data: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = data.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Adds entries as lines. Words that stand before them on the line stay there, and the entries begin below.
fn push_lines(text: &mut String, entries: impl Iterator<Item = String>) {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let indent = if line.trim().is_empty() { line.to_owned() } else { String::new() };
    if !line.trim().is_empty() {
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    let lines: Vec<String> = entries.map(|entry| format!("- {entry}")).collect();
    text.push_str(&lines.join(&format!("\n{indent}")));
}

fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(one_line).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if fields.is_empty() => "none".to_owned(),
        Value::Object(fields) => listed(fields).collect::<Vec<_>>().join(", "),
        Value::Null => "none".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The fields of an object, in the order of their names.
fn listed(fields: &Map<String, Value>) -> impl Iterator<Item = String> {
    let fields: BTreeMap<&String, &Value> = fields.iter().collect();
    fields.into_iter().map(|(name, value)| format!("{name}: {}", one_line(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(text: &str, data: &Value, lists: Lists) -> Result<String, String> {
        let template = Template::parse(text).map_err(|(place, why)| format!("{place}: {why}"))?;
        template.fill(data.as_object().unwrap(), lists).map_err(str::to_owned)
    }

    #[test]
    fn a_placeholder_is_filled_with_what_its_path_names() {
        let data =
            json!({ "task": { "id": "T-7", "files": ["a.rs", "b.rs"] }, "count": 3, "share": 0.5, "done": true });

        let text = "{task.id}: {count}, {share}, {done}, {task.files.1}";

        assert_eq!(filled(text, &data, Lists::Lines).unwrap(), "T-7: 3, 0.5, true, b.rs");
    }

    #[test]
    fn a_list_becomes_lines_in_a_text_and_commas_on_a_line() {
        let data = json!({ "risks": ["slow\ndisk", 2], "none": [], "pattern": { "seen": 3, "name": "retry" } });

        assert_eq!(
            filled("Risks: {risks}\n\nGo on?", &data, Lists::Lines).unwrap(),
            "Risks:\n- slow disk\n- 2\n\nGo on?"
        );
        assert_eq!(filled("Risks:\n  {risks}", &data, Lists::Lines).unwrap(), "Risks:\n  - slow disk\n  - 2");
        assert_eq!(filled("Risks: {none}", &data, Lists::Lines).unwrap(), "Risks: none");
        assert_eq!(filled("{pattern}", &data, Lists::Lines).unwrap(), "- name: retry\n- seen: 3");
        assert_eq!(filled("with {risks}", &data, Lists::Commas).unwrap(), "with slow disk, 2");
    }

    #[test]
    fn what_the_data_holds_is_never_read_as_a_placeholder() {
        assert_eq!(filled("{a} {{b}}", &json!({ "a": "{b}" }), Lists::Lines).unwrap(), "{b} {b}");
    }

    #[test]
    fn a_placeholder_without_data_is_named() {
        for (text, path) in [("{a}", "a"), ("{null}", "null"), ("{list.9}", "list.9"), ("{word.x}", "word.x")] {
            let data = json!({ "null": null, "list": [1], "word": "w" });
            assert_eq!(filled(text, &data, Lists::Lines).unwrap_err(), path);
        }
    }

    #[test]
    fn a_brace_that_is_no_placeholder_is_found() {
        for (text, place) in [
            ("a {b", "{b: it is not closed"),
            ("a } b", "} b: it closes nothing"),
            ("{a b}", "{a b}: it is no name, nor names with dots between them"),
            ("{}", "{}: it is no name, nor names with dots between them"),
            ("{a..b}", "{a..b}: it is no name, nor names with dots between them"),
        ] {
            assert_eq!(filled(text, &json!({}), Lists::Lines).unwrap_err(), place);
        }
    }
}
