//! What a call comes to, in the words of the protocol.

use querent_core::{Envelope, Refusal, canonical};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

/// What a tool says: data for programs, and the same in words for a model.
pub(crate) struct Said {
    data: Data,
    text: String,
}

enum Data {
    Tree(Value),
    /// An object as it is to be written, keys in order, for a transport that writes it so.
    Spelt(String),
}

/// Why a tool did not do it.
pub(crate) enum Halt {
    /// Refused. The model is told, with the cure.
    Refused(Box<Refusal>),
    /// The call itself is malformed, or was cancelled.
    Malformed(ErrorData),
    /// Not an end: the client does something first, or comes back for it.
    Other(Box<CallToolResponse>),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<ErrorData> for Halt {
    fn from(error: ErrorData) -> Self {
        Self::Malformed(error)
    }
}

impl Said {
    /// Says `data`, which is `text` in words.
    pub(crate) fn new(data: &impl Serialize, text: impl Into<String>) -> Self {
        Self { data: Data::Tree(serde_json::to_value(data).unwrap_or_default()), text: text.into() }
    }

    /// The same for a transport that takes data spelt already. A tree of it, whose keys are hashed and sorted, costs many times that.
    pub(crate) fn spelt(data: &impl Serialize, text: impl Into<String>) -> Self {
        match canonical::spelt(data) {
            Some(data) => Self { data: Data::Spelt(data), text: text.into() },
            None => Self::new(data, text),
        }
    }

    /// Says what the hub replied; `text` is told what stands at a place in it, like `/question_id`.
    pub(crate) fn reply(
        envelope: &Envelope,
        text: impl FnOnce(&dyn Fn(&str) -> String) -> String,
    ) -> Result<Self, Halt> {
        let data: Value = envelope.read()?;
        let text = text(&|place| data.pointer(place).map_or_else(String::new, plain));
        Ok(Self { data: Data::Tree(data), text })
    }

    /// Adds a field that only this surface has.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Data::Spelt(data) = &self.data {
            self.data = Data::Tree(serde_json::from_str(data).unwrap_or_default());
        }
        if let Data::Tree(Value::Object(data)) = &mut self.data {
            data.insert(field.to_owned(), value.into());
        }
        self
    }
}

impl From<Said> for CallToolResult {
    fn from(said: Said) -> Self {
        let mut result = Self::success(vec![ContentBlock::text(said.text)]);
        result.structured_content = Some(match said.data {
            Data::Tree(data) => canonical::sorted(data),
            Data::Spelt(data) => Value::String(data),
        });
        result
    }
}

/// A text as it is; several with commas between them.
fn plain(value: &Value) -> String {
    match value {
        Value::Array(several) => several.iter().map(plain).collect::<Vec<_>>().join(", "),
        text => text.as_str().unwrap_or_default().to_owned(),
    }
}

/// The protocol's form of what a tool came to.
pub(crate) fn response(outcome: Result<Said, Halt>) -> Result<CallToolResponse, ErrorData> {
    match outcome {
        Ok(said) => Ok(CallToolResult::from(said).into()),
        Err(Halt::Refused(refusal)) => Ok(refused(&refusal).into()),
        Err(Halt::Malformed(error)) => Err(error),
        Err(Halt::Other(response)) => Ok(*response),
    }
}

/// What stopped something that has no result of its own to tell it in.
pub(crate) fn response_error(halt: Halt) -> ErrorData {
    match halt {
        Halt::Refused(refusal) => told(&refusal),
        Halt::Malformed(error) => error,
        Halt::Other(_) => ErrorData::internal_error("there is nothing to wait for here", None),
    }
}

/// A refusal where the protocol knows errors only.
pub(crate) fn told(refusal: &Refusal) -> ErrorData {
    let message = format!("{}; {}", refusal.message, refusal.hint);
    let data = serde_json::to_value(refusal).ok().map(canonical::sorted);
    match refusal.code.exit_status() {
        3 => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_params(message, data),
    }
}

/// A refusal is a result, so that the model reads it.
fn refused(refusal: &Refusal) -> CallToolResult {
    let text = format!("{}: {}\nWhat to do: {}", refusal.code.as_str(), refusal.message, refusal.hint);
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = serde_json::to_value(refusal).ok().map(canonical::sorted);
    result
}
