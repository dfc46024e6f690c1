//! The keys of objects in order, put so in the text itself: no tree is made of it, and nothing is hashed.

use std::cmp::Ordering;

/// What is told of the keys of every object that is spelt, and may move them.
pub(super) trait Keys {
    /// An object begins.
    fn open(&mut self) {}

    /// A key that stands for itself was written in quotes, from `start` on.
    fn add(&mut self, _key: &str, _start: usize) {}

    /// A key was written that may have escapes; it stands so, in its quotes, from `start` on.
    fn add_spelt(&mut self, _quoted: &[u8], _start: usize) {}

    /// An object is written but for its brace.
    fn close(&mut self, _out: &mut Vec<u8>) {}
}

/// Keys that stay where they are.
pub(super) struct AsTheyCome;

impl Keys for AsTheyCome {}

/// The objects under way whose keys are to be in order.
#[derive(Default)]
pub(super) struct Order {
    /// The entries of all of them, those of the innermost last.
    entries: Vec<Entry>,
    /// Where the entries of each begin.
    objects: Vec<usize>,
    /// Whether a key was spelt with escapes: then keys may stand in another order than their spellings.
    has_escapes: bool,
    /// Which entry came first, which next, in the last object that had to be put in order. In a list most objects have the
    /// same keys, so this is the order of the next one, too.
    known: Vec<usize>,
    /// Where the entries of an object are while they are put in order.
    spare: Vec<u8>,
}

/// A key with its value, as it stands in the text.
#[derive(Clone, Copy)]
struct Entry {
    /// The first bytes of the key as a number, which mostly says already which of two keys is first.
    head: u64,
    start: usize,
    /// Where the key ends, without its quotes.
    key_end: usize,
    end: usize,
}

impl Keys for Order {
    fn open(&mut self) {
        self.objects.push(self.entries.len());
    }

    fn add(&mut self, key: &str, start: usize) {
        self.begin(key.as_bytes(), start);
    }

    fn add_spelt(&mut self, quoted: &[u8], start: usize) {
        let key = &quoted[1..quoted.len() - 1];
        self.has_escapes |= key.contains(&b'\\');
        self.begin(key, start);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.end_last(out.len());
        let Some(first) = self.objects.pop() else { return };
        if self.has_escapes {
            self.arrange(first, out, |a, b, out| unescaped(a.key(out)).cmp(&unescaped(b.key(out))));
        } else {
            self.arrange(first, out, |a, b, out| a.head.cmp(&b.head).then_with(|| a.key(out).cmp(b.key(out))));
        }
        self.entries.truncate(first);
    }
}

impl Order {
    fn begin(&mut self, key: &[u8], start: usize) {
        // There is a comma between the two.
        self.end_last(start - 1);
        self.entries.push(Entry { head: head(key), start, key_end: start + 1 + key.len(), end: start });
    }

    /// Puts the entries of the object that is last in the text into the order of their keys.
    fn arrange(&mut self, first: usize, out: &mut Vec<u8>, compare: impl Fn(&Entry, &Entry, &[u8]) -> Ordering) {
        let Self { entries, known, spare, .. } = self;
        let entries = &entries[first..];
        let Some(begin) = entries.first().map(|entry| entry.start) else { return };
        let order = |a: usize, b: usize| compare(&entries[a], &entries[b], out);
        if (1..entries.len()).all(|place| order(place - 1, place).is_lt()) {
            return;
        }
        // An order without doubles is the only one there is.
        if known.len() != entries.len() || !known.is_sorted_by(|a, b| order(*a, *b).is_lt()) {
            known.clear();
            known.extend(0..entries.len());
            known.sort_unstable_by(|a, b| order(*a, *b).then(a.cmp(b)));
        }
        spare.clear();
        for (place, number) in known.iter().enumerate() {
            // Of a key that is there twice, the last value counts.
            if known.get(place + 1).is_none_or(|next| order(*number, *next).is_lt()) {
                let Entry { start, end, .. } = entries[*number];
                spare.extend_from_slice(&out[start..end]);
                spare.push(b',');
            }
        }
        spare.pop();
        out.truncate(begin);
        out.extend_from_slice(spare);
    }

    /// The last entry of the innermost object, if it has one, ends here.
    fn end_last(&mut self, at: usize) {
        let first = self.objects.last().copied().unwrap_or_default();
        if let Some(last) = self.entries[first..].last_mut() {
            last.end = at;
        }
    }
}

impl Entry {
    fn key<'a>(&self, out: &'a [u8]) -> &'a [u8] {
        &out[self.start + 1..self.key_end]
    }
}

fn head(key: &[u8]) -> u64 {
    key.first_chunk().copied().map_or_else(
        || key.iter().chain(&[0; 8]).take(8).fold(0, |head, byte| head << 8 | u64::from(*byte)),
        u64::from_be_bytes,
    )
}

/// A key as it was before it was spelt.
fn unescaped(key: &[u8]) -> String {
    serde_json::from_slice(&[b"\"", key, b"\""].concat()).unwrap_or_default()
}
