//! Edits of TOML that somebody else wrote: one table is put in, kept up to date or taken out, and no other byte changes.
//!
//! The table goes to the end of the file, behind an empty line; a file that does not end with a line end stays so. So what
//! was put in is taken out to the byte.

use std::ops::Range;

use toml_edit::{Document, Item, Table, Value};

use super::tree::{Edited, Tree, Unfit, line_end};

/// Makes the table `[parent.name]` say what `members` say. Its other keys stay as they are.
pub(super) fn put(text: Option<&str>, parent: &str, name: &str, members: &[(&str, Tree)]) -> Edited {
    let Some(old) = text else { return Ok(Some(block(parent, name, members, "\n") + "\n")) };
    let document = read(old)?;
    let new = match entry(&document, parent, name)? {
        Some(table) => updated(old, table, members),
        None => appended(old, &block(parent, name, members, line_end(old))),
    };
    // A table cannot be added everywhere: what is written must be what is read.
    read(&new).and_then(|document| entry(&document, parent, name).map(|_| ())).map_err(|_| {
        let what = format!("`[{parent}.{name}]` cannot be added to it");
        Unfit::form(what, format!("write `{parent}` as tables, `[{parent}.NAME]`; nothing was changed"))
    })?;
    Ok(Some(new))
}

/// Takes the table out, with the tables below it. Nothing is left of a file that had nothing else from the beginning.
pub(super) fn remove(text: Option<&str>, parent: &str, name: &str) -> Edited {
    let Some(old) = text else { return Ok(None) };
    let document = read(old)?;
    let Some(table) = entry(&document, parent, name)? else { return Ok(Some(old.to_owned())) };
    let mut blocks = Vec::new();
    collect(old, table, &mut blocks);
    blocks.sort_by_key(|range| range.start);
    let is_all = blocks.first().is_some_and(|first| first.start == 0);
    let mut new = old.to_owned();
    for block in blocks.into_iter().rev() {
        new.replace_range(with_gap(old, block), "");
    }
    Ok((!new.trim().is_empty() || !is_all).then_some(new))
}

/// Whether the table has one of these keys.
pub(super) fn has(text: Option<&str>, parent: &str, name: &str, keys: &[&str]) -> Result<bool, Unfit> {
    let document = read(text.unwrap_or_default())?;
    Ok(entry(&document, parent, name)?.is_some_and(|table| keys.iter().any(|key| table.contains_key(key))))
}

fn read(text: &str) -> Result<Document<&str>, Unfit> {
    Document::parse(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| {
            let before = text.get(..span.start).unwrap_or(text);
            let column = before.rfind('\n').map_or(before, |at| &before[at + 1..]).chars().count() + 1;
            format!(" at line {}, column {column}", before.matches('\n').count() + 1)
        });
        let what = format!("it is not valid TOML ({}{place})", error.message().trim().replace('\n', ", "));
        Unfit::form(what, "correct that place, or move the file away; nothing was changed")
    })
}

/// The table, if it is there. One that is not written under its own header is nothing that can be edited here.
fn entry<'a>(document: &'a Document<&str>, parent: &str, name: &str) -> Result<Option<&'a Table>, Unfit> {
    let parent_item = match document.get(parent) {
        None => return Ok(None),
        Some(Item::Table(table)) => table.get(name),
        Some(_) => {
            let what = format!("`{parent}` is not written as tables");
            let cure = format!("write each server under a header of its own, `[{parent}.NAME]`; nothing was changed");
            return Err(Unfit::form(what, cure));
        }
    };
    match parent_item {
        None => Ok(None),
        Some(Item::Table(table)) if table.span().is_some() && !table.is_implicit() && !table.is_dotted() => {
            Ok(Some(table))
        }
        Some(_) => {
            let what = format!("`{parent}.{name}` is there in another form than under a header of its own");
            Err(Unfit::taken(what, format!("remove `{parent}.{name}` by hand and try again; nothing was changed")))
        }
    }
}

fn block(parent: &str, name: &str, members: &[(&str, Tree)], end: &str) -> String {
    let header = format!("[{parent}.{name}]");
    let lines = members.iter().map(|(key, value)| format!("{key} = {}", written(value)));
    [header].into_iter().chain(lines).collect::<Vec<_>>().join(end)
}

fn appended(old: &str, block: &str) -> String {
    let end = line_end(old);
    if old.is_empty() || old.ends_with('\n') {
        [old, end, block, end].concat()
    } else {
        [old, end, end, block].concat()
    }
}

fn updated(old: &str, table: &Table, members: &[(&str, Tree)]) -> String {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let behind_header = table.span().map_or(0, |span| line_after(old, span.end));
    let mut lead = if old[..behind_header].ends_with('\n') { "" } else { line_end(old) };
    for (key, tree) in members {
        match table.get(key) {
            Some(item) if item.as_value().is_some_and(|value| says(value, tree)) => {}
            Some(item) => edits.extend(item.span().map(|span| (span, written(tree)))),
            None => {
                let line = format!("{lead}{key} = {}{}", written(tree), line_end(old));
                edits.push((behind_header..behind_header, line));
                lead = "";
            }
        }
    }
    // From the end, so that places stay; what goes to the same place keeps its order.
    edits.sort_by_key(|(range, _)| range.start);
    edits.into_iter().rev().fold(old.to_owned(), |mut text, (range, new)| {
        text.replace_range(range, &new);
        text
    })
}

/// The lines of a table and of the tables below it.
fn collect(text: &str, table: &Table, blocks: &mut Vec<Range<usize>>) {
    // One that is only implied by others has no header.
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        let start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
        let end = last_value(table).unwrap_or(header.end).max(header.end);
        blocks.push(start..line_after(text, end));
    }
    for (_, item) in table {
        match item {
            Item::Table(below) => collect(text, below, blocks),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| collect(text, below, blocks)),
            _ => {}
        }
    }
}

/// Where the last value under a table's own header ends.
fn last_value(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(below) if below.is_dotted() => last_value(below),
        _ => None,
    });
    ends.max()
}

/// The beginning of the next line.
fn line_after(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

/// A block with the empty line before it. One that ends a file without a last line end has put its own there, too.
fn with_gap(text: &str, block: Range<usize>) -> Range<usize> {
    let end = line_end(text);
    let before = &text[..block.start];
    let without = before.strip_suffix(end).unwrap_or(before);
    let kept = if !text[..block.end].ends_with('\n') {
        without.strip_suffix(end).unwrap_or(without)
    } else if without.is_empty() || without.ends_with('\n') {
        without
    } else {
        before
    };
    kept.len()..block.end
}

fn says(value: &Value, tree: &Tree) -> bool {
    match (value, tree) {
        (Value::String(it), Tree::Text(text)) => it.value() == text,
        (Value::Boolean(it), Tree::Flag(flag)) => it.value() == flag,
        (Value::Integer(it), Tree::Number(number)) => *it.value() == i64::from(*number),
        (Value::Array(it), Tree::List(list)) => {
            it.len() == list.len() && it.iter().zip(list).all(|(value, tree)| says(value, tree))
        }
        _ => false,
    }
}

fn written(tree: &Tree) -> String {
    match tree {
        Tree::Text(text) => quoted(text),
        Tree::Flag(flag) => flag.to_string(),
        Tree::Number(number) => number.to_string(),
        Tree::List(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        Tree::Table(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key} = {}", written(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

/// A basic string: JSON's escapes are TOML's too, but for the delete character, which TOML wants escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
