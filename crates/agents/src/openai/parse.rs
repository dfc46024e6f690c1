//! What the events of a streamed response mean. Pure.

use serde::Deserialize;

use crate::api::{Fault, Heard, Reading};
use crate::run::FailureKind;
use crate::signal::Usage;

/// A response that is being read.
#[derive(Debug, Default)]
pub(crate) struct Response {
    has_text: bool,
    has_refused: bool,
}

/// The events that say something to us.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Event {
    #[serde(rename = "response.output_text.delta")]
    Text { delta: String },
    #[serde(rename = "response.refusal.delta", alias = "response.refusal.done")]
    Refusal {},
    #[serde(rename = "response.completed")]
    Completed { response: Object },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Object },
    #[serde(rename = "response.failed")]
    Failed { response: Object },
    /// Its fields stand in the event itself; some put them below `error`, as everywhere else.
    #[serde(rename = "error")]
    Error { error: Option<Complaint>, code: Option<String>, message: Option<String> },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Object {
    usage: Option<Tokens>,
    error: Option<Complaint>,
    incomplete_details: Option<Details>,
    #[serde(default)]
    output: Vec<Output>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

#[derive(Debug, Default, Deserialize)]
struct Complaint {
    code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Details {
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Output {
    #[serde(default)]
    content: Option<Vec<Part>>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    OutputText {
        text: String,
    },
    #[serde(other)]
    Other,
}

impl Reading for Response {
    fn read(&mut self, data: &str) -> Heard {
        // The end of streams of an older kind, which some servers still append.
        if data == "[DONE]" {
            return Heard::default();
        }
        let Ok(event) = serde_json::from_str::<Event>(data) else {
            return Heard::fault(FailureKind::Unreadable, "an event of the reply cannot be read");
        };
        match event {
            Event::Text { delta } => {
                self.has_text = true;
                Heard { text: delta, ..Heard::default() }
            }
            Event::Refusal {} => {
                self.has_refused = true;
                Heard::default()
            }
            Event::Completed { response } => self.completed(response),
            Event::Incomplete { response } => {
                let reason = response.incomplete_details.and_then(|it| it.reason).unwrap_or_default();
                let heard = match reason.as_str() {
                    "max_output_tokens" => Heard::fault(FailureKind::TooMuch, "the reply was cut off at `max_tokens`"),
                    "content_filter" => Heard::fault(FailureKind::Refused, "the reply was stopped by a content filter"),
                    _ => Heard::fault(FailureKind::Unreadable, format!("the reply is not whole ({reason})")),
                };
                Heard { usage: response.usage.map(Into::into), ..heard }
            }
            Event::Failed { response } => {
                let fault = response.error.unwrap_or_default().fault();
                Heard { usage: response.usage.map(Into::into), end: Some(Err(fault)), ..Heard::default() }
            }
            Event::Error { error, code, message } => {
                let complaint = error.unwrap_or(Complaint { code, message, kind: None });
                Heard { end: Some(Err(complaint.fault())), ..Heard::default() }
            }
            Event::Other => Heard::default(),
        }
    }
}

impl Response {
    fn completed(&self, response: Object) -> Heard {
        let usage = response.usage.map(Into::into);
        if self.has_refused && !self.has_text {
            return Heard { usage, ..Heard::fault(FailureKind::Refused, "the model refused") };
        }
        // A server that streams nothing but the end says the text there.
        let parts = response.output.into_iter().filter_map(|output| output.content).flatten();
        let text = parts.filter_map(|part| match part {
            Part::OutputText { text } if !self.has_text => Some(text),
            Part::OutputText { .. } | Part::Other => None,
        });
        Heard { text: text.collect(), usage, end: Some(Ok(())) }
    }
}

impl Complaint {
    fn fault(self) -> Fault {
        let code = self.code.or(self.kind).unwrap_or_default();
        let status = match code.as_str() {
            "server_error" => Some(500),
            "overloaded_error" | "server_is_overloaded" | "slow_down" => Some(503),
            "rate_limit_exceeded" => Some(429),
            _ => None,
        };
        let message = self.message.unwrap_or_else(|| "the model failed".to_owned());
        Fault { kind: FailureKind::Refused, message: format!("{message} ({code})"), status }
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self { input_tokens: tokens.input_tokens, output_tokens: tokens.output_tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> Vec<Heard> {
        let mut response = Response::default();
        events.iter().map(|event| response.read(event)).collect()
    }

    fn last(events: &[&str]) -> Heard {
        read(events).pop().unwrap()
    }

    #[test]
    fn a_response_is_its_text_and_what_it_cost() {
        let heard = read(&[
            r#"{"type":"response.created","response":{"id":"resp_1","status":"in_progress","usage":null}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hel"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"lo"}"#,
            r#"{"type":"response.output_text.done","text":"Hello"}"#,
            r#"{"type":"response.completed","response":{"status":"completed","error":null,"incomplete_details":null,
                "output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"Hello"}]}],
                "usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":0},"output_tokens":11,"total_tokens":48}}}"#,
            "[DONE]",
        ]);
        assert_eq!(heard.iter().map(|it| it.text.as_str()).collect::<String>(), "Hello");
        assert_eq!(heard[5].usage, Some(Usage { input_tokens: 37, output_tokens: 11 }));
        assert_eq!(heard[5].end, Some(Ok(())));
        assert!(heard[..5].iter().all(|it| it.end.is_none()));
    }

    #[test]
    fn a_server_that_streams_nothing_says_the_text_at_the_end() {
        let heard = last(&[r#"{"type":"response.completed","response":{"output":[{"type":"message","content":
            [{"type":"output_text","text":"Hi"},{"type":"refusal","refusal":"no"}]}]}}"#]);
        assert_eq!((heard.text.as_str(), heard.end), ("Hi", Some(Ok(()))));
    }

    #[test]
    fn a_refusal_is_no_reply() {
        let events =
            [r#"{"type":"response.refusal.delta","delta":"I"}"#, r#"{"type":"response.completed","response":{}}"#];
        assert_eq!(last(&events).end.unwrap().unwrap_err().kind, FailureKind::Refused);
    }

    #[test]
    fn a_reply_that_is_not_whole_is_none_and_still_costs() {
        for (reason, kind) in [
            ("max_output_tokens", FailureKind::TooMuch),
            ("content_filter", FailureKind::Refused),
            ("x", FailureKind::Unreadable),
        ] {
            let heard = last(&[&format!(
                r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"{reason}"}},
                    "usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#
            )]);
            assert_eq!(heard.usage, Some(Usage { input_tokens: 1, output_tokens: 2 }));
            assert_eq!(heard.end.unwrap().unwrap_err().kind, kind, "{reason}");
        }
    }

    #[test]
    fn an_error_may_come_in_three_forms() {
        for event in [
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"Why"}}}"#,
            r#"{"type":"error","code":"server_error","message":"Why","param":null}"#,
            r#"{"type":"error","error":{"type":"server_error","code":null,"message":"Why"}}"#,
        ] {
            let fault = last(&[event]).end.unwrap().unwrap_err();
            assert_eq!((fault.status, fault.message.as_str()), (Some(500), "Why (server_error)"), "{event}");
        }
    }

    #[test]
    fn what_is_no_event_is_a_fault() {
        for data in ["", "{", "[]", r#"{"type":"response.output_text.delta"}"#, r#"{"no":"type"}"#] {
            assert_eq!(last(&[data]).end.unwrap().unwrap_err().kind, FailureKind::Unreadable, "{data}");
        }
    }
}
