//! How Querent is started by somebody else: the name that a shell finds, or the path of this very program.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use querent_core::{Code, Refusal};

/// `querent` if that is what starts this program; else its path.
pub(crate) fn program() -> Result<String, Refusal> {
    let own = env::current_exe().map_err(|error| {
        let message = format!("the path of this program cannot be read: {error}");
        Refusal::new(Code::StorageError, message, "put the directory of querent on PATH and try again")
    })?;
    let path = env::var_os("PATH").unwrap_or_default();
    if on_path(&path, &own) {
        return Ok("querent".to_owned());
    }
    own.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path of this program is not valid UTF-8: {}", own.display());
        Refusal::new(Code::StorageError, message, "put the directory of querent on PATH and try again")
    })
}

/// A word for a shell: as it is, or in quotes.
pub(super) fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether the first `querent` of a search path is this program. One in a relative directory is another one tomorrow.
fn on_path(path: &OsStr, own: &Path) -> bool {
    let name = format!("querent{}", env::consts::EXE_SUFFIX);
    let found: Option<PathBuf> = env::split_paths(path).map(|dir| dir.join(&name)).find(|path| is_program(path));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    found.is_some_and(|found| found.is_absolute() && real(&found) == real(own))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_word_for_a_shell() {
        for (word, quoted) in [
            ("querent", "querent"),
            ("/opt/bin/querent", "/opt/bin/querent"),
            ("/opt/my tools/querent", "'/opt/my tools/querent'"),
            ("/o'neill/querent", r"'/o'\''neill/querent'"),
            ("$HOME/q", "'$HOME/q'"),
            ("", "''"),
        ] {
            assert_eq!(in_shell(word), quoted);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_name_is_used_only_if_it_starts_this_very_program() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let [ours, linked, other, plain] = ["ours", "linked", "other", "plain"].map(|name| dir.path().join(name));
        for place in [&ours, &linked, &other, &plain] {
            std::fs::create_dir(place).unwrap();
        }
        let own = ours.join("querent");
        for (file, mode) in [(&own, 0o755), (&other.join("querent"), 0o755), (&plain.join("querent"), 0o644)] {
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink(&own, linked.join("querent")).unwrap();
        let found = |places: &[&PathBuf]| on_path(&env::join_paths(places).unwrap(), &own);

        assert!(found(&[&ours]) && found(&[&linked, &other]), "also behind a link");
        assert!(found(&[&plain, &ours]), "a file that cannot be run is passed over");
        assert!(!found(&[&other, &ours]) && !found(&[]) && !on_path(OsStr::new("ours"), &own));
    }
}
