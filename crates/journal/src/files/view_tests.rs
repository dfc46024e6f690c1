use std::sync::{Mutex, OnceLock};

use super::super::{Ledgers, Options, Step};
use super::*;
use crate::Journal;
use crate::conformance::Script;

fn ask(files: &Files, operation: &str, prompt: &str) {
    let script = Script::new().unwrap();
    script.accept(files, operation, &Script::ask("42", prompt).unwrap()).unwrap();
}

fn opened(dir: &std::path::Path) -> Files {
    let files = Files::open(dir, Options { ledgers: Ledgers::OnDemand, ..Options::new("test") });
    Script::new().unwrap().accept(&files, "op-open", &Script::open("42").unwrap()).unwrap();
    files
}

fn lines(files: &Files) -> Vec<Arc<Entry>> {
    files.look(Look::Anew, |view| view.lines.iter().map(Arc::clone).collect()).unwrap()
}

#[test]
fn a_line_that_this_process_wrote_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let files = opened(dir.path());
    files.read().unwrap();

    ask(&files, "op-1", "Which tea?");

    let last = lines(&files).pop().unwrap();
    assert!(last.known_record().is_some(), "what this process wrote is at hand as it was");
    assert_eq!(files.read().unwrap().head(), last.head.seq);
}

#[test]
fn what_this_process_writes_is_seen_when_it_is_durable_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let (files, seen) = (Arc::new(OnceLock::<Files>::new()), Arc::new(Mutex::new(Vec::new())));
    let fault = {
        let (files, seen) = (Arc::clone(&files), Arc::clone(&seen));
        move |step: Step| {
            if step == Step::Unlocked || step == Step::Synced {
                seen.lock().unwrap().extend(files.get().map(|it| (step, it.read().unwrap().head())));
            }
            Ok(())
        }
    };
    let options = Options { ledgers: Ledgers::OnDemand, fault: Some(Arc::new(fault)), ..Options::new("test") };
    files.get_or_init(|| Files::open(dir.path(), options));
    let files = files.get().unwrap();
    Script::new().unwrap().accept(files, "op-open", &Script::open("42").unwrap()).unwrap();
    let head = files.read().unwrap().head();
    seen.lock().unwrap().clear();

    ask(files, "op-1", "Which tea?");

    assert_eq!(*seen.lock().unwrap(), [(Step::Unlocked, head), (Step::Synced, head + 1)]);
}

#[test]
fn lines_of_another_process_come_between_without_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (opened(dir.path()), Files::open(dir.path(), Options::new("other")));
    ours.read().unwrap();

    // Theirs are flushed at once, so our writer has no need to keep them.
    for number in 0..4 {
        ask(&ours, &format!("ours-{number}"), "Which tea?");
        ask(&theirs, &format!("theirs-{number}"), "Which cake?");
        ours.follow().unwrap();
    }
    ask(&ours, "ours-last", "Which cup?");

    let seqs: Vec<u64> = lines(&ours).iter().map(|entry| entry.head.seq).collect();
    let first = seqs[0];
    assert!((first..).zip(&seqs).all(|(expected, seq)| *seq == expected), "{seqs:?}");
    assert_eq!(ours.read().unwrap().item(&"42".parse().unwrap()).unwrap().unwrap().asked, 9);
}
