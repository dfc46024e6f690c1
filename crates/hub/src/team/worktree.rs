//! A worktree for each item: where its agents work, on a branch of its own, without being in each other's way.
//!
//! Whatever is killed at any point is healed by the next call on the item. Calls on one item come one after the other, also
//! from several processes; those on different items hardly know of each other.

mod apply;
mod artifacts;
mod change;
mod git;
mod seat;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use querent_core::{Code, ItemId, Refusal};
use serde_json::json;

use self::git::{Call, Failure, Git, is_abandoned};
use self::seat::{Seat, lock_of};

/// Below `.querent/`.
const TREES: &str = "worktrees";
const RUN: &str = "run/worktrees";

/// What is being removed; a dot is in no item's name.
const GONE: &str = "gone";

/// The trailers by which it is known what is on a branch already.
const PATCH: &str = "Querent-Patch";
const COMMIT: &str = "Querent-Commit";

/// The worktrees of a project's items.
#[derive(Clone, Debug)]
pub(crate) struct Worktrees {
    root: PathBuf,
    /// The repository, where all of its worktrees are registered.
    common: PathBuf,
    /// The way from the top of a worktree to the project's directory in it; empty if that is the top.
    prefix: PathBuf,
    git: Git,
}

/// A patch that is on the branch of its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Its commit.
    pub(crate) commit: String,
    /// The files that it changed, from the top of the repository.
    pub(crate) paths: Vec<String>,
    /// Whether it was there before this call.
    pub(crate) again: bool,
}

impl Worktrees {
    /// Those of the project in `root`. None if it is in no git repository, or in one without a commit.
    pub(crate) fn open(root: &Path) -> Result<Option<Self>, Refusal> {
        Self::open_by(root, Git::find(std::env::var_os("PATH").as_deref()))
    }

    fn open_by(root: &Path, git: Option<Git>) -> Result<Option<Self>, Refusal> {
        let root = fs::canonicalize(root).map_err(storage("read", root))?;
        if !root.ancestors().any(|dir| dir.join(".git").exists()) {
            return Ok(None);
        }
        let git = git.ok_or_else(|| {
            let message = "the project is in a git repository, but there is no `git` to work with it";
            Refusal::new(Code::StorageError, message, "install git, or add the directory that it is in to PATH")
        })?;
        let asked = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix"];
        let said = git.at(&root).line(&asked).map_err(|failure| failure.refusal("read the repository"))?;
        let (common, prefix) = said.split_once('\n').unwrap_or((&said, ""));
        let common = fs::canonicalize(common).map_err(storage("read", Path::new(common)))?;
        let prefix = PathBuf::from(prefix.trim_end_matches('/'));
        let has_commits = git.at(&root).run(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).is_ok();
        Ok(has_commits.then_some(Self { root, common, prefix, git }))
    }

    /// Where an agent works on the item: in the worktree what the project's directory is in the repository.
    pub(crate) fn directory(&self, item: &ItemId) -> PathBuf {
        within(self.tree(item), &self.prefix)
    }

    /// Makes the worktree on its branch, or makes it whole, and says where to work in it. The branch is begun at the commit that
    /// the project's own checkout is at. One that is as it should be costs a few looks at files.
    pub(crate) fn ensure(&self, item: &ItemId) -> Result<PathBuf, Refusal> {
        let held = self.lock(item.as_str())?;
        self.seat(item, &held)?;
        Ok(self.directory(item))
    }

    /// Commits whatever has changed in the worktree, but for what git ignores; says whether that was anything, also if it was an
    /// earlier call with this id that did it. What has changed since then is committed too: nobody may be there to see to it later.
    pub(crate) fn commit(&self, item: &ItemId, message: &str, id: &str) -> Result<bool, Refusal> {
        let message = composed(message, COMMIT, id)?;
        let held = self.lock(item.as_str())?;
        let doing = |failure: Failure| failure.refusal(&format!("commit the work on item {item}"));
        let was_done = || Ok(self.trailing(item, COMMIT, id).map_err(doing)?.is_some());
        if !self.tree(item).is_dir() {
            return was_done();
        }
        let seat = self.seat(item, &held)?;
        let call = self.git.at(&seat.tree).on(&seat).holding(&held);
        call.run(&["add", "--all"]).map_err(doing)?;
        if call.says(&["diff-index", "--cached", "--quiet", "HEAD", "--"]).map_err(doing)? {
            return was_done();
        }
        let call = call.clone().with(identity(&call));
        call.run(&["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "-m", &message]).map_err(doing)?;
        Ok(true)
    }

    /// Removes the worktree with everything that is not committed, and keeps the branch.
    pub(crate) fn remove(&self, item: &ItemId) -> Result<(), Refusal> {
        let _held = self.lock(item.as_str())?;
        let tree = self.tree(item);
        let gone = tree.with_extension(GONE);
        clear(&gone)?;
        // In one step, so that what is there is never the half of a worktree.
        match fs::rename(&tree, &gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(storage("remove", &tree)(error)),
            _ => {}
        }
        if let Some(seat) = Seat::find(&self.common, &tree, &branch(item)) {
            seat.forget()?;
        }
        clear(&gone)
    }

    /// Whether the item has a worktree, or the rest of one that somebody was about to remove.
    pub(crate) fn is_left(&self, item: &ItemId) -> bool {
        let tree = self.tree(item);
        tree.is_dir() || tree.with_extension(GONE).is_dir()
    }

    /// The items that have a worktree, or the rest of one.
    #[cfg(test)]
    pub(crate) fn leftover(&self) -> Vec<ItemId> {
        let entries = fs::read_dir(self.trees()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let item = |name: String| name.strip_suffix(&format!(".{GONE}")).unwrap_or(&name).parse().ok();
        let mut items: Vec<ItemId> = names.filter_map(item).collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    fn trees(&self) -> PathBuf {
        let trees = self.root.join(".querent").join(TREES);
        // Git knows places by their real names.
        fs::canonicalize(&trees).unwrap_or(trees)
    }

    fn tree(&self, item: &ItemId) -> PathBuf {
        self.trees().join(item.as_str())
    }

    fn run_file(&self, name: &str, ending: &str) -> PathBuf {
        self.root.join(".querent").join(RUN).join(format!("{name}.{ending}"))
    }

    /// Ends with the file, or with this process and the git that it called.
    fn lock(&self, name: &str) -> Result<File, Refusal> {
        let path = self.run_file(name, "lock");
        let open = || OpenOptions::new().read(true).append(true).create(true).open(&path);
        let file = open().or_else(|_| {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            open()
        });
        let file = file.map_err(storage("open", &path))?;
        // Whoever is before us may fill a large worktree.
        let until = Instant::now() + self.git.patience * 6;
        let mut pause = Duration::from_millis(1);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(storage("lock", &path)(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(pause),
                Err(TryLockError::WouldBlock) => {
                    let message = format!("somebody else works on the worktree `{name}`, and does not come to an end");
                    let hint = "look for a git or a querent that stands still, and end it";
                    return Err(Refusal::new(Code::LockTimeout, message, hint).with(json!({ "path": path })));
                }
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// The item's worktree, as it should be.
    fn seat(&self, item: &ItemId, held: &File) -> Result<Seat, Refusal> {
        match Seat::find(&self.common, &self.tree(item), &branch(item)) {
            Some(seat) if seat.is_sound() && self.directory(item).is_dir() => Ok(seat),
            _ => self.heal(item, held),
        }
    }

    fn heal(&self, item: &ItemId, held: &File) -> Result<Seat, Refusal> {
        let trees = self.root.join(".querent").join(TREES);
        fs::create_dir_all(&trees).map_err(storage("make", &trees))?;
        let find = || Seat::find(&self.common, &self.tree(item), &branch(item));
        // Git stumbles over registrations that are half made. So they are made one at a time, and filled at once.
        let adding = self.lock(".adding")?;
        let seat = match find() {
            Some(seat) if seat.is_usable() => seat,
            found => {
                found.map_or(Ok(()), |seat| seat.forget())?;
                self.set_aside(item)?;
                self.add(item, &adding)
                    .map_err(|failure| failure.refusal(&format!("make a worktree for item {item}")))?;
                find().ok_or_else(|| {
                    let message = format!("git made a worktree for item {item} that is not where it should be");
                    Refusal::new(Code::StorageError, message, "run: git worktree prune")
                })?
            }
        };
        drop(adding);
        seat.connect()?;
        self.free_locks(&seat);
        let doing = |failure: Failure| failure.refusal(&format!("fill the worktree of item {item}"));
        let call = self.git.at(&seat.tree).on(&seat).holding(held);
        if !seat.index().is_file() {
            call.run(&["reset", "--quiet", "--hard"]).map_err(doing)?;
        }
        return_to_branch(&call, &seat)?;
        self.finish(&call, &seat)?;
        let directory = self.directory(item);
        fs::create_dir_all(&directory).map_err(storage("make", &directory))?;
        Ok(seat)
    }

    /// Registers the worktree without its files, and begins the branch if there is none.
    fn add(&self, item: &ItemId, adding: &File) -> Result<(), Failure> {
        let (tree, branch) = (self.tree(item), branch(item));
        let lock = lock_of(&self.common, &branch);
        if is_abandoned(&lock, &tree) {
            let _ = fs::remove_file(&lock);
        }
        let call = self.git.at(&self.root).holding(adding);
        let mut args: Vec<&OsStr> = ["worktree", "add", "--quiet", "--no-checkout"].map(OsStr::new).into();
        let base;
        if call.says(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")])? {
            args.extend([tree.as_os_str(), OsStr::new(&branch)]);
        } else {
            base = call.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
            // It spares the search for it; so it may be lost.
            let _ = fs::write(self.run_file(item.as_str(), "fork"), &base);
            args.extend(["--no-track", "-b", &branch].map(OsStr::new));
            args.extend([tree.as_os_str(), OsStr::new(&base)]);
        }
        call.run(&args).map(|_| ())
    }

    /// What is in the worktree's place and not known to git may be somebody's work: it is kept beside it.
    fn set_aside(&self, item: &ItemId) -> Result<(), Refusal> {
        let tree = self.tree(item);
        if fs::symlink_metadata(&tree).is_err() {
            return Ok(());
        }
        let mut entries = fs::read_dir(&tree).into_iter().flatten().flatten();
        if tree.is_dir() && entries.all(|entry| entry.file_name() == ".git" && entry.path().is_file()) {
            return clear(&tree);
        }
        let mut places = (1_u32..).map(|number| tree.with_extension(format!("aside-{number}")));
        let place = places.find(|place| !place.exists()).unwrap_or_else(|| tree.with_extension("aside"));
        fs::rename(&tree, &place).map_err(storage("move", &tree))
    }

    /// Takes away the locks of git's that a dead process left. One that is somebody's is waited for, and left to them at last.
    fn free_locks(&self, seat: &Seat) {
        let until = Instant::now() + self.git.patience;
        loop {
            let mut locks = seat.locks();
            locks.retain(|lock| !(is_abandoned(lock, &seat.tree) && fs::remove_file(lock).is_ok()));
            if locks.is_empty() || Instant::now() >= until {
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// The commit of the branch that has this trailer, of those since it was begun.
    fn trailing(&self, item: &ItemId, key: &str, id: &str) -> Result<Option<String>, Failure> {
        let call = self.git.at(&self.root);
        let branch = format!("refs/heads/{}", branch(item));
        if !call.says(&["show-ref", "--verify", "--quiet", &branch])? {
            return Ok(None);
        }
        let noted = fs::read_to_string(self.run_file(item.as_str(), "fork")).ok().filter(|text| is_object(text));
        let fork = noted.or_else(|| call.line(&["merge-base", "HEAD", &branch]).ok());
        let grep = format!("--grep={key}: {id}");
        let format = format!("--format=%H%x1f%(trailers:key={key},valueonly,separator=%x1f)");
        let mut args = vec!["log".to_owned(), "--fixed-strings".to_owned(), grep, format, branch];
        args.extend(fork.map(|fork| format!("^{fork}")));
        args.push("--".to_owned());
        let found = call.line(&args)?;
        let mut commits = found.lines().map(|line| line.split('\x1f'));
        Ok(commits.find_map(|mut fields| {
            let commit = fields.next()?;
            fields.any(|it| it == id).then(|| commit.to_owned())
        }))
    }
}

fn branch(item: &ItemId) -> String {
    format!("querent/{item}")
}

/// An agent may have gone to another branch. What it did on from ours is taken over; else the worktree goes back to ours.
fn return_to_branch(call: &Call<'_>, seat: &Seat) -> Result<(), Refusal> {
    let ours = format!("refs/heads/{}", seat.branch);
    if seat.is_on_branch() || call.line(&["symbolic-ref", "--quiet", "HEAD"]).is_ok_and(|head| head == ours) {
        return Ok(());
    }
    let doing = |failure: Failure| failure.refusal(&format!("return to the branch `{}`", seat.branch));
    if call.says(&["merge-base", "--is-ancestor", &ours, "HEAD"]).map_err(doing)? {
        call.run(&["update-ref", "-m", "querent: take over", &ours, "HEAD"]).map_err(doing)?;
        call.run(&["symbolic-ref", "-m", "querent: return", "HEAD", &ours]).map_err(doing)?;
        return Ok(());
    }
    call.run(&["checkout", "--quiet", &seat.branch, "--"]).map(|_| ()).map_err(|failure| {
        let message = format!("the worktree has left its branch `{}`: {}", seat.branch, failure.reason());
        let hint = "commit or discard what is changed in the worktree, and check out the branch there";
        Refusal::new(Code::Conflict, message, hint).with(json!({ "path": seat.tree }))
    })
}

/// The settings for a commit of somebody whom git does not know by a name.
fn identity(call: &Call<'_>) -> &'static [&'static str] {
    let known = call.clone().with(&["user.useConfigOnly=true"]).run(&["var", "GIT_COMMITTER_IDENT"]);
    if known.is_ok() { &[] } else { &["user.name=Querent", "user.email=querent@localhost"] }
}

/// The message of a commit. The trailer is a paragraph of its own, so that nothing in the text is taken for one.
fn composed(text: &str, key: &str, id: &str) -> Result<String, Refusal> {
    if id.is_empty() || id.len() > 200 || id.trim() != id || id.chars().any(char::is_control) {
        return Err(Refusal::malformed("id", id, "1 to 200 characters on one line"));
    }
    let text: String = text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).take(10_000).collect();
    let text = if text.trim().is_empty() { "Work on the item" } else { text.trim() };
    Ok(format!("{text}\n\n{key}: {id}\n"))
}

fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn within(top: PathBuf, prefix: &Path) -> PathBuf {
    if prefix.as_os_str().is_empty() { top } else { top.join(prefix) }
}

/// Removes a directory with all that is below it, also from directories that their owner may not write to.
fn clear(dir: &Path) -> Result<(), Refusal> {
    if fs::symlink_metadata(dir).is_err() || fs::remove_dir_all(dir).is_ok() {
        return Ok(());
    }
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let _ = fs::set_permissions(&dir, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        open.extend(entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.path()));
    }
    fs::remove_dir_all(dir).map_err(storage("remove", dir))
}

fn write(file: &Path, text: &str) -> Result<(), Refusal> {
    fs::write(file, text).map_err(storage("write", file))
}

fn storage(doing: &str, path: &Path) -> impl Fn(io::Error) -> Refusal {
    move |error| {
        let message = format!("cannot {doing} {}: {error}", path.display());
        Refusal::new(Code::StorageError, message, "check the disk and the rights").with(json!({ "path": path }))
    }
}

#[cfg(test)]
mod tests;
