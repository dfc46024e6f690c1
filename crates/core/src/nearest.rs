//! The name that was probably meant.

/// The known name that is nearest to `given`; none only if none is known.
///
/// ```
/// assert_eq!(querent_core::nearest::of("enginer", ["architect", "engineer"]), Some("engineer"));
/// assert_eq!(querent_core::nearest::of("43", ["7", "42"]), Some("42"));
/// assert_eq!(querent_core::nearest::of("43", []), None);
/// ```
pub fn of<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name));
    // Of several that are equally near, the first.
    scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, name)| name)
}
