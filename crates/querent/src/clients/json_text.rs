//! The white space, commas and comments of JSON: where something is put in, and what goes when it is taken out.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::tree::{Tree, line_end};

/// An object or a list, as it stands in its text.
pub(super) struct Container {
    /// Behind the opening bracket.
    pub(super) open: usize,
    /// Before the closing one.
    pub(super) close: usize,
    /// The elements, or the members with their keys.
    pub(super) children: Vec<Range<usize>>,
}

impl Container {
    /// What a value holds; a plain one holds nothing.
    pub(super) fn of(value: &Value<'_>) -> Self {
        let children = match value {
            Value::Object(object) => object.properties.iter().map(|it| it.start()..it.end()).collect(),
            Value::Array(array) => array.elements.iter().map(|it| it.start()..it.end()).collect(),
            _ => Vec::new(),
        };
        Self { open: value.start() + 1, close: value.end() - 1, children }
    }

    /// How far the children are moved in.
    pub(super) fn inner_indent(&self, text: &str, ink: &Ink) -> String {
        let own_line = self.children.last().map(|last| (last, indent(text, last.start)));
        match own_line.filter(|(last, indent)| text[..last.start].ends_with(&format!("\n{indent}"))) {
            Some((_, indent)) => indent.to_owned(),
            None => format!("{}{}", indent(text, self.open), ink.unit),
        }
    }

    /// Whether it was made for its only child: brackets on lines of their own, or one space inside each.
    pub(super) fn is_made(&self, text: &str) -> bool {
        let [child] = self.children.as_slice() else { return false };
        let (before, after) = (&text[self.open..child.start], &text[child.end..self.close]);
        let is_open = before.trim().is_empty()
            && before.contains('\n')
            && after.trim().is_empty()
            && after.matches('\n').count() == 1
            && after.trim_start_matches('\r').starts_with('\n');
        is_open || (before, after) == (" ", " ")
    }

    /// What goes when a child is taken out, in order.
    pub(super) fn without(&self, text: &str, index: usize) -> Vec<Range<usize>> {
        let Some(child) = self.children.get(index) else { return Vec::new() };
        let previous = index.checked_sub(1).and_then(|index| self.children.get(index));
        let own_comma = comma(text, child.end);
        let mut gone = Vec::new();
        let mut from = self.open;
        if let Some(previous) = previous {
            let comma = comma(text, previous.end).unwrap_or(previous.end);
            from = (comma + 1).min(child.start);
            if own_comma.is_none() {
                gone.push(comma..from);
            }
        }
        let mut end = own_comma.map_or(child.end, |comma| comma + 1);
        let rest = &text[end..self.close];
        let is_alone = self.children.len() == 1 && text[from..child.start].trim().is_empty() && rest.trim().is_empty();
        if is_alone && rest.matches('\n').count() > 1 {
            // The line end that was put in where there was an empty line already.
            end += rest.find('\n').map_or(0, |at| at + 1);
        }
        let start = from + text[from..child.start].trim_end().len();
        let ends_line = text[end..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let start = if skip(text, from).1 && !ends_line { child.start } else { start };
        gone.push(start..end);
        gone
    }
}

/// How new text is written so that it looks like the rest.
pub(super) struct Ink {
    /// The line end.
    pub(super) end: &'static str,
    unit: String,
}

impl Ink {
    /// The habits of a text.
    pub(super) fn of(text: &str) -> Self {
        let indents = text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
        let first = text
            .lines()
            .zip(indents)
            .find(|(line, indent)| !indent.is_empty() && line[indent.len()..].starts_with(['"', '{']));
        Self { end: line_end(text), unit: first.map_or("  ", |(_, indent)| indent).to_owned() }
    }

    /// A member or an element: on lines of their own, moved in by `depth`, or on one line.
    pub(super) fn member(&self, key: Option<&str>, tree: &Tree, depth: Option<&str>) -> String {
        let value = self.value(tree, depth);
        key.map_or(value.clone(), |key| format!("{}: {value}", quoted(key)))
    }

    /// A value.
    pub(super) fn value(&self, tree: &Tree, depth: Option<&str>) -> String {
        let deeper = depth.map(|depth| format!("{depth}{}", self.unit));
        let (open, close, children): (_, _, Vec<String>) = match tree {
            Tree::Text(text) => return quoted(text),
            Tree::Flag(flag) => return flag.to_string(),
            Tree::Number(number) => return number.to_string(),
            Tree::List(list) => {
                ("[", "]", list.iter().map(|child| self.member(None, child, deeper.as_deref())).collect())
            }
            Tree::Table(members) => {
                let written = members.iter().map(|(key, child)| self.member(Some(key), child, deeper.as_deref()));
                ("{", "}", written.collect())
            }
        };
        let end = self.end;
        match (depth, deeper) {
            _ if children.is_empty() => [open, close].concat(),
            (Some(depth), Some(deeper)) => {
                let lines = children.join(&format!(",{end}{deeper}"));
                format!("{open}{end}{deeper}{lines}{end}{depth}{close}")
            }
            _ => format!("{open} {} {close}", children.join(", ")),
        }
    }
}

/// Where the comma is that follows a value, if one does.
pub(super) fn comma(text: &str, from: usize) -> Option<usize> {
    let (at, _) = skip(text, from);
    text[at..].starts_with(',').then_some(at)
}

/// The white space at the beginning of a place's line.
pub(super) fn indent(text: &str, place: usize) -> &str {
    let line = &text[text[..place].rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The end of white space and comments, and whether the last comment reaches to the end of its line.
fn skip(text: &str, from: usize) -> (usize, bool) {
    let mut at = from;
    let mut is_line = false;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            is_line = true;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            is_line = false;
        } else {
            return (at, is_line);
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
