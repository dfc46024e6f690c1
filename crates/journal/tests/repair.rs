//! Whatever is derived may be torn, stale or gone: it is made anew from the log, without a word lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use querent_core::{Shared, State, wire};
use querent_journal::Journal;
use querent_journal::conformance::Script;

use crate::support::{Everything, Project, everything, id, options};

const LOG: &str = "journal/00000001.jsonl";
const CHECKPOINT: &str = "journal/checkpoint";
const ITEM: &str = "items/42/item.json";
const QUESTION: &str = "items/42/CLR-42-003.json";
const SETTLED: &str = "items/42/CLR-42-002.json";
const SHARED: [&str; 2] = ["shared/quota.json", "shared/knowledge.json"];
const INDEX: &str = "operations/index";

/// What a test does to the files.
type Damage<'a> = &'a dyn Fn(&Path);

/// After the damage, whoever comes first finds everything as it was, and whoever writes goes on from there.
fn is_repaired(given: &Project, what: &str, damage: Damage<'_>) {
    let promised = everything(&given.open());
    let damaged = || {
        let project = given.copy();
        damage(project.path());
        project
    };
    finds_each(&damaged(), &promised, what);
    let listed = damaged();
    assert_eq!(everything(&listed.open()), promised, "{what}");
    goes_on(listed, what);
    goes_on(damaged(), what);
    let repaired = damaged();
    repaired.open().repair().unwrap();
    repaired.is_sound();
}

/// Without a look at the lists, which may put things in order.
fn finds_each(project: &Project, promised: &Everything, what: &str) {
    for (item, questions) in &promised.0 {
        for question in questions {
            let found = project.open().read().unwrap().question(&question.id).unwrap();
            assert_eq!(found.as_deref(), Some(question), "{what}");
        }
        assert_eq!(project.open().read().unwrap().item(&item.id).unwrap().as_deref(), Some(item), "{what}");
    }
    for (which, state) in Shared::ALL.into_iter().zip(&promised.2) {
        assert_eq!(*project.open().read().unwrap().shared(which).unwrap(), *state, "{what}");
    }
    let files = project.open();
    let snapshot = files.read().unwrap();
    assert_eq!(snapshot.item(&id("nobody")).unwrap(), None, "{what}");
    assert_eq!(snapshot.question(&id("CLR-42-999")).unwrap(), None, "{what}");
}

/// A writer touches what was damaged and what was not; a reader looks; and nothing is lost.
fn goes_on(mut project: Project, what: &str) {
    project.say(&project.open(), "next-1", &Script::ask("41", "What now?").unwrap());
    project.say(&project.open(), "next-2", &Script::answer(&id("CLR-42-003"), "Friday"));
    project.say(&project.open(), "next-3", &Script::ask("42", "What else?").unwrap());
    project.say(&project.open(), "next-4", &Script::open("44").unwrap());
    let ids: Vec<String> = everything(&project.open()).1.iter().map(ToString::to_string).collect();
    assert_eq!(ids, ["41", "42"], "{what}");
    project.remembers_all_that_was_acknowledged();
    project.open().repair().unwrap();
    project.is_sound();
}

fn given() -> Project {
    Project::with_some_work(&options())
}

#[test]
fn a_torn_ledger_is_made_anew() {
    let given = given();
    for file in [ITEM, QUESTION, SETTLED].into_iter().chain(SHARED) {
        let bytes = fs::read(given.path().join(file)).unwrap();
        for length in [0, 1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 2] {
            is_repaired(&given, &format!("{file} cut to {length}"), &|dir| {
                fs::write(dir.join(file), &bytes[..length]).unwrap();
            });
        }
        is_repaired(&given, &format!("{file} of nonsense"), &|dir| fs::write(dir.join(file), "{}\n").unwrap());
    }
}

#[test]
fn a_ledger_that_somebody_edited_is_made_anew_by_a_repair() {
    let project = given();
    let promised = everything(&project.open());
    for (file, word) in [(ITEM, "Work on 42"), (QUESTION, "Which day?")] {
        let path = project.path().join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap().replace(word, "Something else")).unwrap();
    }
    assert_eq!(project.open().examine().unwrap().len(), 2);

    project.open().repair().unwrap();

    project.is_sound();
    assert_eq!(everything(&project.open()), promised);
}

#[test]
fn a_deleted_ledger_is_made_anew() {
    let given = given();
    for file in [ITEM, QUESTION, SETTLED].into_iter().chain(SHARED) {
        is_repaired(&given, &format!("{file} deleted"), &|dir| fs::remove_file(dir.join(file)).unwrap());
    }
    for files in ["items/42", "items/43", "items", "shared"] {
        is_repaired(&given, &format!("{files} deleted"), &|dir| fs::remove_dir_all(dir.join(files)).unwrap());
    }
}

#[test]
fn marks_that_are_missing_or_too_many_are_set_right() {
    let given = given();
    is_repaired(&given, "one mark deleted", &|dir| fs::remove_file(dir.join("open/42")).unwrap());
    is_repaired(&given, "all marks deleted", &|dir| fs::remove_dir_all(dir.join("open")).unwrap());
    for extra in ["open/41", "open/43", "open/stranger"] {
        is_repaired(&given, &format!("{extra} added"), &|dir| fs::write(dir.join(extra), "").unwrap());
    }
}

#[test]
fn a_checkpoint_that_is_gone_stale_or_foreign_does_no_harm() {
    let mut given = Project::empty();
    let mut older = Vec::new();
    let files = given.open();
    for item in ["41", "42", "43"] {
        given.say(&files, &format!("open-{item}"), &Script::open(item).unwrap());
        older.push(fs::read(given.path().join(CHECKPOINT)).unwrap());
    }
    for (number, prompt) in (1..).zip(["Which bank?", "Which door?"]) {
        given.say(&files, &format!("ask-{number}"), &Script::ask("42", prompt).unwrap());
        older.push(fs::read(given.path().join(CHECKPOINT)).unwrap());
    }
    given.say(&files, "ask-3", &Script::ask_human("42", "Which day?").unwrap());
    for (age, bytes) in older.iter().enumerate() {
        is_repaired(&given, &format!("checkpoint {age} put back"), &|dir| {
            fs::write(dir.join(CHECKPOINT), bytes).unwrap();
        });
    }
    let bytes = fs::read(given.path().join(CHECKPOINT)).unwrap();
    is_repaired(&given, "checkpoint deleted", &|dir| fs::remove_file(dir.join(CHECKPOINT)).unwrap());
    for (what, bytes) in [("empty", &[][..]), ("half", &bytes[..bytes.len() / 2]), ("nonsense", b"nonsense\n")] {
        is_repaired(&given, &format!("checkpoint {what}"), &|dir| fs::write(dir.join(CHECKPOINT), bytes).unwrap());
    }
    is_repaired(&given, "checkpoint of another boot", &|dir| {
        fs::write(dir.join(CHECKPOINT), of_another_boot(&bytes)).unwrap();
    });
}

/// After a power cut nothing that is derived can be trusted, whatever the checkpoint says.
#[test]
fn ledgers_that_a_power_cut_took_back_are_brought_forward() {
    let older = Project::with_some_work(&options());
    let mut given = older.copy();
    given.say(&given.open(), "answer", &Script::answer(&id("CLR-42-001"), "the small one"));
    let bytes = fs::read(given.path().join(CHECKPOINT)).unwrap();
    for file in [ITEM, "items/42/CLR-42-001.json"] {
        is_repaired(&given, &format!("{file} of before the power cut"), &|dir| {
            fs::copy(older.path().join(file), dir.join(file)).unwrap();
            fs::write(dir.join(CHECKPOINT), of_another_boot(&bytes)).unwrap();
        });
    }
    is_repaired(&given, "an index of before the power cut", &|dir| {
        fs::copy(older.path().join(INDEX), dir.join(INDEX)).unwrap();
        fs::write(dir.join(CHECKPOINT), of_another_boot(&bytes)).unwrap();
    });
}

fn of_another_boot(checkpoint: &[u8]) -> Vec<u8> {
    let (body, _) = wire::unseal(checkpoint.trim_ascii_end()).unwrap();
    let text = std::str::from_utf8(body).unwrap();
    let (before, boot) = text.split_once("\"boot\":\"").unwrap();
    let sign = if boot.starts_with('0') { '1' } else { '0' };
    let other = format!("{before}\"boot\":\"{sign}{}", &boot[1..]);
    let sealed = format!("{other}{}", wire::seal(crc32fast::hash(other.as_bytes())).trim_end());
    format!("{sealed:<width$}\n", width = checkpoint.len() - 1).into_bytes()
}

#[test]
fn an_index_that_is_gone_or_nonsense_forgets_no_operation() {
    let given = given();
    let bytes = fs::read(given.path().join(INDEX)).unwrap();
    let nonsense = vec![0xa5; bytes.len()];
    is_repaired(&given, "index deleted", &|dir| fs::remove_file(dir.join(INDEX)).unwrap());
    is_repaired(&given, "operations deleted", &|dir| fs::remove_dir_all(dir.join("operations")).unwrap());
    for (what, bytes) in [("empty", &[][..]), ("half", &bytes[..bytes.len() / 2]), ("nonsense", &nonsense)] {
        is_repaired(&given, &format!("index {what}"), &|dir| fs::write(dir.join(INDEX), bytes).unwrap());
    }
}

#[test]
fn drafts_that_a_killed_process_left_disturb_nobody() {
    is_repaired(&given(), "drafts", &|dir| {
        for draft in ["items/.spare", "items/42/item.draft", "items/44.draft", "operations/index.draft"] {
            fs::write(dir.join(draft), "half a thi").unwrap();
        }
    });
}

#[test]
fn everything_but_the_log_may_be_gone() {
    is_repaired(&given(), "all but the log", &|dir| {
        for files in ["items", "open", "operations"] {
            fs::remove_dir_all(dir.join(files)).unwrap();
        }
        fs::remove_file(dir.join(CHECKPOINT)).unwrap();
    });
}

#[test]
fn what_stands_behind_the_last_line_was_never_acknowledged() {
    let given = given();
    let whole = fs::read(given.path().join(LOG)).unwrap();
    let line = whole.split(|byte| *byte == b'\n').next().unwrap();
    for garbage in
        [&b"garbage"[..], b"garbage\n", b"\n", b"{\"v\":1,", &[0; 700], &[0xff, 0xfe], &line[..line.len() / 2]]
    {
        is_repaired(&given, &format!("{garbage:?} added"), &|dir| {
            fs::write(dir.join(LOG), [&whole, garbage].concat()).unwrap();
        });
    }
}

/// Cuts the log at every byte of its last batch: as a kill leaves it, and as a power cut does, with ledgers that are ahead.
#[test]
fn a_batch_that_is_not_whole_has_not_happened() {
    let mut before = Project::empty();
    before.say(&before.open(), "open", &Script::open("42").unwrap());
    let promised = everything(&before.open());
    let mut after = before.copy();
    after.say(&after.open(), "ask", &Script::ask_human("42", "Which bank?").unwrap());
    let log = fs::read(after.path().join(LOG)).unwrap();
    let start = fs::read(before.path().join(LOG)).unwrap().len();
    assert_eq!(log[start..].split(|byte| *byte == b'\n').count(), 2 + 1, "the batch has two lines");

    for cut in start..log.len() {
        for (how, given) in [("kill", &before), ("power cut", &after)] {
            let what = format!("{how} at byte {cut} of {start} to {}", log.len());
            let project = given.copy();
            fs::write(project.path().join(LOG), &log[..cut]).unwrap();
            // A reader comes by at every byte; a writer, whose sync takes its time, at every sixteenth and around ends of lines.
            let writes = cut % 16 == 0 || log[cut.saturating_sub(2)..(cut + 2).min(log.len())].contains(&b'\n');
            if !writes || cut % 32 == 0 {
                assert_eq!(everything(&project.open()), promised, "{what}");
            }
            if !writes {
                continue;
            }
            let ask = Script::ask("42", "And now?").unwrap();
            let asked = support::script().accept(&project.open(), "next", &ask).unwrap();
            assert!(asked.as_str().contains("CLR-42-001"), "{what}: {}", asked.as_str());
            project.is_sound();
        }
    }
}

#[test]
fn ledgers_that_are_ahead_of_the_log_follow_it_again() {
    let before = given();
    let promised = everything(&before.open());
    let log = fs::read(before.path().join(LOG)).unwrap();
    for (what, command) in [
        ("an answer", Script::answer(&id("CLR-42-003"), "Friday")),
        ("a question", Script::ask("42", "Which tea?").unwrap()),
        ("a first question", Script::ask_human("41", "Which tea?").unwrap()),
        ("a strict question", Script::ask_strictly("41", "Which mode?").unwrap()),
        ("an end", Script::end("42").unwrap()),
        ("an item", Script::open("44").unwrap()),
    ] {
        let mut after = before.copy();
        after.say(&after.open(), "lost", &command);
        let cut = || {
            let project = before.copy();
            fs::remove_dir_all(project.path()).unwrap();
            support::copy_dir(after.path(), project.path());
            fs::write(project.path().join(LOG), &log).unwrap();
            project
        };
        finds_each(&cut(), &promised, what);
        let listed = cut();
        assert_eq!(everything(&listed.open()), promised, "{what} that the power took");
        listed.is_sound();
        goes_on(listed, what);
        goes_on(cut(), what);
    }
}

#[test]
fn what_is_shared_and_unknown_to_the_log_is_set_aside() {
    let given = given();
    let mut project = Project::empty();
    project.say(&project.open(), "open", &Script::open("41").unwrap());
    support::copy_dir(&given.path().join("shared"), &project.path().join("shared"));

    assert_eq!(everything(&project.open()).2, Shared::ALL.map(|_| State::default()));
    assert_eq!(project.open().examine().unwrap().len(), 2);
    project.open().repair().unwrap();

    project.is_sound();
    assert_eq!(fs::read_dir(project.path().join("shared")).unwrap().count(), 2, "they are kept");
}
