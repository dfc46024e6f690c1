//! A log that is damaged in the middle: it is said exactly where, what can be done, and nothing is overwritten.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use querent_journal::conformance::Script;
use querent_journal::files::{Fault, Options, Severity, Step};
use querent_journal::{Error, Files, Journal};

use crate::support::{Project, child, given_dir, id, options, script};

/// In several segments of several lines each.
fn given() -> Project {
    Project::with_some_work(&Options { segment_limit: 1_800, ..options() })
}

fn segment(project: &Project, number: u32) -> PathBuf {
    project.path().join(format!("journal/{number:08}.jsonl"))
}

/// Changes one letter in the middle of a line.
fn damage(project: &Project, number: u32, line: usize) {
    let path = segment(project, number);
    let mut bytes = fs::read(&path).unwrap();
    let length = |line: &[u8]| line.len();
    let lengths: Vec<usize> = bytes.split_inclusive(|byte| *byte == b'\n').map(length).collect();
    let at = lengths[..line - 1].iter().sum::<usize>() + lengths[line - 1] / 2;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// How many lines the segments have.
fn lengths(project: &Project) -> Vec<usize> {
    let segments = (1..).map(|number| segment(project, number)).take_while(|path| path.exists());
    segments.map(|path| fs::read_to_string(path).unwrap().lines().count()).collect()
}

/// Every line but the last of all, which cannot be told from one that was never finished.
fn lines_in_the_middle(project: &Project) -> Vec<(u32, usize)> {
    let lengths = lengths(project);
    let all = (1..).zip(&lengths).flat_map(|(number, lines)| (1..=*lines).map(move |line| (number, line)));
    let mut all: Vec<(u32, usize)> = all.collect();
    all.pop();
    all
}

/// All files but the lock, with their content.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.file_name().is_some_and(|name| name != "journal.lock") {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

#[track_caller]
fn is_damaged<T>(result: Result<T, Error>, path: &Path, line: usize) {
    match result.err() {
        Some(Error::Damaged { segment, line: found, .. }) => {
            assert_eq!((segment.as_path(), found), (path, line as u64));
        }
        other => panic!("{other:?} and not damage in {}, line {line}", path.display()),
    }
}

#[test]
fn there_are_several_segments_with_several_lines() {
    let lengths = lengths(&given());
    assert!(lengths.len() > 2 && lengths.iter().all(|lines| *lines > 1), "{lengths:?}");
}

#[test]
fn a_damaged_line_is_named_exactly_and_nothing_is_overwritten() {
    let given = given();
    for (number, line) in lines_in_the_middle(&given) {
        let project = given.copy();
        damage(&project, number, line);
        // Without its checkpoint, everything must be read from the log.
        fs::remove_file(project.path().join("journal/checkpoint")).unwrap();
        let (path, before) = (segment(&project, number), files(project.path()));

        is_damaged(project.open().records(0, &mut |_| true), &path, line);
        is_damaged(project.open().read(), &path, line);
        is_damaged(project.open().repair(), &path, line);
        is_damaged(script().send(&project.open(), "next", &Script::open("44").unwrap()), &path, line);
        let findings = project.open().examine().unwrap();

        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].severity, Severity::Error);
        assert_eq!(findings[0].place, format!("{}, line {line}", path.display()));
        assert!(findings[0].cure.contains(&path.display().to_string()), "{}", findings[0].cure);
        assert_eq!(files(project.path()), before, "line {line} of segment {number}");
    }
}

#[test]
fn damage_in_old_lines_stops_nobody_who_need_not_read_them() {
    let given = given();
    for (number, line) in lines_in_the_middle(&given) {
        let mut project = given.copy();
        damage(&project, number, line);
        let (path, log) = (segment(&project, number), fs::read(segment(&project, number)).unwrap());
        project.say(&project.open(), "next", &Script::answer(&id("CLR-42-003"), "Friday"));

        let found = project.open().read().unwrap().question(&id("CLR-42-001")).unwrap();

        assert!(found.is_some(), "line {line} of segment {number}");
        assert!(fs::read(&path).unwrap().starts_with(&log), "line {line} of segment {number}");
        is_damaged(project.open().records(0, &mut |_| true), &path, line);
    }
}

/// A repair that cannot read the log leaves what is derived from it alone: it is all that there is.
#[test]
fn a_repair_that_fails_takes_nothing_away() {
    let project = given();
    damage(&project, 1, 2);
    let before = files(project.path());
    fs::remove_file(project.path().join("open/42")).unwrap();

    assert!(project.open().read().unwrap().items(querent_journal::Which::Active).is_err());

    fs::write(project.path().join("open/42"), "").unwrap();
    assert_eq!(files(project.path()), before);
    let again = script().send(&project.open(), "ask-1", &Script::ask("42", "Which bank?").unwrap()).unwrap();
    assert!(again.as_str().contains("CLR-42-001"), "an operation is forgotten: {}", again.as_str());
}

#[test]
fn a_segment_that_is_missing_is_damage_and_not_the_end() {
    let project = given();
    let last = u32::try_from(lengths(&project).len()).unwrap();
    for number in 1..last {
        let project = project.copy();
        fs::remove_file(segment(&project, number)).unwrap();
        let before = files(project.path());

        is_damaged(project.open().records(0, &mut |_| true), &segment(&project, number), 1);
        is_damaged(project.open().repair(), &segment(&project, number), 1);

        assert_eq!(project.open().examine().unwrap()[0].severity, Severity::Error);
        assert_eq!(files(project.path()), before);
    }
}

#[test]
fn a_lock_that_another_process_holds_is_refused_with_its_name_and_free_when_it_dies() {
    let project = Project::with_some_work(&options());
    let mut child = child("holds_the_lock", project.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "locked"));
    let impatient = Files::open(project.path(), Options { patience: Duration::from_millis(20), ..options() });

    let refused = script().send(&impatient, "next", &Script::open("44").unwrap());

    let Err(Error::LockTimeout { holder, .. }) = refused else { panic!("{refused:?}") };
    assert!(holder.contains("the-holder") && holder.contains(&child.id().to_string()), "{holder}");
    // Reading needs no lock.
    assert!(impatient.read().unwrap().item(&id("42")).unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    // With patience: the one who gave up still stands in the system's queue, and steps out when it is called.
    let patient = Files::open(project.path(), Options::new("test"));
    script().accept(&patient, "next", &Script::open("44").unwrap()).unwrap();
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn holds_the_lock() {
    let Some(dir) = given_dir() else { return };
    let fault: Fault = Arc::new(|step| {
        if step == Step::Locked {
            writeln!(io::stdout(), "\nlocked").unwrap();
            io::stdin().lines().for_each(drop);
        }
        Ok(())
    });
    let files = Files::open(&dir, Options { fault: Some(fault), ..Options::new("the-holder") });
    script().accept(&files, "mine", &Script::open("45").unwrap()).unwrap();
}
