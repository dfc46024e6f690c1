use super::*;

const ADD: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n two\n three\n+four\n";

fn read(fixture: &Fixture, id: &ItemId, file: &str) -> String {
    fs::read_to_string(fixture.trees.directory(id).join(file)).unwrap()
}

#[test]
fn a_patch_is_committed_with_its_id_and_applied_once() {
    let fixture = Fixture::new();
    let id = item("42");

    let first = fixture.trees.apply(&id, ADD, "patch 1").unwrap();
    let again = fixture.trees.apply(&id, ADD, "patch 1").unwrap();
    let other = fixture.trees.apply(&id, ADD.trim_end(), "patch 10").unwrap_err();

    assert_eq!(first.paths, ["a.txt"]);
    assert_eq!(again, Applied { again: true, ..first.clone() });
    assert!(other.message.contains("patch failed: a.txt:1"), "{}", other.message);
    assert_eq!(read(&fixture, &id, "a.txt"), "one\ntwo\nthree\nfour\n");
    assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), "");
    assert_eq!(fixture.git(&["rev-parse", "querent/42"]), first.commit);
    assert_eq!(
        fixture.git(&["log", "-1", "--format=%(trailers:key=Querent-Patch,valueonly)", "querent/42"]),
        "patch 1"
    );
    assert_eq!(fixture.git(&["log", "--format=%s", "querent/42"]).lines().count(), 2);
}

#[test]
fn a_patch_may_add_remove_rename_and_turn_files_into_directories_and_back() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::create_dir_all(dir.join("d/e")).unwrap();
    for file in ["d/e/f.txt", "old name.txt", "file"] {
        fs::write(dir.join(file), format!("{file}\n")).unwrap();
    }
    fixture.trees.commit(&id, "before", "run-1").unwrap();
    fs::remove_dir_all(dir.join("d")).unwrap();
    fs::write(dir.join("d"), "was a directory\n").unwrap();
    fs::remove_file(dir.join("file")).unwrap();
    fs::create_dir(dir.join("file")).unwrap();
    fs::write(dir.join("file/inside"), [0, 159, 146, 150, 0]).unwrap();
    fs::rename(dir.join("old name.txt"), dir.join("n\u{e9}w name.txt")).unwrap();
    std::os::unix::fs::symlink("file/inside", dir.join("link")).unwrap();
    fixture.in_tree(&id, &["add", "--all"]);
    let patch = fixture.in_tree(&id, &["diff", "--cached", "--binary", "--find-renames=1%"]) + "\n";
    fixture.in_tree(&id, &["reset", "--quiet", "--hard"]);

    fixture.trees.apply(&id, &patch, "patch-1").unwrap();

    assert_eq!(read(&fixture, &id, "d"), "was a directory\n");
    assert_eq!(read(&fixture, &id, "n\u{e9}w name.txt"), "old name.txt\n");
    assert_eq!(fs::read(dir.join("link")).unwrap(), [0, 159, 146, 150, 0]);
    assert!(!dir.join("old name.txt").exists());
    assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), "");
}

#[test]
fn the_ends_of_lines_survive() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("dos.txt"), "one\r\ntwo\r\n").unwrap();
    fs::write(dir.join("other.txt"), "un\r\n").unwrap();
    fixture.trees.commit(&id, "before", "run-1").unwrap();

    let patch = "--- a/dos.txt\n+++ b/dos.txt\n@@ -1,2 +1,3 @@\n one\r\n+and a half\r\n two\r\n";
    fixture.trees.apply(&id, patch, "patch-1").unwrap();

    assert_eq!(read(&fixture, &id, "dos.txt"), "one\r\nand a half\r\ntwo\r\n");
    assert_eq!(read(&fixture, &id, "other.txt"), "un\r\n");
}

#[test]
fn a_patch_of_which_a_part_does_not_apply_changes_nothing() {
    let fixture = Fixture::new();
    let id = item("42");
    let patch = format!("{ADD}--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n");

    let refusal = fixture.trees.apply(&id, &patch, "patch-1").unwrap_err();

    assert_eq!(refusal.code, Code::InvalidInput);
    assert!(refusal.message.contains("b.txt: does not exist in index"), "{}", refusal.message);
    fixture.is_whole(&id);
    assert_eq!(fixture.git(&["rev-parse", "querent/42"]), fixture.git(&["rev-parse", "main"]));
}

#[test]
fn what_is_no_patch_is_refused() {
    let fixture = Fixture::new();
    for patch in ["", " \n", "please change it", "--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@\n one\n"] {
        let refusal = fixture.trees.apply(&item("42"), patch, "patch-1").unwrap_err();
        assert_eq!(refusal.code, Code::InvalidInput, "{patch}: {refusal}");
    }
}

#[test]
fn work_that_is_not_committed_is_not_overwritten() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("a.txt"), "one\ntwo\nthree\nmine\n").unwrap();
    fs::write(dir.join("b.log"), "ignored, and mine\n").unwrap();
    let new = "--- /dev/null\n+++ b/b.log\n@@ -0,0 +1 @@\n+theirs\n";
    let below = "--- /dev/null\n+++ b/b.log/c\n@@ -0,0 +1 @@\n+theirs\n";
    let free = "--- /dev/null\n+++ b/free.txt\n@@ -0,0 +1 @@\n+theirs\n";

    for (patch, path) in [(ADD, "a.txt"), (new, "b.log"), (below, "b.log")] {
        let refusal = fixture.trees.apply(&id, patch, "patch-1").unwrap_err();
        assert_eq!(refusal.code, Code::Conflict, "{refusal}");
        assert_eq!(refusal.details["path"], path);
    }
    fixture.trees.apply(&id, free, "patch-1").unwrap();

    assert_eq!(read(&fixture, &id, "a.txt"), "one\ntwo\nthree\nmine\n");
    assert_eq!(read(&fixture, &id, "b.log"), "ignored, and mine\n");
    assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), " M a.txt");
}

#[test]
fn a_kill_between_the_branch_and_the_files_is_made_good() {
    let patch = format!("{ADD}--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1 @@\n+new\n");
    for followed in [0, 1] {
        let fixture = Fixture::new();
        let id = item("42");
        let applied = fixture.trees.apply(&id, &patch, "patch-1").unwrap();
        // As it was when the branch had moved: the files are the old ones, or half of them are.
        let (seat, dir) = (fixture.seat(&id), fixture.trees.directory(&id));
        fixture.in_tree(&id, &["read-tree", "main"]);
        fs::remove_dir_all(dir.join("d")).unwrap();
        fs::write(dir.join("a.txt"), ["one\ntwo\nthree\n", "one\ntw"][followed]).unwrap();
        fs::write(dir.join("mine.txt"), "mine").unwrap();
        fs::write(seat.marker(), format!("{} {}", fixture.git(&["rev-parse", "main"]), applied.commit)).unwrap();

        let again = fixture.trees.apply(&id, &patch, "patch-1").unwrap();

        assert!(again.again);
        assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), "?? mine.txt");
        assert_eq!(read(&fixture, &id, "d/new.txt"), "new\n");
    }
}

#[test]
fn a_kill_before_the_branch_has_moved_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let id = item("42");
    fixture.trees.ensure(&id).unwrap();
    let seat = fixture.seat(&id);
    let main = fixture.git(&["rev-parse", "main"]);
    for mark in [format!("{main} {}", "1".repeat(40)), format!("{main} 11"), String::new()] {
        fs::write(seat.marker(), mark).unwrap();
        fs::write(seat.admin.join("querent-index"), "half").unwrap();
        fs::write(seat.admin.join("querent-index.lock"), "half").unwrap();
        age(&seat.admin.join("querent-index.lock"));

        fixture.trees.ensure(&id).unwrap();

        fixture.is_whole(&id);
    }
    assert!(!fixture.trees.apply(&id, ADD, "patch-1").unwrap().again);
}

#[test]
fn paths_are_from_the_projects_directory_or_as_git_writes_them() {
    let fixture = Fixture::below("mono", "services/pay");
    let id = item("42");
    let from_top = "--- a/services/pay/a.txt\n+++ b/services/pay/a.txt\n@@ -1 +1 @@\n-ONE\n+Uno\n";
    let out = "--- /dev/null\n+++ b/../x.txt\n@@ -0,0 +1 @@\n+x\n";

    let first = fixture.trees.apply(&id, &ADD.replace(" one", "-one\n+ONE"), "patch-1").unwrap();
    let patch = from_top.replace("@@ -1 +1 @@\n-ONE\n+Uno\n", "@@ -1,2 +1,2 @@\n-ONE\n+Uno\n two\n");
    let second = fixture.trees.apply(&id, &patch, "patch-2").unwrap();
    let refusal = fixture.trees.apply(&id, out, "patch-3").unwrap_err();

    assert_eq!((&first.paths, &second.paths), (&vec!["services/pay/a.txt".to_owned()], &first.paths));
    assert_eq!(read(&fixture, &id, "a.txt"), "Uno\ntwo\nthree\nfour\n");
    assert_eq!(refusal.code, Code::InvalidInput);
    assert!(refusal.message.contains("../x.txt"), "{}", refusal.message);
}

#[test]
fn a_directory_in_which_an_agent_works_stays_when_its_last_file_goes() {
    let fixture = Fixture::below("mono", "pay");
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    for file in [".gitignore", ".querent/config.toml"] {
        fs::remove_file(dir.join(file)).unwrap();
    }
    fs::remove_dir(dir.join(".querent")).unwrap();
    fixture.trees.commit(&id, "less", "run-1").unwrap();

    let patch = "--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n";
    fixture.trees.apply(&id, patch, "patch-1").unwrap();

    assert!(dir.is_dir() && !dir.join("a.txt").exists());
}
