//! Server-sent events, as the HTML standard has them: bytes in pieces of any size, events out. Pure.

use thiserror::Error;

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What it is called; empty if it is not.
    pub(crate) name: String,
    /// What it says; its lines are joined by line feeds.
    pub(crate) data: String,
}

/// An event is larger than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an event is larger than it may be")]
pub(crate) struct TooLarge;

/// Reads events from bytes that come in pieces.
#[derive(Debug)]
pub(crate) struct Parser {
    /// The most bytes that are kept while an event is not whole.
    most: usize,
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return, so a line feed that comes next belongs to it.
    after_return: bool,
    is_first_line: bool,
}

impl Parser {
    /// A parser of events of at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            after_return: false,
            is_first_line: true,
        }
    }

    /// The events that these bytes complete. What stands after the last blank line is kept, and an event that is never
    /// completed never was.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ if self.line.len() + self.event.data.len() + self.event.name.len() >= self.most => {
                    return Err(TooLarge);
                }
                _ => self.line.push(byte),
            }
        }
        Ok(events)
    }

    /// Takes a line in; a blank one completes an event, if there is something to it.
    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let is_first = std::mem::replace(&mut self.is_first_line, false);
        let line = if is_first { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment (its field is empty), `id` and `retry`: we never come back for the rest of a stream.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    fn whole(text: &str) -> Vec<Event> {
        Parser::new(1 << 20).feed(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_event_has_a_name_and_data() {
        assert_eq!(whole("event: ping\ndata: {}\n\n"), [event("ping", "{}")]);
        assert_eq!(whole("data:{}\n\n"), [event("", "{}")]);
    }

    #[test]
    fn lines_of_data_are_joined_and_only_one_space_is_dropped() {
        assert_eq!(whole("data: a\ndata:  b\ndata\ndata:c\n\n"), [event("", "a\n b\n\nc")]);
    }

    #[test]
    fn every_end_of_line_of_the_standard_is_one() {
        let expected = [event("x", "1"), event("", "2")];
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(whole(&"event: x|data: 1||data: 2||".replace('|', end)), expected, "{end:?}");
        }
    }

    #[test]
    fn comments_other_fields_and_events_without_data_say_nothing() {
        assert_eq!(whole(": hello\n\nid: 7\nretry: 10\nevent: x\n\nunknown: 1\ndata: 1\n\n"), [event("", "1")]);
    }

    #[test]
    fn an_event_that_is_not_completed_never_was() {
        assert_eq!(whole("data: 1\n\ndata: 2\n"), [event("", "1")]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(whole("\u{feff}data: 1\n\n"), [event("", "1")]);
    }

    #[test]
    fn what_is_no_utf8_is_replaced() {
        let events = Parser::new(100).feed(b"data: \xff\n\n").unwrap();
        assert_eq!(events, [event("", "\u{fffd}")]);
    }

    #[test]
    fn an_event_may_be_so_large_and_no_larger() {
        let mut parser = Parser::new(10);
        assert_eq!(parser.feed(b"data: 1234\n\ndata: 1234\n\n").unwrap().len(), 2);
        assert_eq!(Parser::new(10).feed(b"data: 12345\n\n"), Err(TooLarge));
        assert_eq!(Parser::new(10).feed(b"data: 123\ndata: 123\ndata: 123\n\n"), Err(TooLarge));
    }

    #[test]
    fn lines_without_data_do_not_add_up() {
        let mut parser = Parser::new(16);
        for _ in 0..100 {
            assert_eq!(parser.feed(b": stay\n"), Ok(Vec::new()));
        }
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_makes_no_difference(
            text in "(data|event|id|:|)(:|: |)[a-zé]{0,4}(\n|\r|\r\n|\n\n|\r\n\r\n|\r\r)(data: [a-zé]{0,3}(\n|\r|\r\n|\n\n|\r\n\r\n|\r\r)){0,6}",
            cuts in prop::collection::vec(1_usize..7, 0..80),
        ) {
            let mut parser = Parser::new(1 << 20);
            let mut rest = text.as_bytes();
            let mut events = Vec::new();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                events.extend(parser.feed(piece).unwrap());
                rest = after;
            }
            events.extend(parser.feed(rest).unwrap());
            prop_assert_eq!(events, whole(&text));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let by_one: Vec<Event> = {
                let mut parser = Parser::new(1 << 20);
                bytes.iter().flat_map(|byte| parser.feed(&[*byte]).unwrap()).collect()
            };
            prop_assert_eq!(by_one, Parser::new(1 << 20).feed(&bytes).unwrap());
        }
    }
}
