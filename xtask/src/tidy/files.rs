//! Which files are the project's: what git tracks or would track.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::File;

/// Kinds of files that are not text.
const BINARY: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "ico", "woff2", "gz", "wasm"];

/// Folders that are not the project's own, for a tree without git.
const FOREIGN: &[&str] = &[".git", "target", "node_modules"];

/// Every file of the project; links lead to those that are not text, too.
pub(super) fn all(root: &Path) -> Result<Vec<File>, String> {
    let paths = if let Some(paths) = tracked(root) {
        paths
    } else {
        println!("tidy: git does not list this tree; checking every file below it");
        walked(root)?
    };
    paths.into_iter().map(|path| read(root, path)).filter_map(Result::transpose).collect()
}

fn is_text(path: &Path) -> bool {
    path.extension().and_then(|it| it.to_str()).is_none_or(|it| !BINARY.contains(&it))
}

/// The file; nothing if it is gone from the working tree.
fn read(root: &Path, path: PathBuf) -> Result<Option<File>, String> {
    let whole = root.join(&path);
    if !whole.is_file() {
        return Ok(None);
    }
    if !is_text(&path) {
        return Ok(Some(File { path, text: String::new() }));
    }
    let bytes = fs::read(&whole).map_err(|error| format!("{}: {error}", path.display()))?;
    // What is not UTF-8 becomes U+FFFD, which the check of characters reports.
    Ok(Some(File { path, text: String::from_utf8_lossy(&bytes).into_owned() }))
}

fn tracked(root: &Path) -> Option<Vec<PathBuf>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let listed = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect())
}

fn walked(root: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let failed = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if !path.is_dir() {
                found.extend(path.strip_prefix(root).map(Path::to_owned));
            } else if !FOREIGN.iter().any(|name| entry.file_name() == *name) {
                folders.push(path);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_git_is_walked_without_what_is_built() {
        let root = tempfile::tempdir().unwrap();
        for path in ["src/a.rs", "target/debug/b.rs", "docs/c.png"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut found = walked(root.path()).unwrap();
        found.sort();
        assert_eq!(found, [PathBuf::from("docs/c.png"), PathBuf::from("src/a.rs")]);
        assert!(!is_text(&found[0]));
    }

    #[test]
    fn what_is_not_text_is_there_without_one() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("c.png"), [0xff, 0x00]).unwrap();

        let file = read(root.path(), "c.png".into()).unwrap().unwrap();

        assert_eq!((file.path, file.text), (PathBuf::from("c.png"), String::new()));
    }
}
