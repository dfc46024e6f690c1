mod artifacts;
mod commits;
mod hostile;
mod patches;

use std::process::{Command, Stdio};
use std::thread;
use std::time::SystemTime;

use super::*;

/// A repository with a commit, and the project in it; without anything that the machine's user has configured.
struct Fixture {
    dir: tempfile::TempDir,
    top: PathBuf,
    trees: Worktrees,
}

impl Fixture {
    fn new() -> Self {
        Self::below("my shop \u{fc}", "")
    }

    /// A project in the directory `prefix` of a repository called `name`.
    fn below(name: &str, prefix: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap().join(name);
        let root = top.join(prefix);
        fs::create_dir_all(root.join(".querent")).unwrap();
        git(&top, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(root.join(".gitignore"), ".querent/worktrees/\n.querent/run/\n*.log\n").unwrap();
        fs::write(root.join(".querent/config.toml"), "[project]\n").unwrap();
        fs::write(root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        git(&top, &["add", "--all"]);
        git(&top, &["commit", "--quiet", "-m", "begin"]);
        let trees = Worktrees::open_by(&root, Some(tool())).unwrap().unwrap();
        Self { dir, top, trees }
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.top, args)
    }

    /// Git in the item's worktree, as an agent calls it.
    fn in_tree(&self, item: &ItemId, args: &[&str]) -> String {
        git(&self.trees.tree(item), args)
    }

    fn seat(&self, item: &ItemId) -> Seat {
        Seat::find(&self.trees.common, &self.trees.tree(item), &branch(item)).unwrap()
    }

    #[track_caller]
    fn is_whole(&self, item: &ItemId) {
        let dir = self.trees.directory(item);
        assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(self.in_tree(item, &["status", "--porcelain"]), "");
        assert_eq!(self.in_tree(item, &["symbolic-ref", "HEAD"]), format!("refs/heads/querent/{item}"));
        assert!(self.seat(item).is_sound());
    }
}

fn tool() -> Git {
    let mut git = Git::find(std::env::var_os("PATH").as_deref()).unwrap();
    git.env = vec![("GIT_CONFIG_GLOBAL", "/dev/null".into()), ("GIT_CONFIG_SYSTEM", "/dev/null".into())];
    git
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(args);
    let output = command.current_dir(dir).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn item(text: &str) -> ItemId {
    text.parse().unwrap()
}

/// As if it had been made a while ago.
fn age(file: &Path) {
    let then = SystemTime::now() - Duration::from_mins(1);
    File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_project_without_a_repository_or_a_commit_has_no_worktrees() {
    let dir = tempfile::tempdir().unwrap();

    assert!(Worktrees::open_by(dir.path(), Some(tool())).unwrap().is_none());
    assert!(Worktrees::open_by(dir.path(), None).unwrap().is_none());

    git(dir.path(), &["init", "--quiet"]);

    assert!(Worktrees::open_by(dir.path(), Some(tool())).unwrap().is_none());
}

#[test]
fn a_repository_on_a_machine_without_git_is_refused_with_a_cure() {
    let fixture = Fixture::new();

    let refusal = Worktrees::open_by(&fixture.top, Git::find(Some(OsStr::new("/nowhere")))).unwrap_err();

    assert_eq!(refusal.code, Code::StorageError);
    assert!(refusal.hint.contains("install git"), "{}", refusal.hint);
}

#[test]
fn a_worktree_is_made_once_on_a_branch_of_its_own() {
    let fixture = Fixture::new();
    let id = item("login-page");

    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("a.txt"), "changed\n").unwrap();
    let again = fixture.trees.ensure(&id).unwrap();

    assert_eq!(dir, again);
    assert_eq!(dir, fixture.top.join(".querent/worktrees/login-page"));
    assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "changed\n");
    assert_eq!(fixture.git(&["rev-parse", "querent/login-page"]), fixture.git(&["rev-parse", "main"]));
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    assert_eq!(fixture.trees.leftover(), [id]);
}

#[test]
fn a_branch_that_is_there_is_taken_as_it_is() {
    let fixture = Fixture::new();
    let id = item("42");
    fixture.git(&["branch", "querent/42"]);
    fixture.git(&["commit", "--quiet", "--allow-empty", "-m", "later"]);

    fixture.trees.ensure(&id).unwrap();

    assert_eq!(fixture.in_tree(&id, &["log", "--format=%s"]), "begin");
    fixture.is_whole(&id);
}

#[test]
fn a_branch_begins_at_a_detached_head() {
    let fixture = Fixture::new();
    fixture.git(&["checkout", "--quiet", "--detach"]);
    fixture.git(&["commit", "--quiet", "--allow-empty", "-m", "detached"]);
    let id = item("42");

    fixture.trees.ensure(&id).unwrap();

    assert_eq!(fixture.in_tree(&id, &["log", "-1", "--format=%s"]), "detached");
    fixture.is_whole(&id);
}

#[test]
fn a_branch_that_somebody_has_checked_out_elsewhere_is_a_conflict() {
    let fixture = Fixture::new();
    fixture.git(&["checkout", "--quiet", "-b", "querent/42"]);

    let refusal = fixture.trees.ensure(&item("42")).unwrap_err();

    assert_eq!(refusal.code, Code::Conflict, "{refusal}");
    assert!(refusal.message.contains("querent/42"), "{}", refusal.message);
}

#[test]
fn an_agent_works_in_the_subdirectory_that_the_project_is_in() {
    let fixture = Fixture::below("mono repo", "services/pay \u{e9}");
    let id = item("42");

    let dir = fixture.trees.ensure(&id).unwrap();

    let tree = fixture.top.join("services/pay \u{e9}/.querent/worktrees/42");
    assert_eq!(dir, tree.join("services/pay \u{e9}"));
    fixture.is_whole(&id);
}

#[test]
fn a_subdirectory_that_is_on_no_commit_is_there_all_the_same() {
    let fixture = Fixture::new();
    let root = fixture.top.join("new");
    fs::create_dir_all(root.join(".querent")).unwrap();
    let trees = Worktrees::open_by(&root, Some(tool())).unwrap().unwrap();

    let dir = trees.ensure(&item("42")).unwrap();

    assert!(dir.ends_with("new/.querent/worktrees/42/new") && dir.is_dir(), "{}", dir.display());
}

#[test]
fn a_directory_that_git_does_not_know_is_kept_beside_the_worktree_if_it_holds_something() {
    let fixture = Fixture::new();
    let (empty, full) = (item("41"), item("42"));
    fs::create_dir_all(fixture.trees.tree(&empty)).unwrap();
    fs::create_dir_all(fixture.trees.tree(&full)).unwrap();
    fs::write(fixture.trees.tree(&full).join("a.txt"), "mine").unwrap();

    fixture.trees.ensure(&empty).unwrap();
    fixture.trees.ensure(&full).unwrap();

    fixture.is_whole(&empty);
    fixture.is_whole(&full);
    let aside = fixture.trees.trees().join("42.aside-1/a.txt");
    assert_eq!(fs::read_to_string(aside).unwrap(), "mine");
    assert_eq!(fixture.trees.leftover(), [empty, full]);
}

#[test]
fn a_registration_whose_directory_is_gone_is_filled_again() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::remove_dir_all(dir).unwrap();

    fixture.trees.ensure(&id).unwrap();

    fixture.is_whole(&id);
}

#[test]
fn a_kill_while_git_makes_the_worktree_is_healed_whatever_is_there() {
    type Leave = fn(&Seat);
    let points: &[(&str, Leave)] = &[
        ("registered, without HEAD", |seat| {
            fs::remove_file(seat.admin.join("HEAD")).unwrap();
            fs::remove_file(seat.index()).unwrap();
            fs::remove_dir_all(&seat.tree).unwrap();
        }),
        ("an empty commondir", |seat| {
            fs::write(seat.admin.join("commondir"), "").unwrap();
            fs::remove_dir_all(&seat.tree).unwrap();
        }),
        ("no .git file", |seat| {
            fs::remove_file(seat.tree.join(".git")).unwrap();
            fs::remove_file(seat.tree.join("a.txt")).unwrap();
            fs::remove_file(seat.index()).unwrap();
        }),
        ("half of the files, and the lock of the index", |seat| {
            fs::write(seat.tree.join("a.txt"), "on").unwrap();
            fs::rename(seat.index(), seat.admin.join("index.lock")).unwrap();
            age(&seat.admin.join("index.lock"));
        }),
        ("locked", |_| {}),
    ];
    for (point, leave) in points {
        let fixture = Fixture::new();
        let id = item("42");
        fixture.trees.ensure(&id).unwrap();
        let seat = fixture.seat(&id);
        fs::write(seat.admin.join("locked"), "initializing").unwrap();
        leave(&seat);

        fixture.trees.ensure(&id).unwrap_or_else(|refusal| panic!("{point}: {refusal}"));

        fixture.is_whole(&id);
        let other = item("43");
        fixture.trees.ensure(&other).unwrap_or_else(|refusal| panic!("{point}, another item: {refusal}"));
    }
}

#[test]
fn a_branch_without_its_worktree_and_with_a_lock_of_a_dead_process_is_healed() {
    let fixture = Fixture::new();
    let lock = fixture.top.join(".git/refs/heads/querent/42.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    age(&lock);

    fixture.trees.ensure(&item("42")).unwrap();

    fixture.is_whole(&item("42"));
}

#[test]
fn a_left_index_lock_is_taken_away_and_the_work_stays() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("new.txt"), "work").unwrap();
    let lock = fixture.seat(&id).admin.join("index.lock");
    fs::write(&lock, "").unwrap();
    age(&lock);

    fixture.trees.ensure(&id).unwrap();

    assert!(!lock.exists());
    assert_eq!(fs::read_to_string(dir.join("new.txt")).unwrap(), "work");
}

#[test]
fn a_lock_that_a_running_git_may_hold_is_left_to_it() {
    let mut fixture = Fixture::new();
    fixture.trees.git.patience = Duration::from_millis(50);
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("new.txt"), "work").unwrap();
    let lock = fixture.seat(&id).admin.join("index.lock");
    fs::write(&lock, "").unwrap();
    age(&lock);
    // It reads what never comes, so it stays until it is ended.
    let mut running = Command::new("git");
    running.args(["cat-file", "--batch"]).current_dir(&dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let ask = |running: &mut std::process::Child| {
        use std::io::{BufRead, BufReader, Write};
        writeln!(running.stdin.as_mut().unwrap(), "nothing").unwrap();
        BufReader::new(running.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    };
    ask(&mut running);

    let refusal = fixture.trees.commit(&id, "work", "run-1").unwrap_err();

    assert_eq!(refusal.code, Code::LockTimeout, "{refusal}");
    assert!(lock.exists());
    running.kill().unwrap();
    running.wait().unwrap();
    fixture.trees.git.patience = Duration::from_secs(10);
    assert!(fixture.trees.commit(&id, "work", "run-1").unwrap());
}

#[test]
fn a_worktree_that_somebody_works_on_for_too_long_is_a_lock_timeout() {
    let mut fixture = Fixture::new();
    fixture.trees.git.patience = Duration::from_millis(5);
    let held = fixture.trees.lock("42").unwrap();

    let refusal = fixture.trees.ensure(&item("42")).unwrap_err();

    assert_eq!(refusal.code, Code::LockTimeout);
    drop(held);
    fixture.trees.git.patience = Duration::from_secs(10);
    fixture.trees.ensure(&item("42")).unwrap();
}

#[test]
fn a_git_that_outlives_its_caller_holds_the_lock_until_it_has_ended() {
    let mut fixture = Fixture::new();
    fixture.trees.git.patience = Duration::from_millis(5);
    let held = fixture.trees.lock("42").unwrap();
    // As a call hands it on.
    let mut outliving = Command::new("sleep").arg("600").stdin(held.try_clone().unwrap()).spawn().unwrap();
    drop(held);

    let busy = fixture.trees.ensure(&item("42")).unwrap_err();
    outliving.kill().unwrap();
    outliving.wait().unwrap();

    assert_eq!(busy.code, Code::LockTimeout);
    fixture.trees.git.patience = Duration::from_secs(10);
    fixture.trees.ensure(&item("42")).unwrap();
}

#[test]
fn a_git_file_that_an_agent_replaced_is_put_back_and_its_work_stays() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::remove_file(dir.join(".git")).unwrap();
    git(&dir, &["init", "--quiet"]);
    fs::write(dir.join("new.txt"), "work").unwrap();

    fixture.trees.ensure(&id).unwrap();

    assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), "?? new.txt");
}

#[test]
fn a_project_that_was_moved_keeps_its_worktrees_and_the_work_in_them() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("new.txt"), "work").unwrap();
    let there = fixture.dir.path().join("moved");
    fs::rename(&fixture.top, &there).unwrap();
    let trees = Worktrees::open_by(&there, Some(tool())).unwrap().unwrap();

    let dir = trees.ensure(&id).unwrap();

    assert_eq!(git(&dir, &["status", "--porcelain"]), "?? new.txt");
    assert_eq!(trees.git.at(&there).line(&["worktree", "prune", "--dry-run"]).unwrap(), "");
}

#[test]
fn an_agent_that_left_its_branch_is_brought_back_and_what_it_committed_is_kept() {
    let fixture = Fixture::new();
    let (ahead, elsewhere) = (item("41"), item("42"));
    for id in [&ahead, &elsewhere] {
        fixture.trees.ensure(id).unwrap();
    }
    fixture.in_tree(&ahead, &["checkout", "--quiet", "-b", "feature"]);
    fixture.in_tree(&ahead, &["commit", "--quiet", "--allow-empty", "-m", "on feature"]);
    fixture.in_tree(&elsewhere, &["commit", "--quiet", "--allow-empty", "-m", "on ours"]);
    fixture.in_tree(&elsewhere, &["checkout", "--quiet", "--detach", "main"]);

    for id in [&ahead, &elsewhere] {
        fixture.trees.ensure(id).unwrap();
        fixture.is_whole(id);
    }

    assert_eq!(fixture.git(&["log", "-1", "--format=%s", "querent/41"]), "on feature");
    assert_eq!(fixture.git(&["log", "-1", "--format=%s", "querent/42"]), "on ours");
}

#[test]
fn two_who_want_the_same_worktree_both_get_it() {
    let fixture = Fixture::new();
    let id = item("42");

    let dirs: Vec<PathBuf> = thread::scope(|scope| {
        let both: Vec<_> = (0..2).map(|_| scope.spawn(|| fixture.trees.ensure(&id).unwrap())).collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });

    assert_eq!(dirs[0], dirs[1]);
    fixture.is_whole(&id);
}

#[test]
fn fifty_items_from_eight_threads_all_get_their_worktrees() {
    let fixture = Fixture::new();
    let items: Vec<ItemId> = (0..50).map(|number| item(&format!("item-{number:02}"))).collect();

    thread::scope(|scope| {
        for part in items.chunks(7) {
            let trees = fixture.trees.clone();
            scope.spawn(move || part.iter().for_each(|id| drop(trees.ensure(id).unwrap())));
        }
    });

    for id in &items {
        fixture.is_whole(id);
    }
    assert_eq!(fixture.trees.leftover(), items);
}

#[test]
fn a_worktree_is_removed_with_what_is_in_it_and_its_branch_is_kept() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::create_dir(dir.join("cache")).unwrap();
    fs::write(dir.join("cache/x.log"), "x").unwrap();
    fs::set_permissions(dir.join("cache"), fs::Permissions::from_mode(0o500)).unwrap();
    fixture.git(&["worktree", "lock", &dir.display().to_string()]);

    fixture.trees.remove(&id).unwrap();
    fixture.trees.remove(&id).unwrap();

    assert!(!dir.exists() && fixture.trees.leftover().is_empty());
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(fixture.git(&["rev-parse", "querent/42"]), fixture.git(&["rev-parse", "main"]));
    fixture.trees.ensure(&id).unwrap();
    fixture.is_whole(&id);
}

#[test]
fn what_a_kill_left_of_a_removal_is_listed_and_removed() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::rename(&dir, dir.with_extension(GONE)).unwrap();
    assert!(fixture.trees.is_left(&id));

    let left = fixture.trees.leftover();
    for id in &left {
        fixture.trees.remove(id).unwrap();
    }

    assert!(!fixture.trees.is_left(&id));
    assert_eq!(left, [id]);
    assert!(fs::read_dir(fixture.trees.trees()).unwrap().next().is_none());
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn git_does_not_see_the_worktrees_of_a_project_that_was_made_by_init() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    crate::Project::init(dir.path(), None, "feature").unwrap();
    git(dir.path(), &["add", "--all"]);
    git(dir.path(), &["commit", "--quiet", "-m", "begin"]);
    let trees = Worktrees::open_by(dir.path(), Some(tool())).unwrap().unwrap();

    trees.ensure(&item("42")).unwrap();

    assert_eq!(git(dir.path(), &["status", "--porcelain"]), "");
}
