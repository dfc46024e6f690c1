//! Where git has a worktree registered, and what a process that was killed may have left of that.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use querent_core::Refusal;

use super::{storage, write};

/// An item's worktree and its registration, `<repository>/worktrees/<name>`.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) admin: PathBuf,
    pub(super) tree: PathBuf,
    pub(super) branch: String,
}

impl Seat {
    /// The registration of `tree`. One on its branch that leads nowhere is taken for it: the project was moved or copied.
    pub(super) fn find(common: &Path, tree: &Path, branch: &str) -> Option<Self> {
        let seat = |admin: PathBuf| Self { admin, tree: tree.to_owned(), branch: branch.to_owned() };
        let all = common.join("worktrees");
        let name = tree.file_name()?;
        let file = tree.join(".git");
        if registers(&all.join(name)).is_some_and(|it| it == file) {
            return Some(seat(all.join(name)));
        }
        // Git calls a registration after its tree; if the name is taken, with a number behind it.
        let is_named = |admin: &OsStr| admin.as_encoded_bytes().starts_with(name.as_encoded_bytes());
        let mut moved = None;
        for entry in fs::read_dir(&all).ok()?.flatten().filter(|entry| is_named(&entry.file_name())) {
            let admin = entry.path();
            let Some(registered) = registers(&admin) else { continue };
            if registered == file {
                return Some(seat(admin));
            }
            let is_dead = || leads_to(&registered).is_none_or(|it| it != admin);
            if head(&admin).is_some_and(|head| head == branch) && !is_kept(&admin) && is_dead() {
                moved = Some(admin);
            }
        }
        moved.map(seat)
    }

    /// Whether there is nothing to heal. No process is started to find out.
    pub(super) fn is_sound(&self) -> bool {
        self.is_connected()
            && self.is_on_branch()
            && self.index().is_file()
            && !self.is_half_added()
            && !self.marker().exists()
            && self.locks().is_empty()
    }

    /// Whether it is seen to be on its branch. Where git keeps its references otherwise, it is for git to say.
    pub(super) fn is_on_branch(&self) -> bool {
        head(&self.admin).is_some_and(|head| head == self.branch)
    }

    /// Whether git can work with it, be the tree what it may.
    pub(super) fn is_usable(&self) -> bool {
        let has = |name: &str| fs::metadata(self.admin.join(name)).is_ok_and(|it| it.len() > 0);
        has("HEAD") && has("commondir")
    }

    /// Brings tree and registration together again. A tree whose files are gone is to be filled anew: without an index.
    pub(super) fn connect(&self) -> Result<(), Refusal> {
        if self.is_half_added() {
            delete(&self.admin.join("locked"))?;
        }
        if !self.tree.is_dir() {
            delete(&self.index())?;
            fs::create_dir_all(&self.tree).map_err(storage("make", &self.tree))?;
        }
        if !self.is_connected() {
            let file = self.tree.join(".git");
            if fs::symlink_metadata(&file).is_ok_and(|it| it.is_dir()) {
                fs::remove_dir_all(&file).map_err(storage("remove", &file))?;
            } else {
                delete(&file)?;
            }
            write(&file, &format!("gitdir: {}\n", self.admin.display()))?;
            write(&self.admin.join("gitdir"), &format!("{}\n", file.display()))?;
        }
        Ok(())
    }

    /// Ends the registration, as git does it.
    pub(super) fn forget(&self) -> Result<(), Refusal> {
        fs::remove_dir_all(&self.admin).map_err(storage("remove", &self.admin))
    }

    /// Git's locks on this worktree and its branch.
    pub(super) fn locks(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.admin).into_iter().flatten().flatten().map(|entry| entry.path());
        let branch = self.admin.ancestors().nth(2).map(|common| lock_of(common, &self.branch));
        let own = entries.filter(|path| path.extension().is_some_and(|it| it == "lock"));
        own.chain(branch.filter(|lock| lock.exists())).collect()
    }

    /// That a patch is on the branch and not yet in the tree.
    pub(super) fn marker(&self) -> PathBuf {
        self.admin.join("querent-patch")
    }

    /// Git writes it when all files are there.
    pub(super) fn index(&self) -> PathBuf {
        self.admin.join("index")
    }

    fn is_connected(&self) -> bool {
        let file = self.tree.join(".git");
        registers(&self.admin).is_some_and(|it| it == file) && leads_to(&file).is_some_and(|it| it == self.admin)
    }

    /// Git locks a worktree while it makes it.
    fn is_half_added(&self) -> bool {
        self.admin.join("locked").exists() && !is_kept(&self.admin)
    }
}

/// Whether a person locked it: it may be on a disk that is not there now.
fn is_kept(admin: &Path) -> bool {
    fs::read_to_string(admin.join("locked")).is_ok_and(|reason| reason.trim() != "initializing")
}

/// Git's lock on a branch.
pub(super) fn lock_of(common: &Path, branch: &str) -> PathBuf {
    common.join("refs/heads").join(format!("{branch}.lock"))
}

/// Removes a file, if it is there.
pub(super) fn delete(file: &Path) -> Result<(), Refusal> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(storage("remove", file)(error)),
        _ => Ok(()),
    }
}

/// The `.git` of the tree that `admin` registers.
fn registers(admin: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(admin.join("gitdir")).ok()?;
    let file = admin.join(text.trim_end_matches('\n'));
    // A relative one has `..` in it.
    let tree = file.parent()?;
    Some(fs::canonicalize(tree).map(|tree| tree.join(".git")).unwrap_or(file))
}

/// The registration that a tree's `.git` leads to.
fn leads_to(file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let admin = text.strip_prefix("gitdir: ")?.trim_end_matches('\n');
    fs::canonicalize(file.parent()?.join(admin)).ok()
}

fn head(admin: &Path) -> Option<String> {
    let text = fs::read_to_string(admin.join("HEAD")).ok()?;
    text.strip_prefix("ref: refs/heads/").map(|branch| branch.trim_end().to_owned())
}
