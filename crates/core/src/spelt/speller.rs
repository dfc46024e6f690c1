//! Every type of `serde` as compact JSON.

use std::fmt::{self, Display, Write};
use std::io;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::order::{AsTheyCome, Keys};
use super::{escape, quote};

/// How much is kept in memory of what is written elsewhere.
const MOST: usize = 64 << 10;

/// How long a field's name is at most, with what stands around it, for the usual way.
const SHORT: usize = 40;

/// What JSON is appended to.
pub(super) struct Speller<'a, K = AsTheyCome> {
    out: &'a mut Vec<u8>,
    /// Where it goes from there, if it does not stay in memory, until that fails.
    into: Option<&'a mut dyn io::Write>,
    failed: io::Result<()>,
    /// In which order keys stand.
    keys: K,
}

/// A value that cannot be written: one whose own code says so.
#[derive(Debug)]
pub(super) struct Unspeakable;

/// A list or an object under way, and what closes it.
pub(super) struct Open<'s, 'a, K> {
    speller: &'s mut Speller<'a, K>,
    is_empty: bool,
    close: &'static [u8],
}

impl Display for Unspeakable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it cannot be written")
    }
}

impl std::error::Error for Unspeakable {}

impl Error for Unspeakable {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl<'s, 'a, K: Keys> Open<'s, 'a, K> {
    fn new(speller: &'s mut Speller<'a, K>, open: u8, close: &'static [u8]) -> Self {
        speller.out.push(open);
        if open == b'{' {
            speller.keys.open();
        }
        Self { speller, is_empty: true, close }
    }

    /// One that is the only value of an object, whose key is the name of a variant.
    fn variant(speller: &'s mut Speller<'a, K>, name: &str, open: u8, close: &'static [u8]) -> Self {
        speller.begin_variant(name);
        Self::new(speller, open, close)
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unspeakable> {
        self.separate();
        value.serialize(&mut *self.speller)
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unspeakable> {
        self.name(key);
        value.serialize(&mut *self.speller)
    }

    /// The names of fields are ours, and stand for themselves. Once for all fields of all types, which are many.
    #[inline(never)]
    fn name(&mut self, key: &'static str) {
        let mut piece = [0; SHORT];
        let Some([comma, rest @ ..]) = piece.get_mut(..key.len() + 4) else { return self.long_name(key) };
        // It is added as a whole: each time that something is, it is looked whether there is room.
        *comma = b',';
        let [quote, between @ .., end, colon] = rest else { return };
        (*quote, *end, *colon) = (b'"', b'"', b':');
        between.copy_from_slice(key.as_bytes());
        let comma = usize::from(self.is_first());
        let from = self.speller.out.len() + 1 - comma;
        self.speller.out.extend_from_slice(&piece[comma..key.len() + 4]);
        self.speller.keys.add(key, from);
    }

    #[cold]
    fn long_name(&mut self, key: &'static str) {
        self.separate();
        let from = self.speller.out.len();
        quote(key, self.speller.out);
        self.speller.out.push(b':');
        self.speller.keys.add(key, from);
    }

    fn separate(&mut self) {
        if !self.is_first() {
            self.speller.out.push(b',');
        }
    }

    /// Whether nothing stands in it yet; from now on something does.
    fn is_first(&mut self) -> bool {
        if self.speller.out.len() > MOST {
            self.speller.pass_on();
        }
        std::mem::replace(&mut self.is_empty, false)
    }

    fn close(self) {
        if self.close[0] == b'}' {
            self.speller.keys.close(self.speller.out);
        }
        self.speller.out.extend_from_slice(self.close);
    }
}

impl<'a> Speller<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, into: Option<&'a mut dyn io::Write>) -> Self {
        Self { out, into, failed: Ok(()), keys: AsTheyCome }
    }
}

impl<'a, K: Keys> Speller<'a, K> {
    /// One into memory, with the keys of its objects in an order.
    pub(super) fn with(keys: K, out: &'a mut Vec<u8>) -> Self {
        Self { out, into: None, failed: Ok(()), keys }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.pass_on();
        self.failed
    }

    #[cold]
    fn pass_on(&mut self) {
        let Some(into) = &mut self.into else { return };
        if self.failed.is_ok() {
            self.failed = into.write_all(self.out);
        }
        self.out.clear();
    }

    fn begin_variant(&mut self, name: &str) {
        self.out.push(b'{');
        quote(name, self.out);
        self.out.push(b':');
    }

    /// Numbers are few, and `serde_json` knows best how they are spelt.
    fn number(&mut self, number: &impl Serialize) -> Result<(), Unspeakable> {
        serde_json::to_writer(&mut *self.out, number).map_err(|_| Unspeakable)
    }
}

macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, number: $type) -> Result<(), Unspeakable> {
            self.number(&number)
        })*
    };
}

impl<'s, 'a, K: Keys> Serializer for &'s mut Speller<'a, K> {
    type Ok = ();
    type Error = Unspeakable;
    type SerializeSeq = Open<'s, 'a, K>;
    type SerializeTuple = Open<'s, 'a, K>;
    type SerializeTupleStruct = Open<'s, 'a, K>;
    type SerializeTupleVariant = Open<'s, 'a, K>;
    type SerializeMap = Open<'s, 'a, K>;
    type SerializeStruct = Open<'s, 'a, K>;
    type SerializeStructVariant = Open<'s, 'a, K>;

    numbers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unspeakable> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Unspeakable> {
        quote(value.encode_utf8(&mut [0; 4]), self.out);
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Unspeakable> {
        quote(value, self.out);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unspeakable> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Unspeakable> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unspeakable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unspeakable> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unspeakable> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Unspeakable> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unspeakable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unspeakable> {
        self.begin_variant(name);
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::new(self, b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::new(self, b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::new(self, b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::variant(self, name, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::new(self, b'{', b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::new(self, b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Open<'s, 'a, K>, Unspeakable> {
        Ok(Open::variant(self, name, b'{', b"}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Unspeakable> {
        struct Escaped<'a>(&'a mut Vec<u8>);
        impl Write for Escaped<'_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                escape(text.as_bytes(), self.0);
                Ok(())
            }
        }
        self.out.push(b'"');
        write!(Escaped(self.out), "{value}").map_err(|_| Unspeakable)?;
        self.out.push(b'"');
        Ok(())
    }
}

macro_rules! lists {
    ($($trait:ident::$method:ident),*) => {
        $(impl<K: Keys> $trait for Open<'_, '_, K> {
            type Ok = ();
            type Error = Unspeakable;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unspeakable> {
                self.element(value)
            }

            fn end(self) -> Result<(), Unspeakable> {
                self.close();
                Ok(())
            }
        })*
    };
}

lists! {
    SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
}

macro_rules! objects {
    ($($trait:ident),*) => {
        $(impl<K: Keys> $trait for Open<'_, '_, K> {
            type Ok = ();
            type Error = Unspeakable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unspeakable> {
                self.field(key, value)
            }

            fn end(self) -> Result<(), Unspeakable> {
                self.close();
                Ok(())
            }
        })*
    };
}

objects! { SerializeStruct, SerializeStructVariant }

impl<K: Keys> SerializeMap for Open<'_, '_, K> {
    type Ok = ();
    type Error = Unspeakable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unspeakable> {
        self.separate();
        let from = self.speller.out.len();
        key.serialize(&mut *self.speller)?;
        // A key is a text, also where it is a number.
        let out = &mut *self.speller.out;
        if out.get(from) != Some(&b'"') {
            out.insert(from, b'"');
            out.push(b'"');
        }
        self.speller.keys.add_spelt(&out[from..], from);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unspeakable> {
        self.speller.out.push(b':');
        value.serialize(&mut *self.speller)
    }

    fn end(self) -> Result<(), Unspeakable> {
        self.close();
        Ok(())
    }
}
