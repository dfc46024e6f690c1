use std::os::unix::fs::symlink;

use super::*;

fn named(texts: &[(String, String)]) -> Vec<&str> {
    texts.iter().map(|(file, _)| file.as_str()).collect()
}

fn patterns(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A worktree with a few files that are committed.
fn with_files(prefix: &str) -> (Fixture, ItemId, PathBuf) {
    let fixture = Fixture::below("shop", prefix);
    let id = item("42");
    let dir = fixture.trees.ensure(&id).unwrap();
    fs::create_dir_all(dir.join("docs/deep")).unwrap();
    for (file, text) in
        [("docs/b.md", "bee"), ("docs/a \u{e9}.md", "ay"), ("docs/deep/c.md", "sea"), ("docs/d.txt", "dee")]
    {
        fs::write(dir.join(file), text).unwrap();
    }
    fs::write(dir.join("docs/binary.md"), [b'x', 0, b'y']).unwrap();
    fs::write(dir.join("docs/latin.md"), b"caf\xe9").unwrap();
    symlink("/etc/passwd", dir.join("docs/out.md")).unwrap();
    fixture.trees.commit(&id, "files", "run-1").unwrap();
    (fixture, id, dir)
}

#[test]
fn texts_are_found_by_path_directory_and_glob_also_when_only_the_branch_is_left() {
    for prefix in ["", "services/pay"] {
        let (fixture, id, _) = with_files(prefix);
        let asked = patterns(&["docs/d.txt", "docs/*.md", "docs/deep", "docs/d.txt", "no/such", "../x", "/etc/passwd"]);

        let from_tree = fixture.trees.artifacts(&id, &asked, 1_000);
        fixture.trees.remove(&id).unwrap();
        let from_branch = fixture.trees.artifacts(&id, &asked, 1_000);

        assert_eq!(named(&from_tree), ["docs/d.txt", "docs/a \u{e9}.md", "docs/b.md", "docs/deep/c.md"]);
        assert_eq!(from_tree[1].1, "ay");
        assert_eq!(from_branch, from_tree);
        assert_eq!(named(&fixture.trees.artifacts(&id, &patterns(&["**/*.txt"]), 1_000)), ["a.txt", "docs/d.txt"]);
    }
}

#[test]
fn what_is_not_committed_counts_too_and_what_is_ignored_only_by_name() {
    let (fixture, id, dir) = with_files("");
    fs::write(dir.join("docs/b.md"), "changed").unwrap();
    fs::write(dir.join("docs/new.md"), "new").unwrap();
    fs::write(dir.join("docs/x.log"), "log").unwrap();
    fs::remove_file(dir.join("docs/a \u{e9}.md")).unwrap();

    let all = fixture.trees.artifacts(&id, &patterns(&["docs"]), 1_000);
    let log = fixture.trees.artifacts(&id, &patterns(&["docs/x.log"]), 1_000);

    assert_eq!(named(&all), ["docs/b.md", "docs/d.txt", "docs/deep/c.md", "docs/new.md"]);
    assert_eq!(all[0].1, "changed");
    assert_eq!(log[0].1, "log");
}

#[test]
fn links_that_lead_out_and_the_worktrees_own_file_are_passed_over() {
    let (fixture, id, dir) = with_files("");
    symlink("b.md", dir.join("docs/inside.md")).unwrap();
    symlink("/etc", dir.join("docs/etc")).unwrap();

    let asked = patterns(&["docs/out.md", "docs/etc/passwd", ".git", "docs/inside.md", ".querent/../../x"]);
    let texts = fixture.trees.artifacts(&id, &asked, 1_000);

    assert_eq!(texts, [("docs/inside.md".to_owned(), "bee".to_owned())]);
}

#[test]
fn texts_are_cut_to_the_budget_between_characters_and_the_last_one_says_so() {
    let (fixture, id, dir) = with_files("");
    fs::write(dir.join("long.txt"), "\u{20ac}".repeat(100)).unwrap();
    let asked = patterns(&["docs/d.txt", "long.txt", "docs/b.md"]);

    let whole = fixture.trees.artifacts(&id, &asked, 306);
    assert_eq!(named(&whole), ["docs/d.txt", "long.txt", "docs/b.md"]);
    for budget in 60..306 {
        let texts = fixture.trees.artifacts(&id, &asked, budget);
        let (_, last) = texts.last().unwrap();
        assert!(last.ends_with("and no further file]\n"), "{budget}: {last}");
        assert!(texts.iter().map(|(_, text)| text.len()).sum::<usize>() <= budget, "{budget}");
    }
    assert!(fixture.trees.artifacts(&id, &asked, 2).is_empty());
}

#[test]
fn an_item_without_a_branch_has_none() {
    let fixture = Fixture::new();

    assert!(fixture.trees.artifacts(&item("42"), &patterns(&["**"]), 1_000).is_empty());
}
