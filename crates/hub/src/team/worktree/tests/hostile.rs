use std::os::unix::fs::symlink;

use super::*;

fn new_file(path: &str) -> String {
    format!("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n")
}

fn traditional(path: &str) -> String {
    format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n")
}

fn link(path: &str, target: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 120000\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
    )
}

/// Every file below, with what it holds or where it leads.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                files.push((path, target.into_os_string().into_encoded_bytes()));
            } else {
                let text = fs::read(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    files.sort();
    files
}

/// Refused, naming the path, with nothing changed anywhere but for objects that nothing refers to.
#[track_caller]
fn is_refused(fixture: &Fixture, id: &ItemId, patch: &str, named: &str) {
    let around = || {
        let mut files = snapshot(fixture.dir.path());
        files.retain(|(file, _)| !file.starts_with(fixture.top.join(".git/objects")));
        files
    };
    let before = around();
    let refusal = fixture.trees.apply(id, patch, "patch-1").unwrap_err();
    assert_eq!(refusal.code, Code::InvalidInput, "{refusal}\n{patch}");
    assert!(refusal.message.contains(named), "{named}: {}", refusal.message);
    let after = around();
    let changed: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(file, _)| file).collect();
    assert!(after == before, "{patch}\n{changed:?}");
}

#[test]
fn a_path_that_leaves_the_worktree_or_belongs_to_git_or_querent_is_refused() {
    let fixture = Fixture::new();
    let id = item("42");
    fixture.trees.ensure(&id).unwrap();
    for (path, named) in [
        ("b/../x", "../x"),
        ("b/d/../../../x", "x"),
        ("\"b/\\056\\056/x\"", "../x"),
        ("/etc/cron.d/x", "/etc/cron.d/x"),
        ("\"/etc/cron.d/x\"", "/etc/cron.d/x"),
        ("b/.git", ".git"),
        ("b/.git/hooks/x", ".git/hooks/x"),
        ("b/.GIT/hooks/x", ".GIT/hooks/x"),
        ("b/d/.git/config", "d/.git/config"),
        ("b/.querent/config.toml", ".querent/config.toml"),
        ("b/.querent/workflows/x.toml", ".querent/workflows/x.toml"),
        ("b/.Querent/x", ".Querent/x"),
        ("b/d/.querent/x", "d/.querent/x"),
    ] {
        is_refused(&fixture, &id, &traditional(path), named);
    }
    is_refused(&fixture, &id, &new_file("/etc/cron.d/x"), "/etc/cron.d/x");
    let rename = "diff --git a/.querent/config.toml b/c.toml\nsimilarity index 100%\nrename from .querent/config.toml\nrename to c.toml\n";
    is_refused(&fixture, &id, rename, ".querent/config.toml");
    let copy = "diff --git a/.git/config b/c\nsimilarity index 100%\ncopy from .git/config\ncopy to c\n";
    is_refused(&fixture, &id, copy, ".git/config");
    let edit = "--- a/.querent/config.toml\n+++ b/.querent/config.toml\n@@ -1 +1 @@\n-[project]\n+[other]\n";
    is_refused(&fixture, &id, edit, ".querent/config.toml");
}

#[test]
fn a_line_of_a_file_that_looks_like_a_header_is_no_path() {
    let fixture = Fixture::new();
    let id = item("42");
    let patch = "--- /dev/null\n+++ b/a.sql\n@@ -0,0 +1,2 @@\n+-- /etc/passwd\n+++ /etc/passwd\n";
    let back = "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1 @@\n--- /etc/passwd\n ++ /etc/passwd\n";

    fixture.trees.apply(&id, patch, "patch-1").unwrap();
    fixture.trees.apply(&id, back, "patch-2").unwrap();

    assert_eq!(fs::read_to_string(fixture.trees.directory(&id).join("a.sql")).unwrap(), "++ /etc/passwd\n");
}

#[test]
fn a_link_that_leads_out_is_refused_and_one_that_stays_inside_is_made() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::create_dir_all(dir.join("p/q/r")).unwrap();
    symlink("../../..", dir.join("p/q/r/up")).unwrap();
    symlink("/etc", dir.join("out")).unwrap();
    fixture.in_tree(&id, &["add", "--all"]);
    fixture.in_tree(&id, &["commit", "--quiet", "-m", "links"]);
    for (path, target) in [
        ("l", "/etc/passwd"),
        ("l", ".."),
        ("d/l", "../../x"),
        ("l", "a/../../x"),
        ("l", "p/q/r/up/../x"),
        ("l", "out/passwd"),
        ("l", ".git"),
        ("l", ".git/config"),
        ("l", ".querent/config.toml"),
        ("l", "p/q/r/up/.git"),
    ] {
        is_refused(&fixture, &id, &link(path, target), path);
    }

    let patch = link("d/l", "../a.txt") + &link("m", "p/q/r/up/a.txt") + &link("n", "not/there/yet");
    fixture.trees.apply(&id, &patch, "patch-1").unwrap();

    assert_eq!(fs::read_to_string(dir.join("d/l")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(fs::read_to_string(dir.join("m")).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn a_link_that_is_turned_to_lead_out_is_refused() {
    let fixture = Fixture::new();
    let id = item("42");
    fixture.trees.apply(&id, &link("l", "a.txt"), "patch-0").unwrap();
    let turn = "--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a.txt\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file\n";

    is_refused(&fixture, &id, turn, "`l`");
}

#[test]
fn a_path_through_a_link_is_refused_be_it_committed_or_not_or_in_the_same_patch() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    let outside = fixture.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, dir.join("known")).unwrap();
    fixture.in_tree(&id, &["add", "--all"]);
    fixture.in_tree(&id, &["commit", "--quiet", "-m", "link"]);
    symlink(&outside, dir.join("unknown")).unwrap();

    is_refused(&fixture, &id, &traditional("b/known/x"), "known/x");
    is_refused(&fixture, &id, &traditional("b/unknown/x"), "unknown/x");
    is_refused(&fixture, &id, &(link("l", "known") + &traditional("b/l/x")), "l");
    is_refused(&fixture, &id, &(link("l", "d") + &traditional("b/l/x")), "l/x");
}

#[test]
fn a_submodule_is_refused() {
    let fixture = Fixture::new();
    let id = item("42");
    fixture.trees.ensure(&id).unwrap();
    let commit = "1".repeat(40);
    let patch = format!(
        "diff --git a/sub b/sub\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject commit {commit}\n"
    );

    is_refused(&fixture, &id, &patch, "sub");
}
