//! The guide in `AGENTS.md`: a block between two marks. Whatever else is in the file belongs to its owner.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use querent_core::{Code, Refusal};
use serde_json::json;

/// The line before the guide.
const BEGIN: &str = "<!-- querent:guide:begin -->";
/// The line after it.
const END: &str = "<!-- querent:guide:end -->";

/// A project's `AGENTS.md`, as it was read.
#[derive(Debug)]
pub struct GuideFile {
    path: PathBuf,
    old: Vec<u8>,
    block: Option<Range<usize>>,
}

impl GuideFile {
    /// What the file is called, from the project's root.
    pub const NAME: &str = "AGENTS.md";

    /// Reads the file of the project in `root`; none is as good as an empty one. Marks that do not make one block are refused.
    pub fn read(root: &Path) -> Result<Self, Refusal> {
        let path = root.join(Self::NAME);
        let old = match fs::read(&path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(unusable(&path, &error)),
        };
        let block = block(&old).map_err(|damage| damaged(&path, damage))?;
        Ok(Self { path, old, block })
    }

    /// Puts the guide into its block, or adds one at the end; every other byte stays. Says whether the file changed.
    pub fn write(&self, guide: &str) -> Result<bool, Refusal> {
        let new = self.with(guide);
        if new == self.old {
            return Ok(false);
        }
        replace(&self.path, &new).map_err(|error| unusable(&self.path, &error))?;
        Ok(true)
    }

    fn with(&self, guide: &str) -> Vec<u8> {
        let old = self.old.as_slice();
        let lines = format!("{BEGIN}\n{}\n{END}\n", guide.trim_end());
        // The file's own line ends.
        let first = old.iter().position(|byte| *byte == b'\n').and_then(|at| at.checked_sub(1));
        let eol = if first.is_some_and(|at| old.get(at) == Some(&b'\r')) { "\r\n" } else { "\n" };
        let lines = lines.replace('\n', eol);
        if let Some(block) = &self.block {
            // A block that ends the file may have lost its last line end, and keeps it so.
            let is_whole = old[block.clone()].ends_with(b"\n");
            let lines = if is_whole { lines.as_str() } else { lines.trim_end() };
            return [&old[..block.start], lines.as_bytes(), &old[block.end..]].concat();
        }
        let ended = old.is_empty() || old.ends_with(b"\n");
        let gap = [if ended { "" } else { eol }, if old.is_empty() { "" } else { eol }].concat();
        [old, gap.as_bytes(), lines.as_bytes()].concat()
    }
}

/// Where the block is, with its marks. A mark is a line of its own; one in the midst of a text is only spoken of.
fn block(text: &[u8]) -> Result<Option<Range<usize>>, &'static str> {
    let (mut begin, mut end) = (None, None);
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let rest = start + line.len();
        let said = line.trim_ascii();
        for (mark, place, at) in [(BEGIN, &mut begin, start), (END, &mut end, rest)] {
            if said.starts_with(mark.as_bytes()) {
                if said.len() > mark.len() {
                    return Err("a mark of the guide shares its line with something else");
                }
                if place.replace(at).is_some() {
                    return Err("a mark of the guide is there twice");
                }
            }
        }
        start = rest;
    }
    match (begin, end) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin < end => Ok(Some(begin..end)),
        (Some(_), Some(_)) => Err("the guide's end stands before its begin"),
        (Some(_), None) => Err("the guide's end is missing"),
        (None, Some(_)) => Err("the guide's begin is missing"),
    }
}

/// Writes the file anew and puts it in the place of the old one in one step, also behind a symbolic link.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let draft = path.with_extension(format!("md.{}.draft", std::process::id()));
    let written = fs::write(&draft, text).and_then(|()| match fs::metadata(&path) {
        Ok(old) => fs::set_permissions(&draft, old.permissions()),
        Err(_) => Ok(()),
    });
    let done = written.and_then(|()| fs::rename(&draft, &path));
    if done.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&draft);
    }
    done
}

fn damaged(path: &Path, damage: &str) -> Refusal {
    let message = format!("{}: {damage}", path.display());
    let hint = format!("leave one line `{BEGIN}` and after it one line `{END}`, or neither; nothing was changed");
    Refusal::new(Code::Conflict, message, hint).with(json!({ "path": path }))
}

fn unusable(path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot write {}: {error}", path.display());
    let hint = "make the file readable and writable for you";
    Refusal::new(Code::StorageError, message, hint).with(json!({ "path": path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the file holds after the guide `G` was written into `old`.
    fn after(old: &[u8]) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(GuideFile::NAME);
        fs::write(&path, old).unwrap();
        GuideFile::read(dir.path()).unwrap().write("G\n").unwrap();
        assert_eq!(dir.path().read_dir().unwrap().count(), 1, "no draft stays behind");
        fs::read(&path).unwrap()
    }

    const BLOCK: &str = "<!-- querent:guide:begin -->\nG\n<!-- querent:guide:end -->\n";

    #[test]
    fn everything_else_stays_to_the_byte() {
        for (old, new) in [
            ("", BLOCK.to_owned()),
            ("# Ours\n", format!("# Ours\n\n{BLOCK}")),
            ("# Ours", format!("# Ours\n\n{BLOCK}")),
            ("a\r\n", format!("a\r\n\r\n{}", BLOCK.replace('\n', "\r\n"))),
            ("a\n<!-- querent:guide:begin -->\nold\n<!-- querent:guide:end -->\n  b ", format!("a\n{BLOCK}  b ")),
            ("<!-- querent:guide:begin -->\n<!-- querent:guide:end -->", BLOCK.trim_end().to_owned()),
            ("see `<!-- querent:guide:begin -->`\n", format!("see `<!-- querent:guide:begin -->`\n\n{BLOCK}")),
        ] {
            assert_eq!(String::from_utf8(after(old.as_bytes())).unwrap(), new, "{old:?}");
            assert_eq!(after(new.as_bytes()), new.as_bytes(), "a second time changes nothing");
        }
        assert!(after(b"caf\xe9\n").starts_with(b"caf\xe9\n\n<!--"), "whatever its encoding");
    }

    #[test]
    fn damaged_marks_are_refused_with_a_cure() {
        let (begin, end) = (format!("{BEGIN}\n"), format!("{END}\n"));
        for text in [
            begin.clone(),
            end.clone(),
            format!("{end}{begin}"),
            format!("{begin}{begin}{end}"),
            format!("{begin}{end}{end}"),
            format!("{BEGIN} ## Asking\n{end}"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(GuideFile::NAME), &text).unwrap();

            let refusal = GuideFile::read(dir.path()).unwrap_err();

            assert_eq!(refusal.code, Code::Conflict, "{text}");
            assert!(refusal.hint.contains(BEGIN) && refusal.hint.contains("nothing was changed"), "{}", refusal.hint);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_its_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("CLAUDE.md");
        fs::write(&target, "x\n").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("CLAUDE.md", dir.path().join(GuideFile::NAME)).unwrap();

        GuideFile::read(dir.path()).unwrap().write("G").unwrap();

        assert!(fs::symlink_metadata(dir.path().join(GuideFile::NAME)).unwrap().is_symlink());
        assert!(fs::read_to_string(&target).unwrap().contains("\nG\n"));
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
