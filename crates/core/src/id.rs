//! The names of things. A value of these types is well formed: parsing is the only way to make one.

use std::fmt;
use std::hash::Hasher;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Visitor;
use siphasher::sip128::{Hasher128, SipHasher13};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};

use crate::refusal::Refusal;

/// Stores a type as the text that it shows and is read from, without a copy of it. What is in every line says how it is had as a
/// text: the formatting machinery takes longer than the rest of a line.
macro_rules! stored_as_text {
    ($name:ident) => {
        $crate::id::stored_as_text!($name, self, serializer, serializer.collect_str(self));
    };
    ($name:ident, $it:ident => $text:expr) => {
        $crate::id::stored_as_text!($name, self, serializer, {
            let $it = self;
            serializer.serialize_str($text)
        });
    };
    ($name:ident, $self:ident, $serializer:ident, $written:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&$self, $serializer: S) -> Result<S::Ok, S::Error> {
                $written
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::id::Read(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use stored_as_text;

/// Reads what is stored as text.
pub(crate) struct Read<T>(pub(crate) PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Read<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Makes a string newtype whose every value passed `$check`.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $field:literal, $form:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(SmolStr);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<Self, Refusal> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(Refusal::malformed($field, text, $form))
                }
            }
        }

        stored_as_text!($name, it => it.as_str());

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// The id of an item: `42`, `login-page`.
    ItemId,
    "item",
    "1 to 64 of a-z, 0-9 and `-`, beginning with a letter or digit; `quota`, `knowledge`, `resources`, `alerts` and `access` are taken",
    |text| {
        let mut bytes = text.bytes();
        text.len() <= 64
            && !matches!(text, "quota" | "knowledge" | "resources" | "alerts" | "access")
            && bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }
);

name!(
    /// The name of an agent: a role that the config declares.
    AgentName,
    "agent",
    "1 to 64 of a-z, A-Z, 0-9, `_` and `-`, beginning with a letter or digit; `human` and `querent` are taken",
    |text| {
        let mut bytes = text.bytes();
        text.len() <= 64
            && bytes.next().is_some_and(|b| b.is_ascii_alphanumeric())
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && text != "human"
            && text != "querent"
    }
);

name!(
    /// The id of a session: one running instance of an agent on an item.
    SessionId,
    "session",
    "1 to 200 visible characters without spaces",
    |text| !text.is_empty() && text.chars().count() <= 200 && !text.chars().any(|c| c.is_whitespace() || c.is_control())
);

name!(
    /// The id that makes a mutating call happen once, however often it is sent.
    OperationId,
    "operation_id",
    "1 to 200 visible characters without spaces",
    |text| !text.is_empty() && text.chars().count() <= 200 && !text.chars().any(|c| c.is_whitespace() || c.is_control())
);

name!(
    /// What an agent's program calls one of its own sessions, by which it can be resumed.
    ProgramHandle,
    "handle",
    "1 to 200 of a-z, A-Z, 0-9, `_`, `.`, `:` and `-`, beginning with a letter or digit",
    |text| {
        // It becomes an argument of the program, and so must not look like an option.
        text.len() <= 200
            && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(&b))
    }
);

name!(
    /// The name of an event that agents listen to: `spec.approved`.
    EventName,
    "event",
    "1 to 100 of a-z, 0-9, `_`, `.` and `-`, beginning with a letter",
    |text| {
        text.len() <= 100
            && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b))
    }
);

name!(
    /// What a channel is called through which people are notified.
    ChannelName,
    "channel",
    "1 to 32 of a-z, 0-9, `_` and `-`, beginning with a letter or digit",
    |text| {
        let mut bytes = text.bytes();
        text.len() <= 32
            && bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    }
);

impl ChannelName {
    /// That of a channel that has none: `ntfy`, then `ntfy-2`.
    pub(crate) fn of(kind: &str, number: u32) -> Self {
        Self(if number == 1 { kind.into() } else { format_smolstr!("{kind}-{number}") })
    }
}

impl SessionId {
    /// The session of an agent that names none: `engineer@42`.
    pub fn of(agent: &AgentName, item: &ItemId) -> Self {
        Self(format_smolstr!("{agent}@{item}"))
    }
}

impl OperationId {
    /// That of a call to which nobody gave one, from a number that no other call has.
    pub fn of(number: u128) -> Self {
        let mut text = *b"op-00000000000000000000000000000000";
        text[3..].copy_from_slice(&Fingerprint(number).digits());
        Self(str::from_utf8(&text).unwrap_or_default().into())
    }
}

/// The decimal digits of a number, three at least, and where they begin.
fn digits(mut number: u32) -> ([u8; 10], usize) {
    let (mut digits, mut first) = ([b'0'; 10], 10);
    while number > 0 || first > 7 {
        first -= 1;
        digits[first] += u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
    (digits, first)
}

/// Makes an id that names its item and a place among the item's things of a kind.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $field:literal, $form:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// The item that it belongs to.
            pub item: ItemId,
            /// 1 for the item's first.
            pub number: u32,
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.text())
            }
        }

        impl $name {
            fn text(&self) -> SmolStr {
                let mut text = SmolStrBuilder::new();
                text.push_str(concat!($prefix, "-"));
                text.push_str(self.item.as_str());
                text.push('-');
                let (digits, first) = digits(self.number);
                digits[first..].iter().for_each(|digit| text.push(char::from(*digit)));
                text.finish()
            }
        }

        impl FromStr for $name {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<Self, Refusal> {
                let parse = || {
                    let (item, number) = text.strip_prefix(concat!($prefix, "-"))?.rsplit_once('-')?;
                    let id = Self { item: item.parse().ok()?, number: number.parse().ok()? };
                    // One spelling for one thing: no zero, no sign, no missing or extra padding.
                    (id.number > 0 && id.text() == text).then_some(id)
                };
                parse().ok_or_else(|| Refusal::malformed($field, text, $form))
            }
        }

        stored_as_text!($name, it => &it.text());
    };
}

numbered!(
    /// The id of a question, `CLR-<item>-<NNN>`: its item and its place among the item's questions.
    QuestionId,
    "CLR",
    "question_id",
    "CLR-<item>-<NNN>, like CLR-42-001"
);

numbered!(
    /// The id of an assumption, `ASM-<item>-<NNN>`: its item and its place among the item's assumptions.
    AssumptionId,
    "ASM",
    "assumption_id",
    "ASM-<item>-<NNN>, like ASM-42-001"
);

/// Makes an id that is a place among all things of a kind in the project.
macro_rules! counted {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $field:literal, $form:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// 1 for the first.
            pub u32,
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!(concat!($prefix, "-{:03}"), self.0))
            }
        }

        impl FromStr for $name {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<Self, Refusal> {
                let parsed = text.strip_prefix(concat!($prefix, "-")).and_then(|number| number.parse().ok()).map(Self);
                let one_spelling = parsed.filter(|id| id.0 > 0 && id.to_string() == text);
                one_spelling.ok_or_else(|| Refusal::malformed($field, text, $form))
            }
        }

        stored_as_text!($name);
    };
}

counted!(
    /// The id of a learned answer, `LRN-<NNN>`: its place among all that was learned.
    LearnedId,
    "LRN",
    "learned_id",
    "LRN-<NNN>, like LRN-001"
);

counted!(
    /// The id of an alert, `ALR-<NNN>`: its place among all that were raised.
    AlertId,
    "ALR",
    "alert_id",
    "ALR-<NNN>, like ALR-001"
);

counted!(
    /// The id of a token, `TOK-<NNN>`: its place among all that were made.
    TokenId,
    "TOK",
    "token_id",
    "TOK-<NNN>, like TOK-001"
);

name!(
    /// What a secret is known by without being kept: its SHA-256, in 64 hexadecimal digits.
    SecretHash,
    "hash",
    "64 hexadecimal digits in lower case",
    |text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
);

name!(
    /// The name of a component that shows that it is alive: a session, a runner, a bridge.
    ComponentName,
    "component",
    "1 to 200 visible characters without spaces",
    |text| !text.is_empty() && text.chars().count() <= 200 && !text.chars().any(|c| c.is_whitespace() || c.is_control())
);

/// What a text is known by without keeping it: 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(bytes);
        Self(hasher.finish128().as_u128())
    }
}

impl Fingerprint {
    fn digits(self) -> [u8; 32] {
        let mut text = [0; 32];
        for (place, byte) in self.0.to_be_bytes().into_iter().enumerate() {
            text[2 * place] = HEX[usize::from(byte >> 4)];
            text[2 * place + 1] = HEX[usize::from(byte & 15)];
        }
        text
    }
}

const HEX: [u8; 16] = *b"0123456789abcdef";

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl FromStr for Fingerprint {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let number = u128::from_str_radix(text, 16).ok().map(Self);
        let one_spelling = number.filter(|number| number.to_string() == text);
        one_spelling.ok_or_else(|| Refusal::malformed("fingerprint", text, "32 hexadecimal digits"))
    }
}

stored_as_text!(Fingerprint, it => str::from_utf8(&it.digits()).unwrap_or_default());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_id_names_its_item_even_where_the_item_has_dashes() {
        let id: QuestionId = "CLR-login-page-2-007".parse().unwrap();

        assert_eq!(id.item.as_str(), "login-page-2");
        assert_eq!(id.number, 7);
        assert_eq!(id.to_string(), "CLR-login-page-2-007");
    }

    #[test]
    fn an_operation_that_has_only_a_number_is_called_by_it() {
        let id = OperationId::of(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);

        assert_eq!(id.as_str(), "op-0123456789abcdef0123456789abcdef");
        assert_eq!(OperationId::of(7).to_string().parse::<OperationId>().unwrap(), OperationId::of(7));
    }

    #[test]
    fn a_question_id_grows_past_three_digits() {
        let id = QuestionId { item: "42".parse().unwrap(), number: 10_000 };

        assert_eq!(id.to_string(), "CLR-42-10000");
        assert_eq!("CLR-42-10000".parse::<QuestionId>().unwrap(), id);
    }

    #[test]
    fn a_question_id_has_one_spelling() {
        for text in
            ["", "CLR-42", "CLR-42-1", "CLR-42-0001", "CLR-42-000", "clr-42-001", "CLR--001", "CLR-A-001", "CLR-42-+01"]
        {
            let refusal = text.parse::<QuestionId>().unwrap_err();
            assert_eq!(refusal.code, crate::Code::InvalidInput, "{text}");
            assert!(refusal.message.contains("question_id"), "{}", refusal.message);
        }
    }

    #[test]
    fn an_item_id_is_a_safe_file_name() {
        for text in ["", ".", "..", "a/b", "A", "-a", "a b", "é", &"a".repeat(65)] {
            assert!(text.parse::<ItemId>().is_err(), "{text}");
        }
        assert!("a".repeat(64).parse::<ItemId>().is_ok());
    }

    #[test]
    fn no_agent_is_called_human() {
        assert!("human".parse::<AgentName>().is_err());
        assert!("querent".parse::<AgentName>().is_err());
        assert!("human-factors".parse::<AgentName>().is_ok());
    }
}
