//! How long the first command takes after a crash, with a long journal.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use querent_hub::Project;
use serde_json::Value;

use crate::Outcome;
use crate::measure::median;
use crate::process::{querent, seconds};
use crate::report::{Chart, Table, grouped};
use crate::rows::{Measured, items_of, with_events};
use crate::seed::Seeder;

/// How many commands a process does before it is killed. They take less time than its ledgers take to follow.
const UNFLUSHED: usize = 500;
/// The item on which it works.
const BUSY: &str = "busy";
/// What is derived from the log: all but the log itself.
const DERIVED: [&str; 5] = ["journal/checkpoint", "operations", "items", "open", "shared"];

/// What happens before the command.
#[derive(Clone, Copy)]
enum Crash {
    Nothing,
    Killed,
    NoCheckpoint,
    NothingDerived,
}

/// A kind of crash, and what was seen after it.
struct Case {
    crash: Crash,
    name: &'static str,
    what: &'static str,
    /// How many lines were in no ledger, in each round.
    behind: Vec<u64>,
    /// Seconds of the first command and of the one after it, in each round.
    first: Vec<f64>,
    second: Vec<f64>,
}

/// How it is done: with processes, and in the test without.
struct Means<'a> {
    /// A process does so many commands in this project and is killed.
    kill: &'a dyn Fn(&Path, usize) -> Outcome<()>,
    /// Seconds of a process that answers this question.
    answer: &'a dyn Fn(&Path, &str) -> Outcome<f64>,
}

pub(crate) fn measure(run: &Path, quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let events = if quick { 100_000 } else { 1_000_000 };
    let dir = with_events(run, events)?;
    let querent = querent()?;
    let answer = |dir: &Path, id: &str| {
        seconds(&querent, &["answer", id, "--by", "architect", "--answer", "Postgres", "--json"], dir)
    };
    let means = Means { kill: &kill, answer: &answer };
    let cases = played(&dir, if quick { [3, 1] } else { [11, 3] }, UNFLUSHED, &means, progress)?;
    Ok((Vec::new(), vec![table(&cases, events)]).into())
}

/// Plays all cases: so many rounds of the light ones, and so many of those that read the whole log. On each item of the project
/// the first question is open; a command answers one of them.
fn played(
    dir: &Path,
    [light, heavy]: [usize; 2],
    unflushed: usize,
    means: &Means<'_>,
    progress: &mut dyn FnMut(&str),
) -> Outcome<Vec<Case>> {
    let project = Project::find(dir)?;
    Seeder::now(&project)?.open(BUSY)?;
    let mut item = 0;
    let mut answer = || {
        item += 1;
        (means.answer)(dir, &format!("CLR-{item}-001"))
    };
    let mut cases = cases();
    for case in &mut cases {
        progress(&format!("recovery: {}", case.name));
        let rounds = if matches!(case.crash, Crash::Nothing | Crash::Killed) { light } else { heavy };
        for _ in 0..rounds {
            crash(&project, case.crash, unflushed, means)?;
            if matches!(case.crash, Crash::Killed) {
                case.behind.push(behind(&project)?);
            }
            case.first.push(answer()?);
            case.second.push(answer()?);
        }
    }
    Ok(cases)
}

fn cases() -> Vec<Case> {
    let killed = "a process that stays was killed right after a command";
    let unsound = "the checkpoint was removed, which is as if it were of another boot: all of the log is read, the ledgers are compared \
                   with it, the index is made anew";
    let all = "every file that is derived was removed: all of them are made anew from the log";
    let case =
        |crash, name, what| Case { crash, name, what, behind: Vec::new(), first: Vec::new(), second: Vec::new() };
    vec![
        case(Crash::Nothing, "no crash", "everything is in order"),
        case(Crash::Killed, "a killed process", killed),
        case(Crash::NoCheckpoint, "no sound checkpoint", unsound),
        case(Crash::NothingDerived, "nothing derived", all),
    ]
}

/// Brings the project into the state that such a crash leaves.
fn crash(project: &Project, crash: Crash, unflushed: usize, means: &Means<'_>) -> Outcome<()> {
    let remove = |names: &[&str]| names.iter().try_for_each(|name| remove(&project.dir().join(name)));
    match crash {
        Crash::Nothing => Ok(()),
        Crash::NoCheckpoint => Ok(remove(&DERIVED[..1])?),
        Crash::NothingDerived => Ok(remove(&DERIVED)?),
        Crash::Killed => (means.kill)(project.root(), unflushed),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) } {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// How many lines of the log the derived files do not hold. None would be no crash.
fn behind(project: &Project) -> Outcome<u64> {
    let stored: Value = serde_json::from_slice(&fs::read(project.dir().join(DERIVED[0]))?)?;
    let held = stored["place"]["seq"].as_u64().ok_or("the checkpoint names no line")?;
    let segments = fs::read_dir(project.dir().join("journal"))?.map(|entry| Ok(entry?.path()));
    let segments = segments.collect::<io::Result<Vec<_>>>()?;
    let last = segments.into_iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl")).max();
    let mut log = File::open(last.ok_or("there is no log")?)?;
    // More than a line has.
    log.seek(SeekFrom::Start(log.metadata()?.len().saturating_sub(1 << 16)))?;
    let mut bytes = Vec::new();
    log.read_to_end(&mut bytes)?;
    let line = bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line: Value = serde_json::from_slice(line)?;
    let end = line["seq"].as_u64().ok_or("the last line has no number")?;
    end.checked_sub(held)
        .filter(|lines| *lines > 0)
        .ok_or_else(|| "the ledgers followed before the process was killed".into())
}

/// A process that stays does so many commands, and is killed at once.
fn kill(dir: &Path, commands: usize) -> Outcome<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("client")
        .arg(dir)
        .args([BUSY, &commands.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut words = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    words.next().ok_or("a client failed")??;
    child.stdin.as_mut().ok_or("no input")?.write_all(b"go\n")?;
    words.next().ok_or("a client failed")??;
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn table(cases: &[Case], events: usize) -> Table {
    let items = items_of(events);
    let about = format!(
        "Processes that answer a question, each the first one after a crash, with a journal of {} events: {items} items, each with \
         an open question and {} sessions.",
        grouped(events),
        grouped(events / items)
    );
    let head = ["after", "what was done", "the first command, ms", "the second, ms", "the first, at most, ms"];
    let mut table = Table::new("Recovery", about, &head);
    let mut chart = Chart::new("The first command after a crash", "ms");
    for case in cases {
        let [first, second] = [&case.first, &case.second].map(|it| median(it.clone()) * 1000.0);
        let most = case.first.iter().copied().fold(0.0, f64::max) * 1000.0;
        let [of_first, of_second, at_most] = [first, second, most].map(|it| format!("{it:.1}"));
        let behind = case.behind.iter().min().map(|lines| format!(": {lines} lines or more were in no ledger"));
        let what = format!("{}{}", case.what, behind.unwrap_or_default());
        table.line([case.name.to_owned(), what, of_first, of_second, at_most]);
        chart.bar(case.name, first, true);
    }
    table.chart = Some(chart);
    table
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Instant;

    use querent_core::reply::AnswerReply;
    use querent_core::{Action, QuestionId};
    use querent_hub::Handle;
    use serde_json::json;

    use super::*;
    use crate::commands::{accepted, talk};

    #[test]
    fn every_crash_is_followed_by_commands_that_bring_all_in_order() {
        let run = tempfile::tempdir().unwrap();
        let dir = with_events(run.path(), 40).unwrap();
        // A killed process leaves ledgers that are newer than their checkpoint, too.
        let kill = |dir: &Path, commands: usize| -> Outcome<()> {
            let project = Project::find(dir)?;
            let path = project.dir().join(DERIVED[0]);
            let before = fs::read(&path)?;
            talk(&Handle::open(&project, "test")?, BUSY, commands)?;
            Ok(fs::write(path, before)?)
        };
        let unsound = Cell::new(0);
        let answer = |dir: &Path, id: &str| -> Outcome<f64> {
            let project = Project::find(dir)?;
            unsound.set(unsound.get() + usize::from(!project.dir().join(DERIVED[0]).exists()));
            let question: QuestionId = id.parse()?;
            let item = question.item.to_string();
            let (answer, start) = (json!("Postgres"), Instant::now());
            let action = Action::Answer { question, answer, note: None };
            accepted::<AnswerReply>(&Handle::open(&project, "test")?, &item, "architect".parse()?, action)?;
            Ok(start.elapsed().as_secs_f64())
        };

        let cases = played(&dir, [1, 1], 4, &Means { kill: &kill, answer: &answer }, &mut |_| ()).unwrap();

        assert_eq!(unsound.get(), 2, "twice a command found no checkpoint");
        assert!(cases.iter().all(|case| case.first.len() == 1 && case.second.len() == 1));
        let hub = Handle::open(&Project::find(&dir).unwrap(), "test").unwrap();
        assert_eq!(hub.items().unwrap().len(), 11);
        let behind: Vec<usize> = cases.iter().map(|case| case.behind.len()).collect();
        assert_eq!(behind, [0, 1, 0, 0]);
        assert!(table(&cases, 40).markdown().contains("lines or more were in no ledger"));
    }
}
