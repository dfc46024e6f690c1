//! Places in the project: files, directories and globs, and whether two of them overlap.

use std::fmt;
use std::str::FromStr;

use crate::id::stored_as_text;
use crate::refusal::Refusal;

/// A file, a directory or a glob, from the project's root: `src/auth.rs`, `src`, `src/**/*.rs`; the root itself is `.`.
///
/// It covers itself and whatever is below it. (What is called like a file, `x.txt`, is taken for no directory of a glob with
/// `**`: `docs/x.txt` has nothing to do with `docs/**/*.md`.) In a glob `*` and `?` stand for what is within one name and `**` for any number
/// of names; every other character stands for itself, so that `app/[id]/page.tsx` is a file. A value is normalised: it has no
/// `..`, no empty name and no slash at either end.
///
/// ```
/// use querent_core::ProjectPath;
///
/// let path = |text: &str| text.parse::<ProjectPath>();
/// assert!(path("src")?.overlaps(&path("src/auth/token.rs")?));
/// assert!(path("src/**/*.rs")?.overlaps(&path("src/auth/tok*")?));
/// assert!(!path("src/*.rs")?.overlaps(&path("src/auth.ts")?));
/// # Ok::<(), querent_core::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

const LONGEST: usize = 1_000;

impl ProjectPath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is something that both cover.
    pub fn overlaps(&self, other: &Self) -> bool {
        if !self.is_glob() && !other.is_glob() {
            return self.is_at_or_above(other) || other.is_at_or_above(self);
        }
        let (a, b): (Vec<_>, Vec<_>) = (self.names().collect(), other.names().collect());
        meet(&a, &b, None, &is_any, &within) || covers(&a, &b) || covers(&b, &a)
    }

    /// Whether `file`, the path of a file, is it, is one that it matches, or is below it.
    pub fn covers(&self, file: &Self) -> bool {
        let (a, b): (Vec<_>, Vec<_>) = (self.names().collect(), file.names().collect());
        covers(&a, &b)
    }

    /// The names before the first that is a pattern: whatever it covers is below them. Empty for the root.
    pub(crate) fn stem(&self) -> &str {
        let plain = self.0.split('/').take_while(|name| !name.contains(['*', '?']) && *name != ".");
        let length = plain.map(|name| name.len() + 1).sum::<usize>();
        &self.0[..length.saturating_sub(1)]
    }

    fn is_glob(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// For paths without patterns.
    fn is_at_or_above(&self, other: &Self) -> bool {
        let below = other.0.strip_prefix(self.0.as_str());
        self.0 == "." || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| *name != ".")
    }
}

impl FromStr for ProjectPath {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let refused = |why: &str| {
            let message = format!("the path `{}` {why}", text.escape_debug());
            Err(Refusal::invalid("path", message, "name a file, a directory or a glob inside the project"))
        };
        if text.chars().count() > LONGEST {
            return Err(Refusal::invalid("path", format!("a path has at most {LONGEST} characters"), "shorten it"));
        }
        if text.is_empty() || text.chars().any(char::is_control) {
            return refused("is empty or has control characters");
        }
        if text.starts_with('/') || text.split('/').any(|name| name == "..") {
            return refused("leads out of the project");
        }
        let names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        Ok(Self(if names.is_empty() { ".".to_owned() } else { names.join("/") }))
    }
}

stored_as_text!(ProjectPath);

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Any number of names.
const ANY: &str = "**";

fn is_any(name: &&str) -> bool {
    *name == ANY
}

/// Whether something of `b` is below `a`. The name of a file is no name that a `**` of `b` may stand for on the way down.
fn covers(a: &[&str], b: &[&str]) -> bool {
    let file = a.last().filter(|name| is_file_name(name)).map(|_| a.len() - 1);
    let below: Vec<&str> = a.iter().copied().chain([ANY]).collect();
    meet(&below, b, file, &is_any, &within)
}

/// With an ending that has a letter: `auth.rs`, `*.md`; not `v1.2`, nor `.github`.
fn is_file_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    ending.is_some_and(|ending| ending.len() <= 10 && ending.chars().any(char::is_alphabetic))
}

/// Characters of a name.
fn within(a: &&str, b: &&str) -> bool {
    if !a.contains(['*', '?']) && !b.contains(['*', '?']) {
        return a == b;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    meet(&a, &b, None, &|c| *c == '*', &|a, b| a == b || *a == '?' || *b == '?')
}

/// Whether two patterns have something in common: walks the pairs of places in them, each once. `many` says what stands for
/// any number of whatever comes; the one of `a` at `kept` must be met by one of its own kind.
fn meet<T>(a: &[T], b: &[T], kept: Option<usize>, many: &dyn Fn(&T) -> bool, same: &dyn Fn(&T, &T) -> bool) -> bool {
    let width = b.len() + 1;
    let mut reached = vec![false; (a.len() + 1) * width];
    reached[0] = true;
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if !reached[i * width + j] {
                continue;
            }
            let (x, y) = (a.get(i), b.get(j));
            let (many_x, many_y) = (x.is_some_and(many), y.is_some_and(many));
            // It is over, or takes what the other has next.
            if many_x || (many_y && x.is_some() && kept != Some(i)) {
                reached[(i + 1) * width + j] = true;
            }
            if many_y || (many_x && y.is_some()) {
                reached[i * width + j + 1] = true;
            }
            if let (Some(x), Some(y), false, false) = (x, y, many_x, many_y)
                && same(x, y)
            {
                reached[(i + 1) * width + j + 1] = true;
            }
        }
    }
    reached[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ProjectPath {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_is_normalised_and_stays_inside() {
        for (given, path) in [("./src//a.rs", "src/a.rs"), ("src/", "src"), (".", "."), ("./", "."), ("a/./b", "a/b")] {
            assert_eq!(given.parse::<ProjectPath>().unwrap().as_str(), path, "{given}");
        }
        for given in ["", "/etc/passwd", "..", "src/../../x", "a\nb", &"x".repeat(LONGEST + 1)] {
            assert_eq!(given.parse::<ProjectPath>().unwrap_err().code, crate::Code::InvalidInput, "{given}");
        }
    }

    #[test]
    fn a_file_is_covered_by_what_names_it_matches_it_or_is_above_it_and_by_nothing_below() {
        for (place, file, is_covered) in [
            ("docs/adr.md", "docs/adr.md", true),
            ("docs", "docs/deep/adr.md", true),
            (".", "README.md", true),
            ("docs/*.md", "docs/adr.md", true),
            ("docs/*.md", "docs/adr.txt", false),
            ("**/*.md", "Makefile", false),
            ("**/*.md", "a/b/c.md", true),
            ("docs/adr.md", "docs", false),
            ("docs/**", "docs/a", true),
        ] {
            assert_eq!(path(place).covers(&path(file)), is_covered, "{place} and {file}");
        }
    }

    #[test]
    fn a_path_covers_what_is_below_it_and_a_glob_what_it_matches() {
        for (a, b, overlap) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src", "src/a/b.rs", true),
            ("src", "srcs/a.rs", false),
            (".", "anything/at/all", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**/*.rs", "src/deep/down/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src", true),
            ("src/**/*.rs", "docs/a.rs", false),
            ("*.rs", "a.rs", true),
            ("a*b*c", "a-x-b-c", true),
            ("a*b", "b*a", false),
            ("a*", "*a", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("**/test", "src/x/test/y", true),
            ("src/*/mod.rs", "src/auth/*.rs", true),
            ("src/*/mod.rs", "src/auth/lib.rs", false),
            ("docs/x.txt", "docs/**/*.md", false),
            ("README.md", "**/*.rs", false),
            ("docs/v1.2", "docs/**/*.md", true),
            ("docs/x.txt", "docs/x.txt/odd.md", true),
            ("src/auth", "src/**/*.rs", true),
            (".github", "**/*.yml", true),
            ("app/[id]/page.tsx", "app/i/page.tsx", false),
            ("gru\u{308}n/*", "gru\u{308}n/blatt", true),
        ] {
            assert_eq!(path(a).overlaps(&path(b)), overlap, "{a} and {b}");
            assert_eq!(path(b).overlaps(&path(a)), overlap, "{b} and {a}");
        }
    }
}
