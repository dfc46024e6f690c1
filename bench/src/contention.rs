//! Whole processes beside those of agentic-orchestrator: how soon they start, and 32 of them on one item.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{Action, Party};
use querent_hub::{Handle, Project};
use serde_json::{Value, json};

use crate::Outcome;
use crate::commands::{accepted, ask_beside, project};
use crate::cycle::{Cli, Driver, Subject, answers_in};
use crate::measure::{median, part};
use crate::peers::Peers;
use crate::process::{querent, seconds};
use crate::report::{Chart, Table};
use crate::rows::{Measured, Row, scratch};

/// How many processes there are on one item.
const PROCESSES: usize = 32;

pub(crate) fn measure(run: &Path, quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let peers = Peers::installed()?;
    progress("contention: starting agentic-orchestrator");
    let (theirs, place) = peers.orchestrator(run, "aop-commands", "commands")?;
    let mut measured = starts(run, &theirs, &place, if quick { 3 } else { 21 })?;
    progress("contention: a process that asks and one that answers");
    measured.rows.push(pairs(run, theirs, if quick { 1 } else { 3 })?);
    progress("contention: 32 processes on one item");
    // Theirs wait for each other for seconds.
    let (each, theirs) = if quick { (3, (8, 1)) } else { (30, (PROCESSES, 5)) };
    let (row, table) = crowd(run, &peers, each, theirs)?;
    measured.rows.push(row);
    measured.tables.push(table);
    Ok(measured)
}

/// How long whole processes take that do next to nothing.
fn starts(run: &Path, theirs: &Driver, place: &Path, rounds: usize) -> Outcome<Measured> {
    let dir = scratch(run)?;
    project(&dir, 10)?;
    let listed = theirs.ready["commands"]["questions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let listed: Vec<&str> = listed.collect();
    let (program, arguments) = listed.split_first().ok_or("agentic-orchestrator names no command")?;
    let querent = querent()?;
    let all: [(&str, &Path, &[&str], &Path); 5] = [
        ("querent --version", &querent, &["--version"], &dir),
        ("querent questions --json", &querent, &["questions", "--json"], &dir),
        ("node -e 0", Path::new("node"), &["-e", "0"], &dir),
        ("python3 -c 0", Path::new("python3"), &["-c", "0"], &dir),
        ("aop questions", Path::new(program), arguments, place),
    ];
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    for _ in 0..rounds {
        for ((_, program, arguments, dir), times) in all.iter().zip(&mut times) {
            times.push(seconds(program, arguments, dir)?);
        }
    }
    let mut table = Table::new("Start", "Whole processes, from start to end.", &["", "ms"]);
    let mut chart = Chart::new("Milliseconds of a whole process", "ms");
    for ((name, ..), times) in all.iter().zip(times) {
        let millis = median(times) * 1000.0;
        table.line([format!("`{name}`"), format!("{millis:.1}")]);
        chart.bar(name, millis, name.starts_with("querent"));
    }
    table.chart = Some(chart);
    Ok((Vec::new(), vec![table]).into())
}

/// A process asks and another answers.
fn pairs(run: &Path, mut theirs: Driver, rounds: usize) -> Outcome<Row> {
    let mut ours = Cli::pairs(run)?;
    ours.run(1, 5)?;
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let [our, their] = [ours.run(1, 60)?, theirs.run(1, 2)?].map(|it| it.rate());
        ratios.push(our / their);
        rates.push((our, their));
    }
    let (our, their) = rates.pop().unwrap_or_default();
    let seen = format!("{our:.0} pairs/s against {their:.2}");
    Ok(Row::at_least("ask + answer by the command line / agentic-orchestrator", median(ratios), 50.0, seen))
}

/// What became of the pairs of many processes on one item.
struct Crowd {
    processes: usize,
    done: usize,
    lost: usize,
    timed_out: u64,
    seconds: f64,
    latencies: Vec<u64>,
}

impl Crowd {
    fn p99(&self) -> String {
        format!("{:.1}", part(&self.latencies, 99) / 1000.0)
    }

    fn line(&self, name: &str) -> [String; 7] {
        let [processes, done, lost] = [self.processes, self.done, self.lost].map(|it| it.to_string());
        #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
        let rate = format!("{:.0}", self.latencies.len() as f64 / self.seconds);
        [name.to_owned(), processes, done, lost, self.timed_out.to_string(), rate, self.p99()]
    }
}

/// Many processes on one item: what was acknowledged must be there. `theirs` is how many the other's are, and how much each does.
fn crowd(run: &Path, peers: &Peers, each: usize, theirs: (usize, usize)) -> Outcome<(Row, Table)> {
    let ours = our_crowd(run, each)?;
    let theirs = their_crowd(run, peers, theirs)?;
    let head = ["", "processes", "pairs done", "lost", "timed out", "pairs/s", "p99 ms"];
    let about = "Pairs of a question and its answer, by processes that stay, all on one item at once.";
    let mut table = Table::new("Contention", about, &head);
    table.line(ours.line("Querent"));
    table.line(theirs.line("agentic-orchestrator"));
    let Crowd { done, lost, timed_out, .. } = ours;
    #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
    let missing = (lost as u64 + timed_out) as f64;
    let seen = format!("{done} done, {lost} lost, {timed_out} timed out, p99 {} ms", ours.p99());
    Ok((Row::at_most("32 processes on one item: lost or timed out", missing, 0.0, seen), table))
}

fn our_crowd(run: &Path, each: usize) -> Outcome<Crowd> {
    let dir = scratch(run)?;
    project(&dir, 1)?;
    let mut processes: Vec<(Child, BufReader<_>)> = Vec::new();
    for _ in 0..PROCESSES {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("contend").arg(&dir).arg(each.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        processes.push((child, output));
    }
    let line = |output: &mut BufReader<std::process::ChildStdout>| -> Outcome<String> {
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(line)
    };
    for (_, output) in &mut processes {
        line(output)?;
    }
    let start = Instant::now();
    for (child, _) in &mut processes {
        writeln!(child.stdin.as_mut().ok_or("no input")?, "go")?;
    }
    let (mut timed_out, mut latencies) = (0, Vec::new());
    for (_, output) in &mut processes {
        let said: Value = serde_json::from_str(&line(output)?)?;
        latencies.extend(said["latencies_us"].as_array().into_iter().flatten().filter_map(Value::as_u64));
        timed_out += said["timed_out"].as_u64().unwrap_or_default();
    }
    let seconds = start.elapsed().as_secs_f64();
    for (mut child, _) in processes {
        child.kill()?;
        child.wait()?;
    }
    let done = latencies.len();
    let lost = done.saturating_sub(answers_in(&dir)?);
    Ok(Crowd { processes: PROCESSES, done, lost, timed_out, seconds, latencies })
}

fn their_crowd(run: &Path, peers: &Peers, (processes, each): (usize, usize)) -> Outcome<Crowd> {
    let (mut driver, _) = peers.orchestrator(run, "aop-contend", "contend")?;
    let said = driver.cycles(processes, processes * each)?;
    let number = |name: &str| said[name].as_u64().unwrap_or_default();
    let latencies = said["latencies_us"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    Ok(Crowd {
        processes,
        done: usize::try_from(number("cycles"))?,
        lost: usize::try_from(number("lost"))?,
        timed_out: number("timed_out"),
        seconds: said["seconds"].as_f64().unwrap_or(f64::NAN),
        latencies,
    })
}

/// One of the processes: says that it is ready, waits for a line, and tells how it went. It stays until it is killed.
pub(crate) fn contend(dir: &Path, pairs: usize) -> Outcome<()> {
    let hub = Handle::stay(&Project::find(dir)?, "bench")?;
    writeln!(stdout(), "ready")?;
    stdin().read_line(&mut String::new())?;
    let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
    let (mut latencies, mut timed_out) = (Vec::new(), 0);
    for _ in 0..pairs {
        let start = Instant::now();
        let pair = || -> Outcome<()> {
            let asked: AskReply = accepted(&hub, "1", engineer.clone(), ask_beside())?;
            let answer = Action::Answer { question: asked.question_id, answer: json!("Postgres"), note: None };
            accepted::<AnswerReply>(&hub, "1", architect.clone(), answer).map(drop)
        };
        match pair() {
            Ok(()) => latencies.push(start.elapsed().as_micros()),
            Err(error) if error.to_string().contains("lock_timeout") => timed_out += 1,
            Err(error) => return Err(error),
        }
    }
    let mut out = stdout().lock();
    writeln!(out, "{}", json!({ "latencies_us": latencies, "timed_out": timed_out }))?;
    out.flush()?;
    drop(out);
    stdin().read_line(&mut String::new())?;
    Ok(())
}
