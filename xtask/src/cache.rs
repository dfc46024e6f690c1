//! Where suites keep what they install: `$QUERENT_CACHE`, else the user's cache folder, and in it `querent-e2e`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder that survives from run to run and may be deleted at any time.
pub(crate) struct Cache(PathBuf);

impl Cache {
    /// The user's own.
    pub(crate) fn of_user() -> Result<Self, String> {
        let folder = folder(|name| std::env::var_os(name).filter(|value| !value.is_empty()), std::env::consts::OS);
        let folder = folder.ok_or("there is no cache folder; set QUERENT_CACHE to a folder that may be filled")?;
        Ok(Self::at(&folder))
    }

    /// The one below `folder`.
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.join("querent-e2e"))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

fn folder(variable: impl Fn(&str) -> Option<OsString>, system: &str) -> Option<PathBuf> {
    let below = |name: &str, rest: &str| variable(name).map(|folder| PathBuf::from(folder).join(rest));
    let own = variable("QUERENT_CACHE").or_else(|| variable("XDG_CACHE_HOME")).map(PathBuf::from);
    own.or_else(|| match system {
        "macos" => below("HOME", "Library/Caches"),
        "windows" => variable("LOCALAPPDATA").map(PathBuf::from),
        _ => below("HOME", ".cache"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)], system: &str) -> Option<PathBuf> {
        folder(|name| set.iter().find(|(it, _)| *it == name).map(|(_, value)| value.into()), system)
    }

    #[test]
    fn the_projects_own_variable_comes_first_and_the_system_last() {
        let all = [("QUERENT_CACHE", "q"), ("XDG_CACHE_HOME", "x"), ("HOME", "h"), ("LOCALAPPDATA", "l")];
        assert_eq!(of(&all, "linux"), Some("q".into()));
        assert_eq!(of(&all[1..], "linux"), Some("x".into()));
        assert_eq!(of(&all[2..], "linux"), Some("h/.cache".into()));
        assert_eq!(of(&all[2..], "macos"), Some("h/Library/Caches".into()));
        assert_eq!(of(&all[3..], "windows"), Some("l".into()));
        assert_eq!(of(&[], "linux"), None);
    }
}
