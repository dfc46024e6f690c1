//! Any program: it reads its prompt, and prints a text, the JSON lines of a worker, or both.

use serde_json::Value;

use super::profile::{Call, Exit, Reader};
use crate::normalise;
use crate::program::Said;
use crate::run::Failure;
use crate::signal::Signal;

/// It is called as the config says.
pub(super) fn call(given: &[String]) -> Call {
    Call { arguments: given.to_vec(), env: Vec::new() }
}

/// Reads what it prints.
#[derive(Debug, Default)]
pub(super) struct Generic {
    said: Said,
    /// Whether it said in a line what it came to.
    has_ended: bool,
}

impl Reader for Generic {
    fn line(&mut self, line: &str) -> Vec<Signal> {
        let signals = protocol(line);
        match &signals {
            None => {
                self.said.push(line);
                self.said.push("\n");
            }
            Some(signals) => {
                self.has_ended |= signals.iter().any(|it| matches!(it, Signal::Request(_) | Signal::Result(_)));
            }
        }
        signals.unwrap_or_default()
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Result<Vec<Signal>, Failure> {
        exit.check()?;
        Ok(if self.has_ended { Vec::new() } else { normalise::final_text(self.said.text()) })
    }
}

/// What a line means that was meant for us; none if it is a line of text.
fn protocol(line: &str) -> Option<Vec<Signal>> {
    if !line.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str::<Value>(line) {
        Ok(said) if said["type"].is_string() => Some(normalise::value(said)),
        Ok(_) => None,
        Err(_) => line.trim_start().starts_with("{\"type\"").then(|| normalise::line(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::TurnResult;

    fn read(lines: &[&str]) -> Vec<Signal> {
        let mut reader = Box::new(Generic::default());
        let mut signals: Vec<Signal> = lines.iter().flat_map(|line| reader.line(line)).collect();
        let exit = Exit { program: "agent".to_owned(), code: Some(0), signal: None, complaints: String::new() };
        signals.extend(reader.finish(&exit).unwrap());
        signals
    }

    #[test]
    fn a_text_is_what_it_came_to() {
        let text = TurnResult::Text("Use cookies.\n\n{\"a\": 1}".to_owned());
        assert_eq!(read(&["Use cookies.", "", "{\"a\": 1}"]), [Signal::Result(text)]);
    }

    #[test]
    fn lines_are_signals_and_text_beside_a_result_is_left_out() {
        let done = Signal::Result(TurnResult::Done { summary: String::new(), artifacts: vec![] });
        let said = read(&["Hello", r#"{"type":"NOTE","text":"n"}"#, r#"{"type":"RESULT","result":{"status":"done"}}"#]);
        assert_eq!(said, [Signal::Note("n".to_owned()), done]);
    }

    #[test]
    fn a_result_may_stand_on_many_lines() {
        let answer = TurnResult::Answer { answer: "jwt".into(), evidence: None, uncertainty: None };
        assert_eq!(read(&["{", "  \"answer\": \"jwt\"", "}"]), [Signal::Result(answer)]);
    }

    #[test]
    fn broken_and_foreign_lines_are_ignored() {
        let said = read(&["{\"type\":\"NOTE\",", "{\"type\":\"assistant\"}", "done"]);
        assert!(matches!(&said[..], [Signal::Ignored(_), Signal::Ignored(_), Signal::Result(TurnResult::Text(_))]));
    }
}
