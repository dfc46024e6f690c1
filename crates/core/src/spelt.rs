//! JSON: what `serde_json` writes, to the byte, at less cost. Lines of the log, replies and what commands
//! are known by are spelt here, which is a good part of what a command costs.

mod order;
mod speller;

use std::io;

use serde::Serialize;

use crate::eight;
use order::Order;
use speller::Speller;

/// How long a text is at most, with its quotes, for the short way.
const SHORT: usize = 40;

/// Appends a value as compact JSON.
pub(crate) fn append(value: &impl Serialize, out: &mut Vec<u8>) {
    // Serializing our types into memory does not fail.
    let _ = value.serialize(&mut Speller::new(out, None));
}

/// A value as compact JSON.
pub(crate) fn bytes(value: &impl Serialize) -> Vec<u8> {
    // Most of what is spelt fits into this.
    let mut out = Vec::with_capacity(512);
    append(value, &mut out);
    out
}

/// The same as text.
pub(crate) fn text(value: &impl Serialize) -> String {
    String::from_utf8(bytes(value)).unwrap_or_default()
}

/// The same with the keys of every object in order; none of what cannot be spelt.
pub(crate) fn in_order(value: &impl Serialize) -> Option<String> {
    let mut out = Vec::with_capacity(512);
    value.serialize(&mut Speller::with(Order::default(), &mut out)).ok()?;
    String::from_utf8(out).ok()
}

/// Writes a value as compact JSON. Of one that is long, only a part is in memory at a time.
pub(crate) fn write(value: &impl Serialize, mut into: impl io::Write) -> io::Result<()> {
    let mut out = Vec::new();
    let mut speller = Speller::new(&mut out, Some(&mut into));
    let _ = value.serialize(&mut speller);
    speller.finish()
}

/// Appends a text in quotes.
#[inline(never)]
fn quote(text: &str, out: &mut Vec<u8>) {
    let text = text.as_bytes();
    let mut piece = [b'"'; SHORT];
    if let Some([_, between @ .., _]) = piece.get_mut(..text.len() + 2)
        && !is_escaped(text)
    {
        // It is added as a whole: each time that something is, it is looked whether there is room.
        between.copy_from_slice(text);
        return out.extend_from_slice(&piece[..text.len() + 2]);
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(text, out);
    out.push(b'"');
}

/// Whether something in a text does not stand for itself.
fn is_escaped(text: &[u8]) -> bool {
    eight::any(text, |eight| eight::below(eight, 0x20) | eight::same(eight, b'"') | eight::same(eight, b'\\'))
}

/// Appends a text as it stands between quotes.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    if !is_escaped(text) {
        return out.extend_from_slice(text);
    }
    let mut rest = text;
    while let Some(at) = rest.iter().position(|sign| is_special(*sign)) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\\');
        match rest[at] {
            sign @ (b'"' | b'\\') => out.push(sign),
            b'\n' => out.push(b'n'),
            b'\r' => out.push(b'r'),
            b'\t' => out.push(b't'),
            0x08 => out.push(b'b'),
            0x0c => out.push(b'f'),
            control => {
                let digit = |half: u8| b"0123456789abcdef"[usize::from(half & 15)];
                out.extend_from_slice(&[b'u', b'0', b'0', digit(control >> 4), digit(control)]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Whether a sign does not stand for itself.
fn is_special(sign: u8) -> bool {
    matches!(sign, 0..0x20 | b'"' | b'\\')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::ser::SerializeMap;
    use serde_json::{Value, json};

    use super::*;

    /// Every kind of thing that can be spelt.
    #[derive(Serialize)]
    struct All<'a> {
        text: &'a str,
        numbers: (i8, u64, i128, f32, f64),
        none: Option<u8>,
        a_field_whose_name_is_longer_than_others: (),
        unit: (),
        marker: Marker,
        sign: char,
        kinds: [Kind<'a>; 4],
        keys: BTreeMap<i32, bool>,
        #[serde(serialize_with = "displayed")]
        displayed: &'a str,
        #[serde(flatten)]
        rest: BTreeMap<&'a str, Value>,
    }

    #[derive(Serialize)]
    struct Marker;

    #[derive(Serialize)]
    enum Kind<'a> {
        Plain,
        Newtype(&'a str),
        Tuple(u8, &'a str),
        Fields { text: &'a str },
    }

    fn displayed<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(text)
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from);
            let fields = prop::collection::btree_map(any::<String>(), inner, 0..8);
            prop_oneof![list, fields.prop_map(|it| Value::Object(it.into_iter().collect()))]
        })
    }

    /// Objects in objects, in no order of their keys, of which some may be there twice.
    struct Twice<'a> {
        value: &'a Value,
        keys: &'a [String],
    }

    impl Serialize for Twice<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let inner = Kind::Tuple(1, "two");
            let pairs = self.keys.iter().enumerate().map(|(place, key)| (key, (place, &inner, self.value)));
            let outer: Vec<_> =
                self.keys.iter().rev().map(String::as_str).chain(["z", "b", "displayed", "b"]).collect();
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry("pairs", &Pairs(pairs.collect()))?;
            for key in outer {
                map.serialize_entry(key, &Kind::Fields { text: key })?;
            }
            map.end()
        }
    }

    struct Pairs<K, V>(Vec<(K, V)>);

    impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
        }
    }

    proptest! {
        #[test]
        fn whatever_is_spelt_is_what_serde_json_writes(
            value in any_value(), text in "[\\x00-\\x7f\u{80}-\u{10ff}]{0,40}", number in any::<f64>()
        ) {
            let all = All {
                text: &text,
                numbers: (-1, u64::MAX, i128::MIN, 0.1, number),
                none: None,
                a_field_whose_name_is_longer_than_others: (),
                unit: (),
                marker: Marker,
                sign: text.chars().next().unwrap_or('"'),
                kinds: [Kind::Plain, Kind::Newtype(&text), Kind::Tuple(0, &text), Kind::Fields { text: &text }],
                keys: BTreeMap::from([(-1, true), (7, false)]),
                displayed: &text,
                rest: BTreeMap::from([("rest", value)]),
            };
            prop_assert_eq!(super::text(&all), serde_json::to_string(&all).unwrap());
        }

        #[test]
        fn what_is_spelt_in_order_is_what_a_sorted_tree_is(
            value in any_value(), keys in prop::collection::vec("[\\x00-\\x7f\u{80}-\u{10ff}]{0,3}", 0..40)
        ) {
            let one = Twice { value: &value, keys: &keys };
            let sorted = serde_json::to_value(&one).map(crate::canonical::sorted).unwrap();
            prop_assert_eq!(in_order(&one).unwrap(), sorted.to_string());
        }
    }

    /// Says how much it was given at once, at most.
    #[derive(Default)]
    struct Parts(Vec<u8>, usize);

    impl io::Write for Parts {
        fn write(&mut self, part: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(part);
            self.1 = self.1.max(part.len());
            Ok(part.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_list_is_written_in_parts() {
        let list: Vec<Value> = (0..20_000).map(|number| json!({ "number": number, "text": "a text" })).collect();
        let mut parts = Parts::default();

        write(&list, &mut parts).unwrap();

        assert_eq!(parts.0, serde_json::to_vec(&list).unwrap());
        assert!(parts.1 < parts.0.len() / 4, "{} of {} at once", parts.1, parts.0.len());
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let mut room = [0; 10];
        assert!(write(&"a text that is too long", &mut room[..]).is_err());
        assert!(write(&vec!["long"; 100_000], &mut room[..]).is_err());
    }

    #[test]
    fn every_sign_is_escaped_wherever_it_stands() {
        for sign in (0..=0x7f).map(char::from) {
            for at in 0..20 {
                let text = format!("{}{sign}{}", "x".repeat(at), "y".repeat(20 - at));
                assert_eq!(super::text(&text), json!(text).to_string(), "{sign:?} at {at}");
            }
        }
    }
}
