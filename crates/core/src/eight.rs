//! Bytes of a text, looked at eight at a time: what is in every text costs an eighth of what it would one by one.
//!
//! A test for eight gets them as one number, the first in its lowest bits, and sets the highest bit of each that it is true for. Behind
//! the first one that it is true for it may err: whether there is one and where the first is, is certain.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHEST: u64 = ONES * 0x80;

/// Those that are below the limit, which is at most 0x80.
pub(crate) fn below(eight: u64, limit: u8) -> u64 {
    eight.wrapping_sub(ONES * u64::from(limit)) & !eight & HIGHEST
}

/// Those that are this one.
pub(crate) fn same(eight: u64, byte: u8) -> u64 {
    below(eight ^ (ONES * u64::from(byte)), 1)
}

/// Those that are not ASCII.
pub(crate) fn foreign(eight: u64) -> u64 {
    eight & HIGHEST
}

/// Whether there is one for which the test is true.
pub(crate) fn any(bytes: &[u8], test: impl Fn(u64) -> u64) -> bool {
    let (blocks, rest) = bytes.as_chunks();
    let test = |block: [u8; 8]| test(u64::from_le_bytes(block));
    match bytes.last_chunk() {
        // The last eight may overlap with those before them.
        Some(last) => blocks.iter().fold(test(*last), |found, block| found | test(*block)) != 0,
        None => rest.first().is_some_and(|byte| {
            let mut eight = [*byte; 8];
            eight.iter_mut().zip(rest).for_each(|(one, byte)| *one = *byte);
            test(eight) != 0
        }),
    }
}

/// Where the first is for which the test is true.
pub(crate) fn position(bytes: &[u8], test: impl Fn(u64) -> u64) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (place, block) in blocks.iter().chain([&last]).enumerate() {
        let found = test(u64::from_le_bytes(*block));
        if found != 0 {
            let first = 8 * place + usize::try_from(found.trailing_zeros() / 8).unwrap_or_default();
            return (first < bytes.len()).then_some(first);
        }
    }
    None
}

/// A text of ASCII in lower case.
pub(crate) fn lower_case(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (blocks, rest) = bytes.as_chunks_mut();
    for block in blocks {
        let eight = u64::from_ne_bytes(*block);
        // Each is below 0x80, so that no sum passes on to the next.
        let from = |letter: u8| eight.wrapping_add(ONES * u64::from(0x80 - letter));
        let capitals = from(b'A') & !from(b'Z' + 1) & HIGHEST;
        *block = (eight | capitals >> 2).to_ne_bytes();
    }
    rest.make_ascii_lowercase();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts in which every byte stands at every place of eight, alone and before others.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        (0..=255_u8).flat_map(|byte| {
            (0..20).flat_map(move |place| {
                let before = vec![b'm'; place];
                [vec![byte], vec![byte, 0, 255, byte], vec![byte; 9]].map(|found| [before.clone(), found].concat())
            })
        })
    }

    #[test]
    fn what_eight_show_is_what_one_by_one_shows() {
        shows(|eight| below(eight, 0x20), |byte| byte < 0x20);
        shows(|eight| same(eight, b'?'), |byte| byte == b'?');
        shows(|eight| same(eight, b'?') | same(eight, b'!'), |byte| byte == b'?' || byte == b'!');
        shows(foreign, |byte| !byte.is_ascii());
    }

    fn shows(test: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) {
        for text in texts().chain([vec![]]) {
            let first = text.iter().position(|byte| is(*byte));
            assert_eq!((position(&text, &test), any(&text, &test)), (first, first.is_some()), "{text:?}");
        }
    }

    #[test]
    fn every_character_of_ascii_has_its_lower_case_wherever_it_stands() {
        for text in texts().filter_map(|text| String::from_utf8(text).ok()).filter(|text| text.is_ascii()) {
            assert_eq!(lower_case(&text), text.to_ascii_lowercase());
            let capitals = format!("{}Z[@A`a{text}", text.to_ascii_uppercase());
            assert_eq!(lower_case(&capitals), capitals.to_ascii_lowercase());
        }
    }
}
