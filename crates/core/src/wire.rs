//! The stored format of the journal: one event a line, as JSON, with a version and a checksum. Only this module knows it.
//!
//! A line is `{"v":1,"seq":…,…,"crc":"0a1b2c3d"}`. The checksum covers all that stands before `,"crc"`. Lines of older
//! versions are brought up to date as they are read (`upcast`); a line of a newer version is refused.

mod latest;
mod upcast;

pub use latest::{Damage, Head, Line, decode, encode, encode_record, peek, seal, unseal};
pub use upcast::LATEST;
