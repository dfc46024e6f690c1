//! A map for the many: what is found in it costs the same however much there is, and its order is that of insertion.

use std::hash::BuildHasherDefault;

use indexmap::IndexMap;
use siphasher::sip::SipHasher13;

/// A hash table without randomness.
pub(crate) type Table<K, V> = IndexMap<K, V, BuildHasherDefault<SipHasher13>>;
