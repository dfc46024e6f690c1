//! What the server says of itself, a line each on standard error. Secrets stand in queries, headers and signed links, so none of
//! these is ever part of a line.

use std::io::Write;

use axum::http::{Method, StatusCode, Uri};
use querent_core::Moment;

use crate::text::clean_line;

/// How much of a path is shown.
const LONGEST: usize = 120;

/// Somebody was turned away.
pub(crate) fn turned_away(at: Moment, status: StatusCode, method: &Method, uri: &Uri, peer: &str, why: &str) {
    say(at, &format!("turned away {} {method} {} from {peer}: {why}", status.as_u16(), path(uri)));
}

/// Something else that whoever runs the server should know.
pub(crate) fn say(at: Moment, what: &str) {
    // A log that nobody can read any more stops nobody.
    let _ = writeln!(std::io::stderr().lock(), "{at} {}", clean_line(what));
}

/// The path alone, and of a signed link not even that.
fn path(uri: &Uri) -> String {
    let path = uri.path();
    if path.starts_with("/a/") {
        return "/a/…".to_owned();
    }
    path.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        assert_eq!(path(&"/login?code=secret".parse().unwrap()), "/login");
        assert_eq!(path(&"/a/secret.signature".parse().unwrap()), "/a/…");
    }
}
