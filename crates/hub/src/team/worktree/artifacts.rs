//! What a step left for those after it: the texts of files in the item's worktree, or on its branch.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use querent_core::{ItemId, ProjectPath};

use super::seat::Seat;
use super::{Worktrees, branch, within};

impl Worktrees {
    /// The texts of the files that are named, by path, directory or glob from the project's directory, in this order; together
    /// no longer than `budget` bytes. Where that does not do, the last one says so. What is no text is passed over, and
    /// so are links that lead out of the worktree.
    pub(crate) fn artifacts(&self, item: &ItemId, patterns: &[String], budget: usize) -> Vec<(String, String)> {
        let is_there = self.directory(item).is_dir();
        let mut files: Vec<String> = Vec::new();
        for pattern in patterns.iter().filter_map(|pattern| pattern.parse::<ProjectPath>().ok()) {
            let found = if is_there { self.in_tree(item, &pattern) } else { self.on_branch(item, &pattern) };
            for file in found {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        let mut texts = Vec::new();
        let mut left = budget;
        for file in files {
            let text = if is_there { self.read(item, &file, left) } else { self.show(item, &file, left) };
            let Some((text, size)) = text else { continue };
            let is_whole = text.len() == size;
            left = left.saturating_sub(text.len());
            texts.push((file, text, size));
            if !is_whole {
                cut(&mut texts, budget);
                break;
            }
        }
        texts.into_iter().map(|(file, text, _)| (file, text)).collect()
    }

    /// Names in the worktree. A file that is named outright is there although git ignores it.
    fn in_tree(&self, item: &ItemId, pattern: &ProjectPath) -> Vec<String> {
        let dir = self.directory(item);
        if pattern.as_str() != "." && dir.join(pattern.as_str()).is_file() {
            return vec![pattern.as_str().to_owned()];
        }
        let Some(seat) = Seat::find(&self.common, &self.tree(item), &branch(item)) else { return Vec::new() };
        let asked = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--"];
        let listed = self.git.at(&dir).on(&seat).run_for(&asked, &[stem(pattern)]).unwrap_or_default();
        matching(pattern, &listed, "")
    }

    /// Names on the branch, but for links.
    fn on_branch(&self, item: &ItemId, pattern: &ProjectPath) -> Vec<String> {
        let prefix = self.prefix.to_string_lossy();
        let below = within(self.prefix.clone(), Path::new(stem(pattern)));
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { &below };
        let branch = format!("refs/heads/{}", branch(item));
        let asked = ["ls-tree", "-r", "-z", "--full-tree", &branch, "--"];
        let listed = self.git.at(&self.root).run_for(&asked, &[below]).unwrap_or_default();
        // Mode, kind and object come before a tab.
        let files = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(b"100"));
        let paths: Vec<&[u8]> = files.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1)).collect();
        matching(pattern, &paths.join(&0), &prefix)
    }

    /// What is in the file, up to `most` bytes, and how long it is.
    fn read(&self, item: &ItemId, file: &str, most: usize) -> Option<(String, usize)> {
        let tree = fs::canonicalize(self.tree(item)).ok()?;
        let path = fs::canonicalize(self.directory(item).join(file)).ok()?;
        let inside = path.strip_prefix(&tree).ok()?;
        if !path.is_file() || inside.iter().any(|name| name == ".git") {
            return None;
        }
        let size = usize::try_from(fs::metadata(&path).ok()?.len()).ok()?;
        let mut bytes = Vec::new();
        File::open(&path).ok()?.take(u64::try_from(most).ok()?).read_to_end(&mut bytes).ok()?;
        text(bytes, size)
    }

    fn show(&self, item: &ItemId, file: &str, most: usize) -> Option<(String, usize)> {
        let path = within(self.prefix.clone(), Path::new(file));
        let object = format!("refs/heads/{}:{}", branch(item), path.to_str()?);
        let mut bytes = self.git.at(&self.root).run(&["cat-file", "blob", &object]).ok()?;
        let size = bytes.len();
        bytes.truncate(most);
        text(bytes, size)
    }
}

/// Those of a list of git's that the pattern covers, from the project's directory.
fn matching(pattern: &ProjectPath, listed: &[u8], prefix: &str) -> Vec<String> {
    let names = listed.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
    let inside = names.filter_map(|name| {
        let below = name.strip_prefix(prefix)?;
        if prefix.is_empty() { Some(below) } else { below.strip_prefix('/') }
    });
    let is_covered = |name: &str| name.parse().is_ok_and(|file| pattern.covers(&file));
    let mut found: Vec<String> = inside.filter(|name| is_covered(name)).map(str::to_owned).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The directory below which all is that a pattern covers.
fn stem(pattern: &ProjectPath) -> &str {
    let text = pattern.as_str();
    match text.find(['*', '?']) {
        Some(wild) => text[..wild].rsplit_once('/').map_or(".", |(stem, _)| stem),
        None => text,
    }
}

/// The beginning of a file as text, if it is one; a character that is cut is left out.
fn text(mut bytes: Vec<u8>, size: usize) -> Option<(String, usize)> {
    if bytes.contains(&0) {
        return None;
    }
    if let Err(error) = str::from_utf8(&bytes) {
        if error.error_len().is_some() || bytes.len() == size {
            return None;
        }
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).ok().map(|text| (text, size))
}

/// Makes room for a line in the last text that says that it was cut. The one before it is the last if there is none.
fn cut(texts: &mut Vec<(String, String, usize)>, budget: usize) {
    while let Some((file, text, size)) = texts.pop() {
        let note = |shown: usize| format!("\n[cut: the first {shown} of {size} bytes, and no further file]\n");
        let others: usize = texts.iter().map(|(_, text, _)| text.len()).sum();
        if let Some(room) = budget.checked_sub(others + note(size).len()) {
            let shown = text.floor_char_boundary(room);
            texts.push((file, format!("{}{}", &text[..shown], note(shown)), size));
            return;
        }
    }
}
