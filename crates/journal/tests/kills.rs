//! Five hundred processes, killed at whatever they were doing: nothing acknowledged is lost, nothing is done twice.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use querent_core::reply::AskReply;
use querent_core::{Command, Envelope, QuestionId};
use querent_journal::conformance::{Script, verify};
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Files, Journal};

use crate::support::{Dice, Project, child, given_dir, id, script};

const KILLS: u64 = 500;
/// Processes that live at the same time.
const AT_ONCE: u64 = 10;
/// A process is killed before it has said more than this.
const MOST_SAID: u64 = 8;

/// An operation that a process printed after it was acknowledged.
struct Acknowledged {
    operation: String,
    reply: String,
}

#[test]
fn five_hundred_kills_lose_nothing_that_was_acknowledged() {
    let (mut dice, seed) = Dice::new();
    writeln!(io::stderr(), "QUERENT_TEST_SEED={seed}").unwrap();
    let mut project = Project::empty();
    let files = project.open();
    project.say(&files, "open", &Script::open("a").unwrap());
    for round in 0..KILLS / AT_ONCE {
        let victims: Vec<(String, u64)> =
            (0..AT_ONCE).map(|number| (format!("{round}-{number}"), dice.roll(MOST_SAID + 1))).collect();

        let acknowledged = kill_all(&project, &victims);

        // No patience: whoever was killed holds nothing.
        project.say(&project.open(), &format!("round-{round}"), &Script::ask("a", "Is anybody there?").unwrap());
        let answer = Script::answer(&last_question(&project), "yes");
        project.say(&project.open(), &format!("round-{round}-answer"), &answer);
        check(&project, round, &acknowledged);
    }
    project.remembers_all_that_was_acknowledged();
}

/// Starts them all, and kills each when it has said as much as it is given.
fn kill_all(project: &Project, victims: &[(String, u64)]) -> Vec<Acknowledged> {
    thread::scope(|scope| {
        let killed: Vec<_> =
            victims.iter().map(|(name, most)| scope.spawn(move || kill_after(project, name, *most))).collect();
        killed.into_iter().flat_map(|victim| victim.join().unwrap()).collect()
    })
}

fn kill_after(project: &Project, name: &str, most: u64) -> Vec<Acknowledged> {
    let mut child =
        child("asks_and_answers_until_it_is_killed", project.path()).env("QUERENT_TEST_NAME", name).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.by_ref().any(|line| line == "ready");
    assert!(ready, "{name} did not start");
    let said = |line: String| {
        let (operation, reply) = line.split_once(' ')?;
        Some(Acknowledged { operation: operation.to_owned(), reply: reply.to_owned() })
    };
    let mut acknowledged: Vec<Acknowledged> =
        lines.by_ref().take(usize::try_from(most).unwrap()).filter_map(said).collect();
    child.kill().unwrap();
    // What it said before the end was said after it was acknowledged, whole or not at all.
    acknowledged.extend(lines.filter_map(said));
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "{name} ended before it was killed: {status}");
    acknowledged
}

fn last_question(project: &Project) -> QuestionId {
    let item = project.open().read().unwrap().item(&id("a")).unwrap().unwrap();
    item.question_id(item.asked)
}

fn check(project: &Project, round: u64, acknowledged: &[Acknowledged]) {
    let files = project.open();
    assert_eq!(files.examine().unwrap(), [], "round {round}");
    let records = verify(&files).unwrap();
    let recorded: BTreeSet<&str> =
        records.iter().filter_map(|record| Some(record.operation_id.as_ref()?.as_str())).collect();
    for it in acknowledged {
        assert!(recorded.contains(it.operation.as_str()), "round {round}: {} is lost", it.operation);
        let again = repeat(&files, &it.operation);
        assert_eq!(again.as_str(), it.reply, "round {round}: {} is answered in other words", it.operation);
    }
    let last = records.len() as u64;
    files.records(last, &mut |record| panic!("round {round}: a replay has done something: {record:?}")).unwrap();
}

/// Sends an operation again. Its command is in its name; the question that it answers, in the reply to the asking.
fn repeat(files: &Files, operation: &str) -> Envelope {
    let (of, what) = operation.rsplit_once('/').unwrap();
    match what {
        "open" => script().send(files, operation, &opening(of)),
        "ask" => script().send(files, operation, &asking(of)),
        _ => {
            let asked = script().send(files, &format!("{of}/ask"), &asking(of)).unwrap();
            script().send(files, operation, &answering(&asked, of))
        }
    }
    .unwrap()
}

/// Half of the questions are of items of their own, so that items and marks come and go.
fn item(of: &str) -> String {
    match of.rsplit_once('/').unwrap() {
        (_, number) if number.ends_with(['1', '3', '5', '7', '9']) => "a".to_owned(),
        (name, number) => format!("{name}-{number}"),
    }
}

fn opening(of: &str) -> Command {
    Script::open(&item(of)).unwrap()
}

fn asking(of: &str) -> Command {
    Script::ask(&item(of), &format!("{of} asks")).unwrap()
}

fn answering(asked: &Envelope, of: &str) -> Command {
    let asked: AskReply = asked.read().unwrap();
    Script::answer(&asked.question_id, &format!("{of} answers"))
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn asks_and_answers_until_it_is_killed() {
    let (Some(dir), Ok(name)) = (given_dir(), std::env::var("QUERENT_TEST_NAME")) else { return };
    // One in two stays for long and lets its ledgers follow later. Small segments, so that many of them begin.
    let ledgers = if name.ends_with(['1', '3', '5', '7', '9']) { Ledgers::Deferred } else { Ledgers::Prompt };
    let patience = Duration::from_mins(1);
    let files = Files::open(&dir, Options { ledgers, patience, segment_limit: 20_000, ..Options::new(&name) });
    // A line is written at once: a killed process has said it, or not.
    let print = |line: String| io::stdout().write_all(line.as_bytes()).unwrap();
    let send = |operation: String, command: &Command| {
        let reply = script().accept(&files, &operation, command).unwrap();
        print(format!("{operation} {}\n", reply.as_str()));
        reply
    };
    print("\nready\n".to_owned());
    for number in 0.. {
        let of = format!("{name}/{number}");
        if item(&of) != "a" {
            send(format!("{of}/open"), &opening(&of));
        }
        let asked = send(format!("{of}/ask"), &asking(&of));
        send(format!("{of}/answer"), &answering(&asked, &of));
    }
}
