//! What stands on the slate, and what comes of it after a power cut.

use std::fs;
use std::path::Path;

use super::*;
use crate::conformance::Script;
use crate::files::{Ledgers, Options};
use crate::{Files, Journal};

fn stays() -> Options {
    Options { ledgers: Ledgers::OnDemand, ..Options::new("test") }
}

/// A process that stays, on a project with an item, which has asked so often that there is a slate.
fn busy(dir: &Path) -> Files {
    let files = Files::open(dir, stays());
    Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
    for number in 0..24 {
        ask(&files, &format!("op-{number}"));
    }
    files
}

fn ask(files: &Files, operation: &str) {
    Script::new().unwrap().accept(files, operation, &Script::ask("42", "Which tea?").unwrap()).unwrap();
}

fn log(dir: &Path) -> Vec<u8> {
    fs::read(Layout::of(dir).segment(1)).unwrap()
}

fn head(dir: &Path) -> Head {
    read_head(&fs::File::open(Layout::of(dir).slate()).unwrap()).unwrap()
}

/// Where the lines begin that stand on the slate.
fn beginning(dir: &Path) -> usize {
    usize::try_from(head(dir).base.end).unwrap()
}

/// What stands on it.
fn noted(dir: &Path) -> Vec<u8> {
    let bytes = fs::read(Layout::of(dir).slate()).unwrap();
    good_lines(&bytes[HEAD..], head(dir).base.seq).to_vec()
}

/// What the disk has of a project after a power cut that left this of the log.
fn after_a_cut(dir: &Path, log: &[u8]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let layout = Layout::of(copy.path());
    fs::create_dir_all(layout.slate().parent().unwrap()).unwrap();
    fs::write(layout.segment(1), log).unwrap();
    fs::copy(Layout::of(dir).slate(), layout.slate()).unwrap();
    let slate = fs::OpenOptions::new().write(true).open(layout.slate()).unwrap();
    write_head(&slate, &Head { boot: "before".to_owned(), ..head(dir) }).unwrap();
    copy
}

/// With the next line the log is synced, and the one after it is the slate's first.
fn begins_anew(files: &Files, dir: &Path) {
    ask(files, "op-synced");
    let base = log(dir).len();
    ask(files, "op-after");

    assert_eq!(beginning(dir), base, "the log was synced up to here");
    assert_eq!(noted(dir), log(dir)[base..]);
}

#[test]
fn what_was_written_since_the_log_was_synced_stands_on_the_slate() {
    let dir = tempfile::tempdir().unwrap();
    let _files = busy(dir.path());

    assert!(!noted(dir.path()).is_empty());
    assert_eq!(noted(dir.path()), log(dir.path())[beginning(dir.path())..]);
}

#[test]
fn processes_write_on_one_slate() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    let base = beginning(dir.path());
    ask(&Files::open(dir.path(), stays()), "op-stays");
    ask(&Files::open(dir.path(), Options::new("once")), "op-once");
    ask(&files, "op-after");

    assert_eq!(beginning(dir.path()), base, "the log was not synced");
    assert_eq!(noted(dir.path()), log(dir.path())[base..]);
}

#[test]
fn whoever_has_it_alone_writes_in_whole_blocks_and_others_go_on_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (busy(dir.path()), Files::open(dir.path(), stays()));
    let base = beginning(dir.path());
    for turn in 0..6 {
        for number in 0..12 * turn {
            let who = if turn % 2 == 0 { &one } else { &other };
            ask(who, &format!("op-{turn}-{number}"));
        }
        assert_eq!(noted(dir.path()), log(dir.path())[base..], "after turn {turn}");
    }

    let writes_directly = |files: &Files| {
        let writer = super::super::commit::hold(&files.shared.writer);
        writer.slate.last.as_ref().is_some_and(|it| it.alone > 8)
            && writer.slate.opened.as_ref().is_some_and(|it| it.direct.is_some())
    };
    // Not every disk can, and what stands on it is the same.
    let can = Layout::of(dir.path()).disk().open(&Layout::of(dir.path()).slate(), Open::Direct).is_ok();
    assert_eq!([&one, &other].map(writes_directly), [can, can]);
}

#[test]
fn whoever_has_it_alone_tells_nobody_of_its_syncs_until_another_writes() {
    let dir = tempfile::tempdir().unwrap();
    let (files, other) = (busy(dir.path()), Files::open(dir.path(), stays()));
    let said = || fs::read(Layout::of(dir.path()).syncs()).unwrap();
    let before = said();

    ask(&files, "op-alone");
    assert_eq!(said(), before);

    ask(&other, "op-other");
    let of_other = said();
    ask(&files, "op-after");
    assert!(of_other != before && said() != of_other, "it says so again");
}

#[test]
fn a_slate_that_is_given_up_keeps_what_the_log_may_have_lost_and_nobody_writes_on_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    let before = noted(dir.path());

    super::super::commit::hold(&files.shared.writer).slate.give_up(false);

    let kept = noted(dir.path());
    let count = |lines: &[u8]| lines.split_inclusive(|byte| *byte == b'\n').count();
    assert!(before.starts_with(&kept) && count(&kept) == count(&before) - 1, "all but the last line");
    begins_anew(&Files::open(dir.path(), stays()), dir.path());
}

#[test]
fn after_lines_that_are_not_on_it_it_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    let aside = dir.path().join("aside");
    fs::rename(Layout::of(dir.path()).slate(), &aside).unwrap();
    ask(&Files::open(dir.path(), Options::new("without")), "op-without");
    fs::rename(&aside, Layout::of(dir.path()).slate()).unwrap();

    begins_anew(&files, dir.path());
}

#[test]
fn one_that_was_deleted_is_made_anew_and_the_log_is_synced() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    fs::remove_dir_all(Layout::of(dir.path()).slate().parent().unwrap()).unwrap();

    begins_anew(&files, dir.path());
}

#[test]
fn a_log_that_was_put_in_order_is_synced_by_who_writes_next() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    files.repair().unwrap();

    begins_anew(&files, dir.path());
}

#[test]
fn a_slate_that_is_full_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let slate = SlateOptions { after: 0, length: HEAD + 3_000 };
    let files = Files::open(dir.path(), Options { slate, ..stays() });
    Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
    for number in 0..24 {
        ask(&files, &format!("op-{number}"));
        assert!(log(dir.path())[beginning(dir.path())..].starts_with(&noted(dir.path())));
        assert_eq!(fs::metadata(Layout::of(dir.path()).slate()).unwrap().len(), 3_000 + HEAD as u64);
    }

    assert!(beginning(dir.path()) > 3_000);
}

#[test]
fn what_the_log_lost_is_put_back_wherever_it_was_cut() {
    let dir = tempfile::tempdir().unwrap();
    let files = busy(dir.path());
    let whole = log(dir.path());
    for kept in (beginning(dir.path())..=whole.len()).step_by(97) {
        let copy = after_a_cut(dir.path(), &whole[..kept]);

        let opened = Files::open(copy.path(), Options::new("test"));

        assert_eq!(opened.read().unwrap().head(), files.read().unwrap().head(), "cut at {kept}");
        assert_eq!(log(copy.path()), whole);
        let slate = fs::read(Layout::of(copy.path()).slate()).unwrap();
        assert!(slate.iter().all(|byte| *byte == 0), "nothing is put back twice");
    }
}

#[test]
fn a_hole_in_the_log_is_filled() {
    let dir = tempfile::tempdir().unwrap();
    let _files = busy(dir.path());
    let (begins, whole) = (beginning(dir.path()), log(dir.path()));
    let mut holed = whole.clone();
    holed[begins + 10..begins + 700].fill(0);
    let copy = after_a_cut(dir.path(), &holed);

    assert!(lost(&Layout::of(copy.path())).is_some());
    put_back(&Layout::of(copy.path())).unwrap();

    assert_eq!(log(copy.path()), whole);
}

#[test]
fn without_a_power_cut_nothing_is_put_back() {
    let dir = tempfile::tempdir().unwrap();
    drop(busy(dir.path()));
    let (begins, layout) = (beginning(dir.path()), Layout::of(dir.path()));
    let older = &log(dir.path())[..begins];
    fs::write(layout.segment(1), older).unwrap();

    put_back(&layout).unwrap();

    assert_eq!(log(dir.path()), older, "somebody wanted it so");
}

#[test]
fn a_log_that_is_another_one_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let _files = busy(dir.path());
    let other = tempfile::tempdir().unwrap();
    let others = Files::open(other.path(), Options::new("other"));
    Script::new().unwrap().accept(&others, "op-other", &Script::open("7").unwrap()).unwrap();
    let copy = after_a_cut(dir.path(), &log(other.path()));

    put_back(&Layout::of(copy.path())).unwrap();

    assert_eq!(log(copy.path()), log(other.path()));
}
