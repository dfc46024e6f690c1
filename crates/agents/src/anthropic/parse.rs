//! What the events of a streamed message mean. Pure.

use serde::Deserialize;

use crate::api::{Fault, Heard, Reading};
use crate::run::FailureKind;
use crate::signal::Usage;

/// A message that is being read.
#[derive(Debug, Default)]
pub(crate) struct Message {
    usage: Usage,
    stop_reason: Option<String>,
}

/// The events that say something to us; blocks of thinking, pings and whatever else will be added say nothing.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        content_block: Content,
    },
    ContentBlockDelta {
        delta: Content,
    },
    MessageDelta {
        delta: Delta,
        usage: Option<Tokens>,
    },
    MessageStop,
    Error {
        error: Complaint,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Start {
    usage: Option<Tokens>,
}

/// A block, or more of it.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    #[serde(alias = "text_delta")]
    Text { text: String },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Delta {
    stop_reason: Option<String>,
}

/// All are totals of the message so far.
#[derive(Debug, Deserialize)]
struct Tokens {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cached_now: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cached_before: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Complaint {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

impl Reading for Message {
    fn read(&mut self, data: &str) -> Heard {
        let Ok(event) = serde_json::from_str::<Event>(data) else {
            return Heard::fault(FailureKind::Unreadable, "an event of the reply cannot be read");
        };
        match event {
            Event::MessageStart { message } => self.counted(message.usage.as_ref()),
            Event::ContentBlockStart { content_block: Content::Text { text } }
            | Event::ContentBlockDelta { delta: Content::Text { text } } => Heard { text, ..Heard::default() },
            Event::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.counted(usage.as_ref())
            }
            Event::MessageStop => self.stopped(),
            Event::Error { error } => {
                let fault = Fault { kind: FailureKind::Refused, message: error.to_string(), status: error.status() };
                Heard { end: Some(Err(fault)), ..Heard::default() }
            }
            Event::ContentBlockStart { .. } | Event::ContentBlockDelta { .. } | Event::Other => Heard::default(),
        }
    }
}

impl Message {
    fn counted(&mut self, tokens: Option<&Tokens>) -> Heard {
        let Some(tokens) = tokens else { return Heard::default() };
        let read = [tokens.input, tokens.cached_now, tokens.cached_before];
        if tokens.input.is_some() {
            // What came from a cache was read too.
            self.usage.input_tokens = read.iter().flatten().fold(0, |sum, more| sum.saturating_add(*more));
        }
        self.usage.output_tokens = tokens.output.unwrap_or(self.usage.output_tokens);
        Heard { usage: Some(self.usage), ..Heard::default() }
    }

    fn stopped(&self) -> Heard {
        match self.stop_reason.as_deref() {
            // Those who imitate the API do not all say why they stop.
            None | Some("end_turn" | "stop_sequence") => Heard { end: Some(Ok(())), ..Heard::default() },
            Some("refusal") => Heard::fault(FailureKind::Refused, "the model refused"),
            Some("max_tokens") => Heard::fault(FailureKind::TooMuch, "the reply was cut off at `max_tokens`"),
            Some(reason) => Heard::fault(FailureKind::Unreadable, format!("the model stopped for `{reason}`")),
        }
    }
}

impl Complaint {
    /// The status that this error has where it comes before the stream.
    fn status(&self) -> Option<u16> {
        match self.kind.as_str() {
            "overloaded_error" => Some(529),
            "api_error" => Some(500),
            "timeout_error" => Some(504),
            "rate_limit_error" => Some(429),
            _ => None,
        }
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> Vec<Heard> {
        let mut message = Message::default();
        events.iter().map(|event| message.read(event)).collect()
    }

    fn last(events: &[&str]) -> Heard {
        read(events).pop().unwrap()
    }

    #[test]
    fn a_message_is_its_text_and_what_it_cost() {
        let heard = read(&[
            r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":10,
                "cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#,
            r#"{"type":"message_stop"}"#,
        ]);
        assert_eq!(heard.iter().map(|it| it.text.as_str()).collect::<String>(), "Hello");
        let usages: Vec<Usage> = heard.iter().filter_map(|it| it.usage).collect();
        assert_eq!(
            usages,
            [Usage { input_tokens: 22, output_tokens: 1 }, Usage { input_tokens: 22, output_tokens: 15 }]
        );
        assert_eq!(heard.last().unwrap().end, Some(Ok(())));
        assert!(heard[..heard.len() - 1].iter().all(|it| it.end.is_none()));
    }

    #[test]
    fn thinking_and_tools_and_what_will_be_added_say_nothing() {
        for event in [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
            r#"{"type":"something_new","delta":7}"#,
        ] {
            assert_eq!(last(&[event]), Heard::default(), "{event}");
        }
    }

    #[test]
    fn a_reply_that_is_not_whole_is_none() {
        for (reason, kind) in [
            ("refusal", FailureKind::Refused),
            ("max_tokens", FailureKind::TooMuch),
            ("tool_use", FailureKind::Unreadable),
            ("pause_turn", FailureKind::Unreadable),
        ] {
            let delta = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
            let heard = last(&[&delta, r#"{"type":"message_stop"}"#]);
            let fault = heard.end.unwrap().unwrap_err();
            assert_eq!((fault.kind, fault.status), (kind, None), "{reason}");
        }
    }

    #[test]
    fn an_error_has_the_status_that_it_has_elsewhere() {
        for (kind, status) in
            [("overloaded_error", Some(529)), ("api_error", Some(500)), ("invalid_request_error", None)]
        {
            let heard = last(&[&format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"Why"}}}}"#)]);
            let fault = heard.end.unwrap().unwrap_err();
            assert_eq!((fault.status, fault.message), (status, format!("Why ({kind})")));
        }
    }

    #[test]
    fn what_is_no_event_is_a_fault() {
        for data in ["", "{", "[]", "[DONE]", r#"{"type":"message_delta"}"#, r#"{"no":"type"}"#] {
            assert_eq!(last(&[data]).end.unwrap().unwrap_err().kind, FailureKind::Unreadable, "{data}");
        }
    }
}
