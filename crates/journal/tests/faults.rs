//! A write that fails, or whose process dies, at any step: nothing acknowledged is lost, nothing is half-applied, and the
//! next command works at once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Command as Process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use querent_core::{Command, Refusal};
use querent_journal::Files;
use querent_journal::conformance::{Script, verify};
use querent_journal::files::{Fault, Ledgers, Options, Step};

use crate::support::{Project, child, given_dir, id, kill_myself, options, script};

/// A command, and how many lines it writes.
struct Act {
    name: &'static str,
    command: Command,
    lines: usize,
}

fn acts() -> [Act; 5] {
    [
        Act { name: "open", command: Script::open("44").unwrap(), lines: 1 },
        Act { name: "ask", command: Script::ask_human("41", "Which tea?").unwrap(), lines: 2 },
        Act { name: "answer", command: Script::answer(&id("CLR-42-003"), "Friday"), lines: 2 },
        // It changes its item and what all items share.
        Act { name: "strict", command: Script::ask_strictly("41", "Which mode?").unwrap(), lines: 3 },
        Act { name: "end", command: Script::end("42").unwrap(), lines: 3 },
    ]
}

impl Act {
    /// Whether a write comes by this step.
    fn reaches(&self, step: Step) -> bool {
        self.name != "open" || step != Step::QuestionWritten
    }
}

/// The lines are in the log from here on.
fn is_recorded(step: Step) -> bool {
    step >= Step::Written
}

#[test]
fn a_write_is_synced_before_it_is_acknowledged_and_so_is_its_replay() {
    let project = Project::with_some_work(&options());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing: Fault = {
        let seen = Arc::clone(&seen);
        Arc::new(move |step| {
            seen.lock().unwrap().push(step);
            Ok(())
        })
    };
    let ask = Script::ask("41", "Which tea?").unwrap();
    let open = || Files::open(project.path(), Options { fault: Some(Arc::clone(&seeing)), ..options() });

    script().accept(&open(), "op", &ask).unwrap();
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), Step::ALL);

    // The first may have died before its sync: whoever hears its reply again can rely on it all the same.
    script().accept(&open(), "op", &ask).unwrap();
    let promised = [Step::Locked, Step::CaughtUp, Step::Decided, Step::Written, Step::Unlocked, Step::Synced];
    assert_eq!(*seen.lock().unwrap(), promised);
}

#[test]
fn an_error_at_any_step_loses_nothing_and_the_next_update_works() {
    let given = Project::with_some_work(&options());
    for act in acts() {
        for &step in Step::ALL {
            for same_handle in [true, false] {
                for next in [Next::Reads, Next::Writes] {
                    an_error(&given.copy(), &act, step, same_handle, next);
                }
            }
        }
    }
}

/// Who comes first after the fault: what a reader repairs, a writer does not find.
#[derive(Clone, Copy, Debug)]
enum Next {
    Reads,
    Writes,
}

fn an_error(project: &Project, act: &Act, step: Step, same_handle: bool, next: Next) {
    let what = format!("{} with an error at {step:?}, then somebody {next:?}", act.name);
    let hit = Arc::new(AtomicBool::new(false));
    let failing = Files::open(project.path(), Options { fault: Some(fails_once(step, &hit)), ..options() });

    let reply = script().send(&failing, "op", &act.command);

    assert_eq!(hit.load(Ordering::SeqCst), act.reaches(step), "{what}");
    // What follows the log may fail without a word: the log has it.
    let told = step < Step::Written || step >= Step::Unlocked;
    assert_eq!(reply.is_err(), told && act.reaches(step), "{what}");
    let files = if same_handle { failing } else { project.open() };
    goes_on(project, &files, act, is_recorded(step).then_some(act.lines), next, &what);
    if let Ok(reply) = reply {
        let again = script().send(&files, "op", &act.command).unwrap();
        assert_eq!(again.as_str(), reply.as_str(), "{what}");
    }
}

/// The disk says no whenever a write comes by a step.
#[test]
fn a_step_that_always_fails_stops_writers_and_no_reader() {
    let given = Project::with_some_work(&options());
    for act in acts() {
        for &step in Step::ALL {
            let (project, what) = (given.copy(), format!("{} with errors at {step:?}", act.name));
            let fault: Fault = Arc::new(move |at| if at == step { Err(full()) } else { Ok(()) });
            let failing = Files::open(project.path(), Options { fault: Some(fault), ..options() });

            let replies: Vec<_> = (0..3).map(|_| script().send(&failing, "op", &act.command)).collect();

            assert_eq!(lines_of(&failing, &what), if is_recorded(step) { act.lines } else { 0 }, "{what}");
            for reply in replies.into_iter().flatten() {
                let again = script().send(&project.open(), "op", &act.command).unwrap();
                assert_eq!(again.as_str(), reply.as_str(), "{what}");
            }
            goes_on(&project, &project.open(), &act, is_recorded(step).then_some(act.lines), Next::Writes, &what);
        }
    }
}

fn fails_once(step: Step, hit: &Arc<AtomicBool>) -> Fault {
    let hit = Arc::clone(hit);
    Arc::new(move |at| if at == step && !hit.swap(true, Ordering::SeqCst) { Err(full()) } else { Ok(()) })
}

fn full() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

/// All lines of the act are there, or none; it can be sent again and has one effect; and then everything is in order.
fn goes_on(project: &Project, files: &Files, act: &Act, recorded: Option<usize>, next: Next, what: &str) {
    if matches!(next, Next::Reads) {
        assert_eq!(lines_of(files, what), recorded.unwrap_or(0), "{what}");
    }
    let after = Script::open("after").unwrap();
    script().accept(files, "after", &after).unwrap_or_else(|broken| panic!("{what}: {broken:?}"));
    assert_eq!(project.open().examine().unwrap(), [], "{what}");
    assert_eq!(lines_of(files, what), recorded.unwrap_or(0), "{what}");
    script().accept(files, "op", &act.command).unwrap_or_else(|broken| panic!("{what}: {broken:?}"));
    assert_eq!(project.open().examine().unwrap(), [], "{what}");
    assert_eq!(lines_of(files, what), act.lines, "{what}");
    project.remembers_all_that_was_acknowledged();
}

fn lines_of(files: &Files, what: &str) -> usize {
    let records = verify(files).unwrap_or_else(|broken| panic!("{what}: {broken:?}"));
    records.iter().filter(|record| record.operation_id.as_ref().is_some_and(|id| id.as_str() == "op")).count()
}

#[test]
fn a_process_killed_at_any_step_loses_nothing_and_holds_up_nobody() {
    let given = Project::with_some_work(&options());
    std::thread::scope(|scope| {
        for act in acts() {
            let given = &given;
            scope.spawn(move || {
                for &step in Step::ALL {
                    for ledgers in ["prompt", "deferred"] {
                        a_kill(&given.copy(), &act, step, ledgers);
                    }
                }
            });
        }
    });
}

fn a_kill(project: &Project, act: &Act, step: Step, ledgers: &str) {
    let what = format!("{} with {ledgers} ledgers killed at {step:?}", act.name);
    let mut process = child("dies_at_a_step", project.path());
    let args = format!("{} {step:?} {ledgers}", act.name);
    let mut child = process.env("QUERENT_TEST_ACT", args).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    let status = child.wait().unwrap();
    let acknowledged = lines.iter().find_map(|line| line.strip_prefix("acknowledged "));

    assert_eq!(status.signal(), act.reaches(step).then_some(9), "{what}: {status}");
    for next in [Next::Reads, Next::Writes] {
        let (project, what) = (project.copy(), format!("{what}, then somebody {next:?}"));
        let files = project.open();
        goes_on(&project, &files, act, is_recorded(step).then_some(act.lines), next, &what);
        if let Some(reply) = acknowledged {
            assert_eq!(script().send(&files, "op", &act.command).unwrap().as_str(), reply, "{what}");
        }
    }
    // Where it died, nobody waits either.
    script().accept(&project.open(), "after", &Script::open("after").unwrap()).unwrap();
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn dies_at_a_step() {
    let (Some(dir), Ok(args)) = (given_dir(), std::env::var("QUERENT_TEST_ACT")) else { return };
    let args: Vec<&str> = args.split(' ').collect();
    let step = *Step::ALL.iter().find(|step| format!("{step:?}") == args[1]).unwrap();
    let fault: Fault = Arc::new(move |at| if at == step { kill_myself() } else { Ok(()) });
    let ledgers = if args[2] == "deferred" { Ledgers::Deferred } else { Ledgers::Prompt };
    let files = Files::open(&dir, Options { fault: Some(fault), ledgers, ..options() });
    let act = acts().into_iter().find(|act| act.name == args[0]).unwrap();

    let reply = script().send(&files, "op", &act.command).unwrap();

    let mut out = io::stdout();
    writeln!(out, "\nacknowledged {}", reply.as_str()).unwrap();
}

/// A real one, by a limit on the size of files: the write that does not fit is cut in its middle.
#[test]
fn a_disk_that_is_full_loses_nothing_and_says_so() {
    for limit in [40, 47, 64, 71] {
        let mut project = Project::empty();
        project.say(&project.open(), "open", &Script::open("42").unwrap());
        let inner = child("writes_until_the_disk_is_full", project.path());
        let mut limited = Process::new("sh");
        // The signal is ignored, so that the write fails instead.
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"")]);
        limited.arg(inner.get_program()).args(inner.get_args()).env("QUERENT_TEST_DIR", project.path());

        let output = limited.output().unwrap();

        let text = String::from_utf8(output.stdout).unwrap();
        let refused: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
        assert_eq!(refused.len(), 3, "{text}");
        assert!(refused.iter().all(|it| it.contains("make room on the disk")), "{refused:?}");
        let acknowledged = text.lines().filter(|line| line.starts_with("acknowledged ")).count();
        let records = verify(&project.open()).unwrap();
        assert_eq!(records.len(), 1 + acknowledged, "limit {limit}");
        // There is room again.
        project.say(&project.open(), "after", &Script::open("after").unwrap());
        project.is_sound();
    }
}

/// The part of a child: it does nothing unless the test above started it.
#[test]
fn writes_until_the_disk_is_full() {
    let Some(dir) = given_dir() else { return };
    let files = Files::open(&dir, options());
    let mut out = io::stdout();
    writeln!(out).unwrap();
    let mut refusals = 0;
    for number in 0.. {
        let ask = Script::ask("42", &format!("Which {number}? {}", "x".repeat(number * 7 % 400))).unwrap();
        match script().send(&files, &format!("op-{number}"), &ask) {
            Ok(_) => writeln!(out, "acknowledged {number}").unwrap(),
            Err(error) => {
                writeln!(out, "refused {}", Refusal::from(error).hint).unwrap();
                refusals += 1;
            }
        }
        if refusals == 3 {
            return;
        }
    }
}
