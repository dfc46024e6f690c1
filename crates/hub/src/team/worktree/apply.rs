//! A patch comes onto the branch whole or not at all, and once.
//!
//! It is tried on an index of its own, so what would change is known before anything does. The branch is what decides: it moves
//! in one step, and the files follow. A mark says that they do, for whoever comes after a crash in between.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use querent_core::{ItemId, Refusal};
use serde_json::json;

use super::change::{Change, absolute, forbidden, in_the_way};
use super::git::{Call, Failure};
use super::seat::{Seat, delete};
use super::{Applied, PATCH, Worktrees, composed, identity, is_object, within, write};

impl Worktrees {
    /// Applies a unified diff and commits it, or changes nothing. Paths are from the project's directory; they may be from the
    /// top of the repository, as git writes them, if all of them lead into the project's directory.
    pub(crate) fn apply(&self, item: &ItemId, patch: &str, id: &str) -> Result<Applied, Refusal> {
        let message = composed("Apply a patch", PATCH, id)?;
        if patch.trim().is_empty() {
            return Err(Refusal::invalid("patch", "the patch is empty", "send a unified diff"));
        }
        if let Some(path) = absolute(patch) {
            return Err(forbidden(path, "is absolute"));
        }
        let held = self.lock(item.as_str())?;
        let seat = self.seat(item, &held)?;
        let call = self.git.at(&seat.tree).on(&seat).holding(&held);
        let doing = |failure: Failure| failure.refusal(&format!("apply a patch for item {item}"));
        if let Some(commit) = self.trailing(item, PATCH, id).map_err(doing)? {
            let paths = difference(&call, &format!("{commit}^"), &commit)?.into_iter().map(|it| it.path).collect();
            return Ok(Applied { commit, paths, again: true });
        }
        let tip = call.line(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(doing)?;
        let drafted = self.draft(&call, &seat, patch, &tip);
        let (tree, changes) =
            drafted.and_then(|(tree, changes)| check(&call, &seat, &changes).map(|()| (tree, changes)))?;
        let call = call.clone().with(identity(&call));
        let commit = call.line(&["commit-tree", &tree, "-p", &tip, "-m", &message]).map_err(doing)?;
        write(&seat.marker(), &format!("{tip} {commit}"))?;
        let branch = format!("refs/heads/{}", seat.branch);
        let moved = call.run(&["update-ref", "-m", "querent: apply a patch", &branch, &commit, &tip]);
        if let Err(failure) = moved {
            delete(&seat.marker())?;
            return Err(doing(failure));
        }
        self.follow(&call, &seat, &changes, &commit).map_err(doing)?;
        delete(&seat.marker())?;
        Ok(Applied { commit, paths: changes.into_iter().map(|it| it.path).collect(), again: false })
    }

    /// Ends what a process began that was killed after the branch had moved.
    pub(super) fn finish(&self, call: &Call<'_>, seat: &Seat) -> Result<(), Refusal> {
        let Ok(mark) = fs::read_to_string(seat.marker()) else { return Ok(()) };
        let doing = |failure: Failure| failure.refusal("end the patch that was begun");
        let tip = call.line(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(doing)?;
        if let Some((before, commit)) = mark.split_once(' ')
            && is_object(before)
            && commit == tip
        {
            self.follow(call, seat, &difference(call, before, commit)?, commit).map_err(doing)?;
        }
        delete(&seat.marker())
    }

    /// The tree that comes out of it, and what is changed in it. Nothing has happened yet.
    fn draft(&self, call: &Call<'_>, seat: &Seat, patch: &str, tip: &str) -> Result<(String, Vec<Change>), Refusal> {
        let (file, index) = (seat.admin.join("querent-patch.diff"), seat.admin.join("querent-index"));
        let tidy = || delete(&file).and_then(|()| delete(&index)).and_then(|()| delete(&index.with_extension("lock")));
        tidy()?;
        // Those who write patches by hand forget the end of the last line.
        let end = if patch.ends_with('\n') { "" } else { "\n" };
        write(&file, &format!("{patch}{end}"))?;
        let drafted = (|| {
            let call = call.clone().with_index(&index);
            let doing = |failure: Failure| failure.refusal("try the patch");
            call.run(&["read-tree", tip]).map_err(doing)?;
            let from = format!("--directory={}", self.prefix.display());
            let name = file.display().to_string();
            let mut args = vec!["apply", "--cached", &name];
            if !self.is_from_top(&call, seat, &name) {
                args.insert(1, &from);
            }
            call.run(&args).map_err(|failure| does_not_apply(&failure, &seat.branch))?;
            let raw = call.run(&["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", tip, "--"]);
            let changes = Change::read(&raw.map_err(doing)?)?;
            Ok((call.line(&["write-tree"]).map_err(doing)?, changes))
        })();
        tidy()?;
        drafted
    }

    /// Brings index and files after the branch. It may be done again.
    fn follow(&self, call: &Call<'_>, seat: &Seat, changes: &[Change], commit: &str) -> Result<(), Failure> {
        let (gone, kept): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.is_removal());
        let paths: Vec<&str> = changes.iter().map(|it| it.path.as_str()).collect();
        call.run_for(&["reset", "--quiet", commit, "--"], &paths)?;
        let directory = within(seat.tree.clone(), &self.prefix);
        for change in gone.iter().filter(|change| !change.is_behind_link(&seat.tree)) {
            let file = seat.tree.join(&change.path);
            let _ = fs::remove_file(&file);
            // Git knows no empty directories. An agent that works in one does.
            let above = file.ancestors().skip(1).take_while(|dir| !directory.starts_with(dir));
            above.map(fs::remove_dir).take_while(Result::is_ok).for_each(drop);
        }
        let kept: Vec<&str> = kept.iter().map(|it| it.path.as_str()).collect();
        call.run_for(&["checkout-index", "--force", "--quiet", "--index", "--"], &kept).map(|_| ())
    }

    /// Whether its paths are as git writes them. Those of a project at the top always are.
    fn is_from_top(&self, call: &Call<'_>, seat: &Seat, patch: &str) -> bool {
        if self.prefix.as_os_str().is_empty() {
            return true;
        }
        let Ok(listed) = call.run(&["apply", "--numstat", "-z", patch]) else { return false };
        let mut files = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty()).map(String::from_utf8_lossy);
        let is_inside =
            |line: &str| line.rsplit('\t').next().is_some_and(|path| Path::new(path).starts_with(&self.prefix));
        files.all(|line| is_inside(&line)) && !seat.tree.join(&self.prefix).join(&self.prefix).exists()
    }
}

/// Whether all of it may be done to the worktree.
fn check(call: &Call<'_>, seat: &Seat, changes: &[Change]) -> Result<(), Refusal> {
    if changes.is_empty() {
        return Err(Refusal::invalid("patch", "the patch changes nothing", "send a unified diff"));
    }
    changes.iter().try_for_each(Change::check)?;
    let doing = |failure: Failure| failure.refusal("read what the patch would change");
    for change in changes.iter().filter(|change| change.is_link()) {
        let target = call.run(&["cat-file", "blob", &change.object]).map_err(doing)?;
        change.check_target(&seat.tree, &target)?;
    }
    let removed: BTreeSet<&str> = changes.iter().filter(|it| it.is_removal()).map(|it| it.path.as_str()).collect();
    changes.iter().try_for_each(|change| change.check_place(&seat.tree, &removed))?;
    let known: Vec<&str> = changes.iter().filter(|it| !it.is_new()).map(|it| it.path.as_str()).collect();
    let asked =
        ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "--"];
    let dirty = call.run_for(&asked, &known).map_err(doing)?;
    match dirty.split(|byte| *byte == 0).next().and_then(|line| line.get(3..)) {
        Some(path) => Err(in_the_way(&String::from_utf8_lossy(path))),
        None => Ok(()),
    }
}

fn difference(call: &Call<'_>, before: &str, after: &str) -> Result<Vec<Change>, Refusal> {
    let asked = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", before, after, "--"];
    Change::read(&call.run(&asked).map_err(|failure| failure.refusal("read what a patch changed"))?)
}

fn does_not_apply(failure: &Failure, branch: &str) -> Refusal {
    if failure.is_the_systems() {
        return failure.refusal("try the patch");
    }
    let message = format!("the patch does not apply: {}", failure.reason());
    let hint = format!("make it from the files as they are on the branch `{branch}`, and send it again");
    Refusal::invalid("patch", message, hint).with(json!({ "field": "patch", "git": failure.said.trim() }))
}
