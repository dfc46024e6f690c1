use super::*;

#[test]
fn everything_that_changed_is_committed_but_for_what_is_ignored() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::remove_file(dir.join("a.txt")).unwrap();
    fs::create_dir(dir.join("a b")).unwrap();
    fs::write(dir.join("a b/\u{e9}.txt"), "new").unwrap();
    fs::write(dir.join("debug.log"), "noise").unwrap();

    let first = fixture.trees.commit(&id, "Do the work\n\nQuerent-Commit: forged", "run-1").unwrap();
    let second = fixture.trees.commit(&id, "", "run-2").unwrap();

    assert!(first && !second);
    assert_eq!(fixture.in_tree(&id, &["status", "--porcelain"]), "");
    let listed = fixture.git(&["-c", "core.quotePath=false", "show", "--name-status", "--format=%B", "querent/42"]);
    assert!(listed.starts_with("Do the work\n\nQuerent-Commit: forged\n\nQuerent-Commit: run-1\n"), "{listed}");
    assert!(listed.ends_with("A\ta b/\u{e9}.txt\nD\ta.txt"), "{listed}");
    assert!(dir.join("debug.log").exists());
}

#[test]
fn the_same_id_says_what_it_said_and_commits_once_what_it_finds() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("x.txt"), "1").unwrap();

    let first = fixture.trees.commit(&id, "x", "run-1").unwrap();
    let again = fixture.trees.commit(&id, "x", "run-1").unwrap();
    let part = fixture.trees.commit(&id, "x", "run").unwrap();

    assert!(first && again && !part);
    assert_eq!(fixture.git(&["log", "--format=%s", "querent/42"]), "x\nbegin");
    fixture.trees.remove(&id).unwrap();
    assert!(fixture.trees.commit(&id, "x", "run-1").unwrap());
    assert!(!fixture.trees.commit(&id, "x", "run-2").unwrap());
    assert!(!dir.exists());
}

#[test]
fn work_that_came_after_a_commit_is_not_left_behind_by_the_next_with_its_id() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("x.txt"), "1").unwrap();
    fixture.trees.commit(&id, "x", "left").unwrap();
    fs::write(dir.join("y.txt"), "2").unwrap();

    assert!(fixture.trees.commit(&id, "y", "left").unwrap());
    fixture.trees.remove(&id).unwrap();

    assert_eq!(fixture.git(&["show", "querent/42:y.txt"]), "2");
}

#[test]
fn a_commit_that_was_merged_meanwhile_is_known_all_the_same() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("x.txt"), "1").unwrap();
    fixture.trees.commit(&id, "x", "run-1").unwrap();
    fixture.git(&["merge", "--quiet", "--ff-only", "querent/42"]);

    assert!(fixture.trees.commit(&id, "x", "run-1").unwrap());
}

#[test]
fn a_commit_is_the_users_if_git_knows_them_and_else_querents() {
    let fixture = Fixture::new();
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("x.txt"), "1").unwrap();
    fixture.trees.commit(&id, "x", "run-1").unwrap();
    fixture.git(&["config", "user.name", "Grace"]);
    fixture.git(&["config", "user.email", "grace@example.org"]);
    fs::write(dir.join("y.txt"), "1").unwrap();
    fixture.trees.commit(&id, "y", "run-2").unwrap();

    let who = fixture.git(&["log", "-2", "--format=%an <%ae> %cn <%ce>", "querent/42"]);

    let grace = "Grace <grace@example.org>";
    let querent = "Querent <querent@localhost>";
    assert_eq!(who, format!("{grace} {grace}\n{querent} {querent}"));
}

#[test]
fn hooks_signatures_and_the_users_settings_stay_out_of_it() {
    let fixture = Fixture::new();
    let hooks = fixture.top.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in
        ["pre-commit", "commit-msg", "post-checkout", "post-commit", "reference-transaction", "post-index-change"]
    {
        fs::write(hooks.join(hook), format!("#!/bin/sh\ntouch '{}'\nexit 1\n", hooks.join("ran").display())).unwrap();
        fs::set_permissions(hooks.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.program", "/nowhere"),
        ("log.showSignature", "true"),
        ("apply.whitespace", "fix"),
        ("status.showUntrackedFiles", "all"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("diff.noprefix", "true"),
    ] {
        fixture.git(&["config", name, value]);
    }
    let id = item("42");

    let dir = fixture.trees.ensure(&id).unwrap();
    fs::write(dir.join("x.txt"), "1").unwrap();
    assert!(fixture.trees.commit(&id, "x", "run-1").unwrap());
    let patch = "--- /dev/null\n+++ b/y.txt\n@@ -0,0 +1 @@\n+ends in spaces  \n";
    let applied = fixture.trees.apply(&id, patch, "patch-1").unwrap();

    assert_eq!(applied.paths, ["y.txt"]);
    assert_eq!(fs::read_to_string(dir.join("y.txt")).unwrap(), "ends in spaces  \n");
    assert!(!hooks.join("ran").exists());
}

#[test]
fn the_variables_of_whoever_started_us_do_not_lead_git_astray() {
    const NAME: &str = "QUERENT_TEST_IN_A_HOOK";
    if std::env::var_os(NAME).is_some() {
        let fixture = Fixture::new();
        let id = item("42");
        let dir = fixture.trees.ensure(&id).unwrap();
        fs::write(dir.join("x.txt"), "1").unwrap();
        assert!(fixture.trees.commit(&id, "x", "run-1").unwrap());
        assert_eq!(fixture.git(&["log", "-1", "--format=%an", "querent/42"]), "Querent");
        return;
    }
    // As git calls a hook.
    let mut inside = Command::new(std::env::current_exe().unwrap());
    inside.args([
        "--exact",
        "team::worktree::tests::commits::the_variables_of_whoever_started_us_do_not_lead_git_astray",
    ]);
    inside.env(NAME, "1").env("GIT_DIR", "/nowhere/.git").env("GIT_INDEX_FILE", "/nowhere/index");
    inside.env("GIT_WORK_TREE", "/nowhere").env("GIT_AUTHOR_NAME", "Mallory").env("GIT_PREFIX", "x/");

    let output = inside.output().unwrap();

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn an_id_that_is_no_line_is_refused() {
    let fixture = Fixture::new();
    for id in ["", " a", "a\nb", &"x".repeat(201)] {
        let refusal = fixture.trees.commit(&item("42"), "x", id).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidInput, "{id}");
    }
}
