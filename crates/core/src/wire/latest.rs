//! Lines of the latest version.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::upcast::{LATEST, upcast};
use crate::apply::Operation;
use crate::event::{Event, Record};
use crate::id::{ItemId, OperationId};
use crate::moment::Moment;
use crate::party::Party;
use crate::reply::Envelope;

/// A record with what the journal keeps beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The record.
    pub record: Record,
    /// How many lines follow that belong to the same batch.
    pub more: u32,
    /// The operation; on the last line of its batch.
    pub operation: Option<Operation>,
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is not the line that was written.
    Torn,
    /// It is what was written, but not a line that this version can read.
    Unreadable(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Torn => write!(f, "its checksum does not fit"),
            Self::Unreadable(why) => write!(f, "{why}"),
        }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    #[serde(flatten)]
    record: &'a Record,
    #[serde(skip_serializing_if = "is_zero")]
    more: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a RawValue>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(more: &u32) -> bool {
    *more == 0
}

#[derive(Deserialize)]
struct Read<'a> {
    seq: u64,
    stream: ItemId,
    version: u64,
    at: Moment,
    by: Party,
    operation_id: Option<OperationId>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(default)]
    more: u32,
    #[serde(default)]
    fingerprint: Option<String>,
    #[serde(default, borrow)]
    reply: Option<&'a RawValue>,
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Data<'a>(&'a Event);
        impl Serialize for Data<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize_data(serializer)
            }
        }
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Record", 8)?;
        fields.serialize_field("seq", &self.seq)?;
        fields.serialize_field("stream", &self.stream)?;
        fields.serialize_field("version", &self.version)?;
        fields.serialize_field("at", &self.at)?;
        fields.serialize_field("by", &self.by)?;
        fields.serialize_field("operation_id", &self.operation_id)?;
        fields.serialize_field("type", self.event.type_name())?;
        fields.serialize_field("data", &Data(&self.event))?;
        fields.end()
    }
}

/// Appends the line to `out`, with its checksum and its end of line.
pub fn encode(line: &Line, out: &mut Vec<u8>) {
    let start = out.len();
    let reply = line.operation.as_ref().and_then(|it| serde_json::from_str(it.reply.as_str()).ok());
    let written = Written {
        v: LATEST,
        record: &line.record,
        more: line.more,
        fingerprint: line.operation.as_ref().map(|it| it.fingerprint.as_str()),
        reply,
    };
    // Serializing these types into memory does not fail.
    let _ = serde_json::to_writer(&mut *out, &written);
    out.pop();
    let sum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(seal(sum).as_bytes());
}

/// A record as `querent events` shows it: the line without what only the journal needs.
pub fn encode_record(record: &Record) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

/// What closes a line with this checksum.
pub fn seal(sum: u32) -> String {
    format!(",\"crc\":\"{sum:08x}\"}}\n")
}

/// The body of a line (without its end of line) and the checksum that it bears.
pub fn unseal(line: &[u8]) -> Option<(&[u8], u32)> {
    let (body, seal) = line.split_at_checked(line.len().checked_sub(18)?)?;
    let hex = seal.strip_prefix(b",\"crc\":\"")?.strip_suffix(b"\"}")?;
    // One spelling for one sum: a capital letter or a sign is damage.
    hex.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).then_some(())?;
    let sum = u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
    Some((body, sum))
}

/// Reads a line, without its end of line.
pub fn decode(line: &[u8]) -> Result<Line, Damage> {
    let (body, sum) = unseal(line).ok_or(Damage::Torn)?;
    if crc32fast::hash(body) != sum {
        return Err(Damage::Torn);
    }
    let text = std::str::from_utf8(line).map_err(|_| Damage::Torn)?;
    // The version is the first field, so the common case needs no look at the rest.
    if text.starts_with("{\"v\":1,") && LATEST == 1 {
        return read(text);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| Damage::Unreadable(error.to_string()))?;
    let version = value["v"].as_u64().and_then(|v| u32::try_from(v).ok());
    let known = version.filter(|v| (1..=LATEST).contains(v));
    let Some(latest) = known.and_then(|v| upcast(value.clone(), v)) else {
        return Err(Damage::Unreadable(format!(
            "it is of version {}, and this querent reads up to {LATEST}; use a newer querent",
            value["v"]
        )));
    };
    read(&latest.to_string())
}

fn read(text: &str) -> Result<Line, Damage> {
    let unreadable = |error: serde_json::Error| Damage::Unreadable(error.to_string());
    let it: Read<'_> = serde_json::from_str(text).map_err(unreadable)?;
    let event = match Event::read_data(&it.kind, it.data.get()) {
        Some(event) => event.map_err(unreadable)?,
        None => return Err(Damage::Unreadable(format!("its type `{}` is unknown; use a newer querent", it.kind))),
    };
    let operation = match (&it.operation_id, it.fingerprint, it.reply) {
        (Some(id), Some(fingerprint), Some(reply)) => {
            Some(Operation { id: id.clone(), fingerprint, reply: Envelope::from_text(reply.get().to_owned()) })
        }
        _ => None,
    };
    let Read { seq, stream, version, at, by, operation_id, more, .. } = it;
    Ok(Line { record: Record { seq, stream, version, at, by, operation_id, event }, more, operation })
}
