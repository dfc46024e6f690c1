//! What a text says that a program ends with.

use serde_json::Value;

use super::{LONGEST_LINE, is_worker_line, result, value};
use crate::signal::{Signal, TurnResult};

/// What a program's last words mean: the lines of a worker that they are, or that stand in their last fenced block of JSON;
/// there a result may also stand by itself. Else they are a [text](TurnResult::Text), whose meaning others know.
///
/// A request is an end as well: whoever asks waits. Notes, plans, patches and what is ignored are none, and the text then
/// stands beside them.
pub fn final_text(text: &str) -> Vec<Signal> {
    let said = structured(text).or_else(|| last_block(text).and_then(|block| structured(&block)));
    let (mut signals, is_end) = said.unwrap_or_default();
    if !is_end {
        signals.push(Signal::Result(TurnResult::Text(text.trim().to_owned())));
    }
    signals
}

/// The signals of a text that is one line of a worker, several, or a bare result; and whether they end the turn.
fn structured(text: &str) -> Option<(Vec<Signal>, bool)> {
    let text = text.trim();
    if text.len() > LONGEST_LINE || !text.starts_with('{') {
        return None;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(one) if is_worker_line(&one) => Some(worker_line(one)),
        Ok(one) => bare_result(one).map(|signals| (signals, true)),
        Err(_) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str::<Value>);
            let lines = lines.map(|line| line.ok().filter(is_worker_line)).collect::<Option<Vec<_>>>()?;
            let said = lines.into_iter().map(worker_line);
            Some(said.fold((Vec::new(), false), |(mut all, is_end), (signals, ends)| {
                all.extend(signals);
                (all, is_end || ends)
            }))
        }
    }
}

fn worker_line(said: Value) -> (Vec<Signal>, bool) {
    let may_end = matches!(said["type"].as_str(), Some("REQUEST" | "RESULT"));
    let signals = value(said);
    // A question without a prompt is not taken for work that is done.
    let is_end = may_end && signals.iter().any(|signal| !matches!(signal, Signal::Ignored(_)));
    (signals, is_end)
}

/// A result without the line around it. JSON that holds anything else is something that the text is about.
fn bare_result(said: Value) -> Option<Vec<Signal>> {
    let Value::Object(fields) = said else { return None };
    result(fields).ok().filter(|signals| signals.len() == 1)
}

/// The last fenced block that is JSON by its name, or has none and begins like it. One that is not closed ends with the text.
fn last_block(text: &str) -> Option<String> {
    let mut last = None;
    let mut open: Option<Block<'_>> = None;
    for line in text.lines() {
        let marks = line.trim().bytes().take_while(|byte| *byte == b'`').count();
        let info = line.trim().get(marks..).unwrap_or_default().trim();
        match &mut open {
            Some(block) if marks >= block.marks && info.is_empty() => {
                last = open.take().and_then(Block::json).or(last);
            }
            Some(block) => block.lines.push(line),
            None if marks >= 3 => open = Some(Block { marks, info, lines: Vec::new() }),
            None => {}
        }
    }
    open.and_then(Block::json).or(last)
}

/// A fenced block.
struct Block<'a> {
    marks: usize,
    info: &'a str,
    lines: Vec<&'a str>,
}

impl Block<'_> {
    /// What it holds, if that ought to be JSON.
    fn json(self) -> Option<String> {
        let held = self.lines.join("\n");
        let is_named = ["json", "jsonl"].iter().any(|name| self.info.eq_ignore_ascii_case(name));
        (is_named || self.info.is_empty() && held.trim_start().starts_with('{')).then_some(held)
    }
}
