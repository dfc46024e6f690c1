//! Whoever looks after an acknowledgement sees what was acknowledged, however seldom it looks for news: over new segments, while
//! ledgers follow, while others follow the log, and while others write.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use querent_core::Command;
use querent_core::reply::AskReply;
use querent_journal::conformance::Script;
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Files, Journal};

use crate::support::options;

const ITEMS: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];

/// Set when it is dropped, also by a panic: nobody works on for ever.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Asks and answers on an item, and looks at once after each.
fn asks_and_looks(files: &Files, item: &str) {
    let accepted = |operation: String, command: &Command| {
        let (done, told) = mpsc::channel();
        let update = Script::new().unwrap().update(&operation, command);
        files.submit(vec![update], Box::new(move |mut replies| done.send(replies.remove(0)).unwrap()));
        told.recv().unwrap().unwrap()
    };
    for number in 0..100 {
        let command = Script::ask(item, &format!("Which of {number}?")).unwrap();
        let asked: AskReply = accepted(format!("ask-{item}-{number}"), &command).read().unwrap();
        let id = asked.question_id;
        let look = || files.read_lately().unwrap().question(&id).unwrap();
        assert!(look().is_some_and(|question| question.status.is_open()), "{id} was asked");

        accepted(format!("answer-{item}-{number}"), &Script::answer(&id, "this"));
        assert!(look().is_some_and(|question| !question.status.is_open()), "{id} was answered");
    }
}

#[test]
fn a_look_that_may_be_a_moment_old_sees_all_that_was_acknowledged_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let files = Options { ledgers: Ledgers::OnDemand, segment_limit: 20_000, ..options() };
    let files = Files::open(dir.path(), files);
    for item in ITEMS {
        Script::new().unwrap().accept(&files, &format!("open-{item}"), &Script::open(item).unwrap()).unwrap();
    }

    let (files, over) = (&files, &AtomicBool::new(false));
    thread::scope(|scope| {
        let goes_on = || !over.load(Ordering::Acquire);
        scope.spawn(move || {
            while goes_on() {
                files.follow().unwrap();
            }
        });
        scope.spawn(move || {
            let mut since = 0;
            while goes_on() {
                let mut last = since;
                let mut read = |seq| {
                    last = seq;
                    true
                };
                files.records(since, &mut |record| read(record.seq)).unwrap();
                since = last;
            }
        });
        let _over = Over(over);
        thread::scope(|scope| {
            for item in ITEMS {
                scope.spawn(move || asks_and_looks(files, item));
            }
        });
    });
}
