//! The files that are edited: read as a whole, judged before any is written, and replaced in one step.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use querent_core::{Code, Refusal};
use serde::Serialize;
use serde_json::json;

use super::tree::Edited;

const MARK: &str = "\u{feff}";

/// What happens, or happened, to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Created,
    Changed,
    Unchanged,
    Removed,
}

/// A file as it is and as it should be; nothing where there is none.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    old: Option<String>,
    new: Option<String>,
}

impl Change {
    /// Reads a file and edits its text. A file behind a link is never removed: somebody else put it there.
    pub(super) fn plan(path: &Path, edit: impl FnOnce(Option<&str>) -> Edited) -> Result<Self, Refusal> {
        let old = read(path)?;
        let (mark, text) = match old.as_deref() {
            Some(text) => text.strip_prefix(MARK).map_or(("", Some(text)), |text| (MARK, Some(text))),
            None => ("", None),
        };
        let new = edit(text).map_err(|unfit| {
            let code = if unfit.taken { Code::Conflict } else { Code::InvalidConfig };
            let message = format!("{}: {}", path.display(), unfit.what);
            Refusal::new(code, message, unfit.cure).with(json!({ "file": path }))
        })?;
        let new = new.or_else(|| (old.is_some() && path.is_symlink()).then(|| empty(path)));
        let new = new.map(|new| format!("{mark}{new}"));
        Ok(Self { path: path.to_owned(), old, new })
    }

    /// What happens to the file.
    pub(crate) fn kind(&self) -> Outcome {
        match (&self.old, &self.new) {
            (None, Some(_)) => Outcome::Created,
            (Some(_), None) => Outcome::Removed,
            (old, new) if old == new => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }
}

/// Carries the changes out: all, or none of them.
pub(crate) fn write(changes: &[Change]) -> Result<(), Refusal> {
    for change in changes.iter().filter(|change| change.kind() != Outcome::Unchanged) {
        writable(&change.path).map_err(|error| unusable(&change.path, &error))?;
    }
    for (done, change) in changes.iter().enumerate() {
        if let Err(error) = change.set(change.new.as_deref()) {
            for earlier in &changes[..done] {
                // It was written a moment ago; what cannot be taken back is found by the next call.
                let _ = earlier.set(earlier.old.as_deref());
            }
            return Err(unusable(&change.path, &error));
        }
    }
    Ok(())
}

impl Change {
    fn set(&self, text: Option<&str>) -> io::Result<()> {
        match text {
            _ if self.kind() == Outcome::Unchanged => Ok(()),
            Some(text) => replace(&self.path, text),
            None => remove(&self.path),
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, Refusal> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            let message = format!("{}: it is not text in UTF-8", path.display());
            let hint = "save it as UTF-8, or move it away; nothing was changed";
            Refusal::new(Code::InvalidConfig, message, hint).with(json!({ "file": path }))
        }),
        // A link that leads nowhere is no place to write to.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Fails if the file must not be replaced, or has no place to be in.
fn writable(path: &Path) -> io::Result<()> {
    if path.metadata().is_ok_and(|it| it.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    if path.exists() {
        // A file of somebody else could be replaced in a directory of one's own, but must not be.
        fs::OpenOptions::new().append(true).open(path)?;
    }
    match path.ancestors().skip(1).find(|it| it.exists()) {
        Some(file) if !file.is_dir() => {
            let what = format!("{} is not a directory", file.display());
            Err(io::Error::new(io::ErrorKind::NotADirectory, what))
        }
        _ => Ok(()),
    }
}

/// Writes the file anew and puts it in the place of the old one in one step, also behind a symbolic link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.draft", std::process::id()));
    let done = write_draft(&draft, text, fs::metadata(&path).ok()).and_then(|()| fs::rename(&draft, &path));
    if done.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&draft);
    }
    done
}

/// Others must not read for a moment what they may not read at all: some of these files hold keys.
fn write_draft(draft: &Path, text: &str, old: Option<fs::Metadata>) -> io::Result<()> {
    let mut file = fs::File::create(draft)?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// What a file says that says nothing.
fn empty(path: &Path) -> String {
    if path.extension().is_some_and(|it| it == "toml") { String::new() } else { "{}\n".to_owned() }
}

/// Removes the file, and its directory if that is empty now.
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    if let Some(dir) = path.parent().filter(|dir| dir.file_name().is_some_and(is_hidden)) {
        // It is not empty, and stays.
        let _ = fs::remove_dir(dir);
    }
    Ok(())
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn unusable(path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot write {}: {error}", path.display());
    let hint = "it must be a file that you may read and write, in a directory that you may; nothing was changed";
    Refusal::new(Code::StorageError, message, hint).with(json!({ "file": path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(path: &Path, text: Option<&str>) -> Change {
        Change::plan(path, |_| Ok(text.map(str::to_owned))).unwrap()
    }

    #[test]
    fn all_files_are_written_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("old.json"), "old").unwrap();
        fs::write(at("gone.json"), "gone").unwrap();
        // Its draft has a longer name than a file may have.
        let last = at(&"x".repeat(250));
        let made = at(".new/new.json");
        let changes = [to(&at("old.json"), Some("new")), to(&at("gone.json"), None), to(&made, Some("new"))];

        let refusal = write(&changes.into_iter().chain([to(&last, Some("new"))]).collect::<Vec<_>>()).unwrap_err();

        assert_eq!(refusal.code, Code::StorageError);
        assert_eq!(fs::read_to_string(at("old.json")).unwrap(), "old");
        assert_eq!(fs::read_to_string(at("gone.json")).unwrap(), "gone");
        assert_eq!(dir.path().read_dir().unwrap().count(), 2, "no draft and no directory stays behind");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_behind_a_link_is_emptied_and_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (link, target) = (dir.path().join("a.json"), dir.path().join("b.json"));
        fs::write(&target, "ours").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();

        write(&[to(&link, None)]).unwrap();

        assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n");
        assert!(link.is_symlink());
    }
}
