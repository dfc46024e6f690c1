//! Several processes that stay, each with its own memory of the project.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use querent_core::{QuestionId, Record};
use querent_journal::conformance::{Script, verify};
use querent_journal::files::Options;
use querent_journal::{Files, Journal, Which};

use crate::support::{Project, deferred, everything, id, options, script};

#[test]
fn handles_that_take_turns_agree_with_each_other_and_with_the_log() {
    for (first, second) in [(options(), options()), (deferred(), options()), (deferred(), deferred())] {
        let mut project = Project::empty();
        let handles = [Files::open(project.path(), first), Files::open(project.path(), second)];
        for turn in 0..12 {
            let (mine, other) = (&handles[turn % 2], &handles[(turn + 1) % 2]);
            let item = format!("item-{turn}");
            project.say(mine, &format!("open-{turn}"), &Script::open(&item).unwrap());
            project.say(other, &format!("ask-{turn}"), &Script::ask(&item, "Which bank?").unwrap());
            if turn % 3 == 0 {
                let answer = Script::answer(&question(&item, 1), "this");
                project.say(mine, &format!("answer-{turn}"), &answer);
            }

            for handle in &handles {
                verify(handle).unwrap();
                assert_eq!(handle.read().unwrap().items(Which::All).unwrap().len(), turn + 1);
            }
        }
        drop(handles);
        project.is_sound();
        project.remembers_all_that_was_acknowledged();
    }
}

/// A reader of another process must not find a fault where there is none: to repair costs as much as the log is long.
#[test]
fn the_checkpoint_counts_what_others_opened_and_settled() {
    let mut project = Project::empty();
    let stays = project.open();
    project.say(&stays, "open-1", &Script::open("one").unwrap());
    project.say(&stays, "ask-1", &Script::ask("one", "Which bank?").unwrap());
    project.say(&project.open(), "open-2", &Script::open("two").unwrap());
    project.say(&project.open(), "ask-2", &Script::ask("two", "Which door?").unwrap());

    project.say(&stays, "answer-1", &Script::answer(&question("one", 1), "this"));

    project.is_sound();
}

#[test]
fn an_index_that_another_process_made_larger_is_found_and_used() {
    let mut project = Project::empty();
    let (stays, grows) = (project.open(), project.open());
    project.say(&stays, "open", &Script::open("42").unwrap());
    for number in 1..=300 {
        project.say(&grows, &format!("ask-{number}"), &Script::ask("42", "Which bank?").unwrap());
        project.say(&grows, &format!("answer-{number}"), &Script::answer(&question("42", number), "this"));
    }

    project.say(&stays, "last", &Script::ask("42", "Which door?").unwrap());

    project.remembers_all_that_was_acknowledged();
    project.is_sound();
}

#[test]
fn a_repair_by_another_process_disturbs_nobody() {
    let mut project = Project::with_some_work(&options());
    let stays = Files::open(project.path(), deferred());
    project.say(&stays, "before", &Script::ask("41", "Which bank?").unwrap());

    project.open().repair().unwrap();
    project.say(&stays, "after", &Script::ask("41", "Which door?").unwrap());

    drop(stays);
    project.remembers_all_that_was_acknowledged();
    project.is_sound();
}

/// A power cut of a shared disk, or a backup that is put back: what was known is no longer so.
#[test]
fn a_process_that_stays_notices_that_the_log_became_another_one() {
    let mut project = Project::with_some_work(&options());
    let stays = Files::open(project.path(), deferred());
    let segment = project.path().join("journal/00000001.jsonl");
    let before = fs::read(&segment).unwrap();
    project.say(&project.open(), "ask", &Script::ask("41", "Which bank?").unwrap());
    let asked = everything(&stays);
    assert_ne!(before, fs::read(&segment).unwrap());

    fs::write(&segment, before).unwrap();
    project.open().repair().unwrap();

    assert_ne!(everything(&stays), asked);
    verify(&stays).unwrap();
}

/// People delete lock files that look forgotten. Whoever held the old one must not go on beside those who hold the new one.
#[test]
fn a_lock_file_that_somebody_deleted_divides_nobody() {
    let mut project = Project::with_some_work(&options());
    let patient = || Options { patience: Duration::from_mins(1), ..options() };
    let stays = Files::open(project.path(), patient());
    project.say(&stays, "before", &Script::ask("41", "Which bank?").unwrap());
    fs::remove_file(project.path().join("journal.lock")).unwrap();
    let comes = Files::open(project.path(), patient());

    thread::scope(|scope| {
        for (name, files) in [("stays", &stays), ("comes", &comes)] {
            scope.spawn(move || {
                for number in 0..50 {
                    let ask = Script::ask("41", &format!("{name} asks {number}")).unwrap();
                    script().accept(files, &format!("{name}-{number}"), &ask).unwrap();
                }
            });
        }
    });

    assert_eq!(everything(&project.open()).0[0].1.len(), 101);
    project.remembers_all_that_was_acknowledged();
    project.is_sound();
}

/// Its ledgers follow a little later: that is no fault, and everything is read all the same.
#[test]
fn a_doctor_beside_a_process_that_stays_finds_nothing() {
    let mut project = Project::with_some_work(&options());
    let stays = Files::open(project.path(), deferred());
    for number in 0..50 {
        let item = format!("item-{number}");
        project.say(&stays, &format!("open-{item}"), &Script::open(&item).unwrap());
        project.say(&stays, &format!("ask-{item}"), &Script::ask(&item, "Which bank?").unwrap());

        assert_eq!(stays.examine().unwrap(), []);
        verify(&project.open()).unwrap();
    }
}

/// Lines are read while they are written and while segments begin: what is unfinished is not damaged.
#[test]
fn a_writer_at_work_is_not_mistaken_for_damage() {
    for segment_limit in [1, 2_000] {
        let project = Project::empty();
        let writer = Files::open(project.path(), Options { segment_limit, ..options() });
        script().accept(&writer, "open", &Script::open("42").unwrap()).unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::SeqCst) {
                        look(&project);
                    }
                });
            }
            for number in 1..=100 {
                let ask = Script::ask_human("42", &"Which bank? ".repeat(100)).unwrap();
                script().accept(&writer, &format!("ask-{number}"), &ask).unwrap();
                script()
                    .accept(&writer, &format!("answer-{number}"), &Script::answer(&question("42", number), "this"))
                    .unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        project.is_sound();
    }
}

/// The log is dense, and the ledgers are not behind what was read from it.
fn look(project: &Project) {
    let mut seen: Vec<Arc<Record>> = Vec::new();
    let mut push = |record| {
        seen.push(record);
        true
    };
    project.open().records(0, &mut push).unwrap();
    assert!((1..).zip(&seen).all(|(seq, record)| record.seq == seq));
    let files = project.open();
    let snapshot = files.read().unwrap();
    let item = snapshot.item(&id("42")).unwrap().unwrap();
    assert!(item.version >= seen.last().unwrap().version);
    if let Some((id, version)) = seen.iter().rev().find_map(|it| Some((it.event.question()?, it.version))) {
        assert!(snapshot.question(id).unwrap().unwrap().version >= version);
    }
}

fn question(item: &str, number: u32) -> QuestionId {
    QuestionId { item: id(item), number }
}

/// Its own writes wake those who wait by themselves; those of others are told apart from them, wherever they stand.
#[test]
fn whoever_waits_is_woken_by_another_process_that_begins_a_segment() {
    let project = Project::empty();
    let stays = Files::open(project.path(), Options { segment_limit: 1, ..deferred() });
    script().accept(&stays, "open", &Script::open("42").unwrap()).unwrap();
    let other = Files::open(project.path(), Options { segment_limit: 1, ..options() });
    let (woken, wakes) = mpsc::channel();
    let _watch = stays.watch(Arc::new(move || woken.send(()).unwrap_or_default())).unwrap();

    for number in 0..4 {
        script().accept(&stays, &format!("ours-{number}"), &Script::ask("42", "Which tea?").unwrap()).unwrap();
        wakes.recv_timeout(Duration::from_mins(1)).unwrap();
        while wakes.try_recv().is_ok() {}

        script().accept(&other, &format!("theirs-{number}"), &Script::ask("42", "Which cake?").unwrap()).unwrap();

        wakes.recv_timeout(Duration::from_mins(1)).unwrap();
    }
}
