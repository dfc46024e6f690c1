//! Many processes on one project at the same moment.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::Arc;

use querent_core::reply::AskReply;
use querent_core::{Event, QuestionId};
use querent_journal::conformance::{Script, verify};
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Files, Journal};

use crate::support::{Project, child, given_dir, id, script};

const PROCESSES: usize = 32;
const QUESTIONS: usize = 30;
const TIMES: usize = 1_000;

/// A child that is told line by line what to do, and answers each with a line.
struct Told {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Told {
    fn start(project: &Project, test: &str, name: &str) -> Self {
        let mut child = child(test, project.path()).env("QUERENT_TEST_NAME", name).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut told = Self { child, stdin, lines: BufReader::new(stdout).lines() };
        assert!(told.lines.by_ref().map(Result::unwrap).any(|line| line == "ready"), "{name} did not start");
        told
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// No more is to come: the rest of what it says, and a good end.
    fn end(self) -> Vec<String> {
        let Self { mut child, stdin, lines } = self;
        drop(stdin);
        let rest = lines.map(Result::unwrap).collect();
        let status = child.wait().unwrap();
        assert!(status.success(), "{status}");
        rest
    }
}

#[test]
fn thirty_two_processes_on_one_item_lose_nothing() {
    let mut project = Project::empty();
    project.say(&project.open(), "open", &Script::open("42").unwrap());
    let names: Vec<String> = (0..PROCESSES).map(|number| format!("p{number}")).collect();
    let mut children: Vec<Told> =
        names.iter().map(|name| Told::start(&project, "asks_and_answers_when_told", name)).collect();

    for child in &mut children {
        child.tell("go");
    }
    let said: Vec<String> = children.into_iter().flat_map(Told::end).collect();

    project.is_sound();
    let acknowledged: BTreeSet<&str> = said.iter().filter_map(|line| line.strip_prefix("acknowledged ")).collect();
    assert_eq!(acknowledged.len(), PROCESSES * QUESTIONS * 2);
    let records = verify(&project.open()).unwrap();
    assert_eq!(records.len(), 1 + PROCESSES * QUESTIONS * 2);
    let recorded: BTreeSet<&str> =
        records.iter().filter_map(|record| Some(record.operation_id.as_ref()?.as_str())).collect();
    assert!(acknowledged.is_subset(&recorded));
    let item = project.open().read().unwrap().item(&id("42")).unwrap().unwrap();
    assert_eq!((item.asked as usize, item.open.len()), (PROCESSES * QUESTIONS, 0));
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn asks_and_answers_when_told() {
    let (Some(dir), Ok(name)) = (given_dir(), std::env::var("QUERENT_TEST_NAME")) else { return };
    let mut out = io::stdout();
    writeln!(out, "\nready").unwrap();
    io::stdin().lines().next().unwrap().unwrap();
    // Half of them do as a command line does, a journal for every command; the others stay for a while and close in the
    // middle of it all, and let their ledgers follow then.
    let stays = name.ends_with(['1', '3', '5', '7', '9']);
    let ledgers = if stays { Ledgers::Deferred } else { Ledgers::Prompt };
    let fresh = || Arc::new(Files::open(&dir, Options { ledgers, ..Options::new(&name) }));
    let mut files = fresh();
    for number in 0..QUESTIONS {
        if number % 6 == 5 {
            files = fresh();
        }
        let open = || if stays { Arc::clone(&files) } else { fresh() };
        let (ask, answer) = (format!("{name}-{number}-ask"), format!("{name}-{number}-answer"));
        let command = Script::ask("42", &format!("{name} asks {number}")).unwrap();
        let asked: AskReply = script().accept(&*open(), &ask, &command).unwrap().read().unwrap();
        writeln!(out, "acknowledged {ask}").unwrap();
        let command = Script::answer(&asked.question_id, &name);
        script().accept(&*open(), &answer, &command).unwrap();
        writeln!(out, "acknowledged {answer}").unwrap();
    }
}

#[test]
fn one_operation_from_two_processes_a_thousand_times_has_one_effect_each_time() {
    let mut project = Project::empty();
    project.say(&project.open(), "open", &Script::open("42").unwrap());
    let mut both = ["left", "right"].map(|name| Told::start(&project, "does_each_operation_once", name));

    for time in 0..TIMES {
        for child in &mut both {
            child.tell(&time.to_string());
        }
        let [left, right] = both.each_mut().map(Told::hear);
        assert_eq!(left, right, "time {time}");
        assert!(left.starts_with("{\"ok\":true"), "time {time}: {left}");
    }

    for child in both {
        assert!(child.end().iter().all(|line| !line.starts_with('{')), "an operation was answered twice");
    }
    project.is_sound();
    let records = verify(&project.open()).unwrap();
    assert_eq!(records.len(), 1 + TIMES);
    assert_eq!(records.iter().filter(|it| matches!(it.event, Event::QuestionAsked(_))).count(), TIMES / 2);
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn does_each_operation_once() {
    let (Some(dir), Ok(name)) = (given_dir(), std::env::var("QUERENT_TEST_NAME")) else { return };
    // One of the two stays and lets its ledgers follow later; the other is as prompt as a command line.
    let ledgers = if name == "left" { Ledgers::Deferred } else { Ledgers::Prompt };
    let files = Files::open(&dir, Options { ledgers, ..Options::new(&name) });
    let mut out = io::stdout();
    writeln!(out, "\nready").unwrap();
    for line in io::stdin().lines() {
        let time: u32 = line.unwrap().parse().unwrap();
        let question = QuestionId { item: id("42"), number: time / 2 + 1 };
        let command = match time % 2 {
            0 => Script::ask("42", &format!("What about {time}?")).unwrap(),
            _ => Script::answer(&question, "this"),
        };
        let reply = script().send(&files, &format!("time-{time}"), &command).unwrap();
        writeln!(out, "{}", reply.as_str()).unwrap();
    }
}
