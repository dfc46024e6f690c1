//! The name that was probably meant.

/// The known name that is nearest to `given`, if one is near enough to be a slip of the hand.
///
/// ```
/// assert_eq!(querent_core::nearest::of("enginer", ["engineer", "architect"]), Some("engineer"));
/// assert_eq!(querent_core::nearest::of("zebra", ["engineer", "architect"]), None);
/// ```
pub fn of<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
