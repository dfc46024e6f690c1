//! What a patch would change, and whether it may: nothing outside of the worktree is reached, by no way.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};

use querent_core::{Code, Refusal};
use serde_json::json;

const NONE: &str = "000000";
const LINK: &str = "120000";
const SUBMODULE: &str = "160000";

/// One file, before and after, as git lists it.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: String,
    before: String,
    after: String,
    /// What it holds after.
    pub(super) object: String,
}

impl Change {
    /// From what git prints with `--raw -z --no-renames`.
    pub(super) fn read(raw: &[u8]) -> Result<Vec<Self>, Refusal> {
        let mut fields = raw.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let Ok(path) = str::from_utf8(path) else {
                return Err(forbidden(&String::from_utf8_lossy(path), "is not Unicode"));
            };
            if let [before, after, _, object, ..] = head.trim_start_matches(':').split(' ').collect::<Vec<_>>()[..] {
                let (before, after, object) = (before.to_owned(), after.to_owned(), object.to_owned());
                changes.push(Self { path: path.to_owned(), before, after, object });
            }
        }
        Ok(changes)
    }

    pub(super) fn is_new(&self) -> bool {
        self.before == NONE
    }

    pub(super) fn is_removal(&self) -> bool {
        self.after == NONE
    }

    /// Whether it is a link after.
    pub(super) fn is_link(&self) -> bool {
        self.after == LINK
    }

    /// Whether git may do this to the repository at all.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if [&self.before, &self.after].iter().any(|mode| *mode == SUBMODULE) {
            return Err(forbidden(&self.path, "is a submodule"));
        }
        if self.path.split('/').any(is_reserved) {
            return Err(forbidden(&self.path, "belongs to git or to Querent"));
        }
        Ok(())
    }

    /// Whether a link to `target` stays in the worktree.
    pub(super) fn check_target(&self, tree: &Path, target: &[u8]) -> Result<(), Refusal> {
        let leads_out = || forbidden(&self.path, "is a link that leads out of the worktree");
        let target = Path::new(str::from_utf8(target).map_err(|_| leads_out())?);
        let mut names: Vec<&str> = self.path.split('/').collect();
        names.pop();
        let mut is_above = true;
        for part in target.components() {
            match part {
                // Behind a name it depends on links that are not there yet where it leads.
                Component::ParentDir if is_above && names.pop().is_some() => {}
                Component::CurDir => {}
                Component::Normal(name) => {
                    is_above = false;
                    names.push(name.to_str().filter(|name| !is_reserved(name)).ok_or_else(leads_out)?);
                }
                _ => return Err(leads_out()),
            }
        }
        let mut place = tree.to_owned();
        for name in names {
            place.push(name);
            match fs::symlink_metadata(&place) {
                Ok(it) if it.is_symlink() => {
                    let real = fs::canonicalize(&place).ok().filter(|real| real.starts_with(tree));
                    place = real.ok_or_else(leads_out)?;
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Whether a directory above it is a link in the worktree.
    pub(super) fn is_behind_link(&self, tree: &Path) -> bool {
        self.above().any(|dir| fs::symlink_metadata(tree.join(dir)).is_ok_and(|it| it.is_symlink()))
    }

    /// Whether nothing is in its way in the worktree: no link, and no work that is on no commit.
    pub(super) fn check_place(&self, tree: &Path, removed: &BTreeSet<&str>) -> Result<(), Refusal> {
        if self.is_behind_link(tree) {
            return Err(forbidden(&self.path, "goes through a link"));
        }
        let is_file = |dir: &&str| fs::symlink_metadata(tree.join(dir)).is_ok_and(|it| !it.is_dir());
        if let Some(file) = self.above().find(is_file).filter(|file| !removed.contains(file)) {
            return Err(in_the_way(file));
        }
        if self.is_new() && !is_free(tree, &self.path, removed) {
            return Err(in_the_way(&self.path));
        }
        Ok(())
    }

    fn above(&self) -> impl Iterator<Item = &str> {
        self.path.match_indices('/').map(|(end, _)| &self.path[..end])
    }
}

/// A name in the headers of a patch that is absolute. Git would take it for one in the worktree.
pub(super) fn absolute(patch: &str) -> Option<&str> {
    const HEADS: &[&str] = &["--- ", "+++ ", "diff --git ", "rename from ", "rename to ", "copy from ", "copy to "];
    let (mut old, mut new) = (0_u64, 0_u64);
    for line in patch.lines() {
        if old > 0 || new > 0 {
            let (less, more) = match line.bytes().next() {
                Some(b'-') => (1, 0),
                Some(b'+') => (0, 1),
                Some(b'\\') => (0, 0),
                _ => (1, 1),
            };
            (old, new) = (old.saturating_sub(less), new.saturating_sub(more));
        } else if let Some(hunk) = line.strip_prefix("@@ -") {
            let mut ranges =
                hunk.split(' ').map(|range| range.split_once(',').map_or(Some(1), |(_, it)| it.parse().ok()));
            (old, new) = (ranges.next().flatten().unwrap_or(0), ranges.next().flatten().unwrap_or(0));
        } else if let Some(name) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            let name = name.split('\t').next().unwrap_or(name).trim_matches('"').trim_end();
            if name.starts_with('/') && name != "/dev/null" {
                return Some(name);
            }
        }
    }
    None
}

/// A path that no patch may have.
pub(super) fn forbidden(path: &str, why: &str) -> Refusal {
    let message = format!("the patch has a path that {why}: `{}`", path.escape_debug());
    let hint = "patch only files that are inside the item's worktree, by their names in it";
    Refusal::new(Code::InvalidInput, message, hint).with(json!({ "field": "patch", "path": path }))
}

/// What an agent has not committed is not overwritten.
pub(super) fn in_the_way(path: &str) -> Refusal {
    let message = format!("`{}` has changes in the worktree that are not committed", path.escape_debug());
    let hint = "commit the work in the worktree first, then send the patch again";
    Refusal::new(Code::Conflict, message, hint).with(json!({ "path": path }))
}

fn is_reserved(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".querent")
}

/// Whether there is nothing, but for what the same patch removes.
fn is_free(tree: &Path, path: &str, removed: &BTreeSet<&str>) -> bool {
    match fs::symlink_metadata(tree.join(path)) {
        Ok(it) if it.is_dir() => fs::read_dir(tree.join(path)).is_ok_and(|mut entries| {
            entries.all(|entry| {
                let name = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
                name.is_some_and(|name| {
                    let below = format!("{path}/{name}");
                    removed.contains(below.as_str()) || (tree.join(&below).is_dir() && is_free(tree, &below, removed))
                })
            })
        }),
        Ok(_) => false,
        Err(_) => true,
    }
}
