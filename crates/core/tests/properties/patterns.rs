//! How alike questions are, whatever they say.

use proptest::prelude::*;
use querent_core::{Category, Pattern, is_repeat, similarity};

use crate::config;

const WORDS: &[&str] =
    &["use", "the", "postgres", "mysql", "sessions", "session", "not", "42", "库", "кэш", ":", "#", "?"];

/// A question of a few words, so that many have some in common, or of anything at all.
fn pattern() -> impl Strategy<Value = Pattern> {
    let sentence = prop::collection::vec(prop::sample::select(WORDS), 0..6).prop_map(|words| words.join(" "));
    let tags = prop::collection::vec("[a-c#: ]{0,3}", 0..3);
    (prop_oneof![sentence, any::<String>()], tags, prop::sample::select(Category::ALL))
        .prop_map(|(prompt, tags, category)| Pattern::of(&prompt, &tags, category))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn likeness_is_symmetric_and_a_share(a in pattern(), b in pattern()) {
        let likeness = similarity(&a, &b);

        prop_assert!((0.0..=1.0).contains(&likeness), "{likeness}");
        prop_assert_eq!(likeness.to_bits(), similarity(&b, &a).to_bits());
        prop_assert_eq!(is_repeat(&a, &b), is_repeat(&b, &a));
    }

    #[test]
    fn a_question_is_itself_also_after_it_was_stored(a in pattern()) {
        let stored: Pattern = serde_json::from_str(&serde_json::to_string(&a).unwrap()).unwrap();

        prop_assert_eq!(&stored, &a);
        prop_assert_eq!(similarity(&a, &stored).to_bits(), 1.0_f64.to_bits());
        prop_assert!(is_repeat(&a, &stored));
    }

    #[test]
    fn only_equal_patterns_are_wholly_alike(a in pattern(), b in pattern()) {
        prop_assert_eq!(a == b, similarity(&a, &b) >= 1.0);
    }

    #[test]
    fn question_marks_and_spaces_do_not_matter(words in prop::collection::vec("[a-z0-9]{1,8}", 1..8)) {
        let plain = Pattern::of(&words.join(" "), &[], Category::Clarification);
        let other = Pattern::of(&format!(" {} ?!", words.join(",  ").to_uppercase()), &[], Category::Clarification);

        prop_assert_eq!(plain, other);
    }
}
