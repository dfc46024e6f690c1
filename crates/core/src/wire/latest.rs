//! Lines of the latest version.

use std::borrow::Cow;
use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::upcast::{LATEST, upcast};
use crate::apply::Operation;
use crate::event::{Event, Record};
use crate::id::{Fingerprint, OperationId};
use crate::moment::Moment;
use crate::party::Party;
use crate::reply::Envelope;
use crate::spelt;
use crate::stream::Stream;

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

/// What is known of a line without reading what happened: enough to tell whether it must be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The seq of its record.
    pub seq: u64,
    /// The stream that it belongs to.
    pub stream: Stream,
    /// Its place among the events of its stream; 1 for the one that opened it.
    pub version: u64,
    /// How many lines follow that belong to the same batch.
    pub more: u32,
    /// The operation that it closes.
    pub operation: Option<OperationId>,
    /// Its checksum.
    pub crc: u32,
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

/// A line but for its reply and its checksum.
struct Written<'a>(&'a Line);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Line { record, more, operation } = self.0;
        let mut fields = serializer.serialize_struct("Line", 11)?;
        fields.serialize_field("v", &LATEST)?;
        record.write(&mut fields)?;
        if *more > 0 {
            fields.serialize_field("more", more)?;
        }
        if let Some(operation) = operation {
            fields.serialize_field("fingerprint", &operation.fingerprint)?;
        }
        fields.end()
    }
}

#[derive(Deserialize)]
struct Read<'a> {
    seq: u64,
    stream: Stream,
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
    fingerprint: Option<Fingerprint>,
    #[serde(default, borrow)]
    reply: Option<&'a RawValue>,
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Record", 8)?;
        self.write(&mut fields)?;
        fields.end()
    }
}

impl Record {
    fn write<S: SerializeStruct>(&self, fields: &mut S) -> Result<(), S::Error> {
        struct Data<'a>(&'a Event);
        impl Serialize for Data<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize_data(serializer)
            }
        }
        fields.serialize_field("seq", &self.seq)?;
        fields.serialize_field("stream", &self.stream)?;
        fields.serialize_field("version", &self.version)?;
        fields.serialize_field("at", &self.at)?;
        fields.serialize_field("by", &self.by)?;
        fields.serialize_field("operation_id", &self.operation_id)?;
        fields.serialize_field("type", self.event.type_name())?;
        fields.serialize_field("data", &Data(&self.event))
    }
}

/// Appends the line to `out`, with its checksum, which is returned, and its end of line.
pub fn encode(line: &Line, out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    spelt::append(&Written(line), out);
    out.pop();
    if let Some(operation) = &line.operation {
        // It is JSON already.
        out.extend_from_slice(b",\"reply\":");
        out.extend_from_slice(operation.reply.as_str().as_bytes());
    }
    let sum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(seal(sum).as_bytes());
    sum
}

/// A record as `querent events` shows it: the line without what only the journal needs.
pub fn encode_record(record: &Record) -> String {
    spelt::text(record)
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
    let (text, _) = latest(line)?;
    let it: Read<'_> = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let event = Event::read_data(&it.kind, it.data.get())
        .ok_or_else(|| unknown(&it.kind))?
        .map_err(|error| unreadable(&error))?;
    let operation = match (&it.operation_id, it.fingerprint, it.reply) {
        (Some(id), Some(fingerprint), Some(reply)) => {
            Some(Operation { id: id.clone(), fingerprint, reply: Envelope::from_text(reply.get().to_owned()) })
        }
        _ => None,
    };
    let Read { seq, stream, version, at, by, operation_id, more, .. } = it;
    Ok(Line { record: Record { seq, stream, version, at, by, operation_id, event }, more, operation })
}

/// Reads the head of a line, without its end of line. Costs a fraction of [`decode`]; the checksum is checked all the same.
pub fn peek(line: &[u8]) -> Result<Head, Damage> {
    let (text, crc) = latest(line)?;
    if let Some(head) = front(&text, crc) {
        return Ok(head);
    }
    // Nobody wrote it like that but by hand; or it cannot be read, and this says why.
    let Line { record, more, operation } = decode(line)?;
    let (seq, stream, version) = (record.seq, record.stream, record.version);
    Ok(Head { seq, stream, version, more, operation: operation.map(|it| it.id), crc })
}

/// The head of a line whose fields stand as [`encode`] writes them, in order and without escapes; nothing of any other.
fn front(line: &str, crc: u32) -> Option<Head> {
    let mut rest = line;
    let mut value = |key: &str| {
        let (value, after) = match rest.strip_prefix(key)?.strip_prefix('"') {
            Some(text) => text.split_at(text.find('"')?),
            None => rest[key.len()..].split_at(rest[key.len()..].find(',')?),
        };
        rest = after.trim_start_matches('"');
        (!value.contains('\\')).then_some(value)
    };
    let seq = value("{\"v\":1,\"seq\":")?;
    let stream = value(",\"stream\":")?;
    let version = value(",\"version\":")?;
    let (_, _) = (value(",\"at\":")?, value(",\"by\":")?);
    let operation = match value(",\"operation_id\":")? {
        "null" => None,
        id => Some(id.parse().ok()?),
    };
    let kind = value(",\"type\":")?;
    // A batch of more lines than one bears its operation on the last; and a line that others follow ends in a number.
    let (body, _) = unseal(line.as_bytes())?;
    let digits = body.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let more = if digits == 0 { 0 } else { str::from_utf8(&body[body.len() - digits..]).ok()?.parse().ok()? };
    let head = Head {
        seq: seq.parse().ok()?,
        stream: stream.parse().ok()?,
        version: version.parse().ok()?,
        more,
        operation: operation.filter(|_| more == 0),
        crc,
    };
    Event::TYPES.contains(&kind).then_some(head)
}

/// The text of a line as the latest version writes it, and its checksum.
fn latest(line: &[u8]) -> Result<(Cow<'_, str>, u32), Damage> {
    let (body, sum) = unseal(line).ok_or(Damage::Torn)?;
    if crc32fast::hash(body) != sum {
        return Err(Damage::Torn);
    }
    let text = std::str::from_utf8(line).map_err(|_| Damage::Torn)?;
    // The version is the first field, so the common case needs no look at the rest.
    if text.starts_with("{\"v\":1,") && LATEST == 1 {
        return Ok((text.into(), sum));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    let version = value["v"].as_u64().and_then(|v| u32::try_from(v).ok());
    let known = version.filter(|v| (1..=LATEST).contains(v));
    let Some(latest) = known.and_then(|v| upcast(value.clone(), v)) else {
        return Err(Damage::Unreadable(format!(
            "it is of version {}, and this querent reads up to {LATEST}; use a newer querent",
            value["v"]
        )));
    };
    Ok((latest.to_string().into(), sum))
}

fn unreadable(error: &serde_json::Error) -> Damage {
    Damage::Unreadable(error.to_string())
}

fn unknown(kind: &str) -> Damage {
    Damage::Unreadable(format!("its type `{kind}` is unknown; use a newer querent"))
}
