//! The files that an agent may have us read and write: those below its directory, wherever links lead.
//!
//! This keeps an agent that does as it is told inside of its directory. It is no prison: a program of the same user could open
//! any file by itself.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// The largest file that is read for an agent.
const LARGEST: u64 = 8 << 20;

/// Why a file was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Denied {
    /// It leads out of the directory.
    #[error("outside of the directory of this session")]
    Outside,
    /// It is not there.
    #[error("Resource not found")]
    NotFound,
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
}

impl From<io::Error> for Denied {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// The directory that an agent works in.
#[derive(Clone, Debug)]
pub(super) struct Grounds(PathBuf);

impl Grounds {
    /// The grounds below this directory, which must be there.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        fs::canonicalize(directory).map(Self)
    }

    /// The directory, without links.
    pub(super) fn directory(&self) -> &Path {
        &self.0
    }

    /// Where a path really leads, if that is inside; the file itself need not be there yet.
    pub(super) fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = self.0.join(path);
        // What is there decides, a link that leads nowhere too; what is not there cannot be a link.
        let there = path.ancestors().find(|it| fs::symlink_metadata(it).is_ok())?;
        let rest = path.strip_prefix(there).ok()?;
        let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
        let real = fs::canonicalize(there).ok()?;
        (is_plain && real.starts_with(&self.0))
            .then(|| if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    }

    /// Reads a text, from a line, counted from 1, and at most so many lines.
    pub(super) fn read(&self, path: &Path, line: Option<u32>, limit: Option<u32>) -> Result<String, Denied> {
        let path = self.inside(path).ok_or(Denied::Outside)?;
        let metadata = fs::metadata(&path)?;
        if !metadata.is_file() {
            return Err(Denied::Failed("not a file".to_owned()));
        }
        if metadata.len() > LARGEST {
            return Err(Denied::Failed("too large to be read".to_owned()));
        }
        let mut text = String::new();
        fs::File::open(&path)?.take(LARGEST).read_to_string(&mut text)?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let skipped = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(text.split_inclusive('\n').skip(skipped).take(most).collect())
    }

    /// Writes a text, and makes the directories that it needs.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), Denied> {
        let path = self.inside(path).ok_or(Denied::Outside)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        // A pipe or a device would be written to instead of replaced.
        if fs::metadata(&path).is_ok_and(|it| !it.is_file()) {
            return Err(Denied::Failed("not a file".to_owned()));
        }
        Ok(fs::write(&path, text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grounds() -> (tempfile::TempDir, Grounds) {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("work")).unwrap();
        fs::write(base.path().join("secret"), "s").unwrap();
        let grounds = Grounds::new(&base.path().join("work")).unwrap();
        (base, grounds)
    }

    #[test]
    fn files_are_read_whole_or_by_lines() {
        let (_base, grounds) = grounds();
        let path = grounds.directory().join("new/a.txt");
        grounds.write(&path, "1\n2\n3").unwrap();
        assert_eq!(grounds.read(&path, None, None).as_deref(), Ok("1\n2\n3"));
        assert_eq!(grounds.read(&path, Some(2), Some(1)).as_deref(), Ok("2\n"));
        assert_eq!(grounds.read(&path, Some(3), None).as_deref(), Ok("3"));
        assert_eq!(grounds.read(&path, Some(9), Some(9)).as_deref(), Ok(""));
        assert_eq!(grounds.read(&path, None, Some(0)).as_deref(), Ok(""));
    }

    #[test]
    fn what_is_outside_is_neither_read_nor_written() {
        let (base, grounds) = grounds();
        let work = grounds.directory().to_path_buf();
        for path in [
            base.path().join("secret"),
            work.join("../secret"),
            work.join("none/../../secret"),
            "/".into(),
            "../secret".into(),
        ] {
            assert_eq!(grounds.read(&path, None, None), Err(Denied::Outside), "{path:?}");
            assert_eq!(grounds.write(&path, "x"), Err(Denied::Outside), "{path:?}");
        }
        assert_eq!(fs::read_to_string(base.path().join("secret")).unwrap(), "s");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_they_are_judged() {
        use std::os::unix::fs::symlink;

        let (base, grounds) = grounds();
        let work = grounds.directory().to_path_buf();
        symlink(base.path().join("secret"), work.join("out")).unwrap();
        symlink(base.path().join("nowhere"), work.join("dangling")).unwrap();
        symlink(base.path(), work.join("up")).unwrap();
        for name in ["out", "dangling", "up/secret", "up/new", "dangling/new"] {
            assert_eq!(grounds.write(&work.join(name), "x"), Err(Denied::Outside), "{name}");
        }
        assert!(!base.path().join("nowhere").exists() && !base.path().join("new").exists());
        fs::write(work.join("real"), "r").unwrap();
        symlink("real", work.join("in")).unwrap();
        assert_eq!(grounds.read(&work.join("in"), None, None).as_deref(), Ok("r"));
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let (_base, grounds) = grounds();
        assert_eq!(grounds.read(grounds.directory(), None, None), Err(Denied::Failed("not a file".to_owned())));
        assert_eq!(grounds.read(Path::new("none"), None, None), Err(Denied::NotFound));
        assert_eq!(grounds.write(grounds.directory(), "x"), Err(Denied::Failed("not a file".to_owned())));
    }
}
