//! JSON in memory. Most of what is written are single signs, and none of them is worth a call.

use std::io::{self, Write};

use serde::Serialize;

/// Appends a value as compact JSON.
pub(crate) fn append(value: &impl Serialize, out: &mut Vec<u8>) {
    // Serializing our types into memory does not fail.
    let _ = serde_json::to_writer(Page(out), value);
}

struct Page<'a>(&'a mut Vec<u8>);

impl Write for Page<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [sign] => self.0.push(*sign),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
