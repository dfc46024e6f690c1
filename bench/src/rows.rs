//! What is measured, and what it must reach.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Outcome;
use crate::commands::{project, rate_of_clients};
use crate::contention;
use crate::cycle;
use crate::decisions;
use crate::growth;
use crate::http;
use crate::mcp;
use crate::measure::{median, raw_append, raw_group};
use crate::process::{alternate, querent, rate_of_processes, rss, seconds};
use crate::recovery;
use crate::report::Table;
use crate::seed::Seeder;
use crate::survey;
use crate::team;
use crate::waiting;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) ratio: f64,
    pub(crate) reach: String,
    pub(crate) holds: bool,
    /// What was seen, for a person.
    pub(crate) measured: String,
}

impl Row {
    pub(crate) fn at_least(name: &'static str, ratio: f64, least: f64, measured: String) -> Self {
        Self { name, ratio, reach: format!(">= {least}"), holds: ratio >= least, measured }
    }

    pub(crate) fn at_most(name: &'static str, ratio: f64, most: f64, measured: String) -> Self {
        Self { name, ratio, reach: format!("<= {most}"), holds: ratio <= most, measured }
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "name": self.name, "ratio": self.ratio, "reach": self.reach, "holds": self.holds, "measured": self.measured })
    }
}

/// What a group found: rows that must hold, and tables for the report.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) rows: Vec<Row>,
    pub(crate) tables: Vec<Table>,
    /// How long each group took, in seconds.
    pub(crate) took: Vec<(&'static str, f64)>,
}

impl From<Vec<Row>> for Measured {
    fn from(rows: Vec<Row>) -> Self {
        (rows, Vec::new()).into()
    }
}

impl From<(Vec<Row>, Vec<Table>)> for Measured {
    fn from((rows, tables): (Vec<Row>, Vec<Table>)) -> Self {
        Self { rows, tables, took: Vec::new() }
    }
}

/// Where it is told what is being measured.
type Progress<'a> = &'a mut dyn FnMut(&str);

/// A group of rows that are measured together: its name, what it measures, and how.
type Group = (&'static str, &'static str, fn(&Path, bool, Progress<'_>) -> Outcome<Measured>);

/// The groups, in the order of the table.
const GROUPS: &[Group] = &[
    ("cycle", "Querent, and what people use instead", cycle::measure),
    ("contention", "whole processes, and 32 of them on one item", contention::measure),
    ("waiting", "thousands who wait in one process", waiting::measure),
    ("clients", "durable commands of one client and of 64", |run, quick, _| {
        Ok(clients(run, if quick { 3 } else { 15 })?.into())
    }),
    ("processes", "durable commands of 8 processes", |run, quick, _| {
        Ok(processes(run, if quick { 3 } else { 15 })?.into())
    }),
    ("lists", "a project of 1,000 items and one of 10,000", |run, quick, _| Ok(lists(run, rounds(quick))?.into())),
    ("history", "a journal of 1,000 events and one of 1,000,000", |run, quick, _| {
        Ok(history(run, rounds(quick))?.into())
    }),
    ("recovery", "the first command after a crash, with a long journal", recovery::measure),
    ("growth", "more items, and more that is settled on one", growth::measure),
    ("survey", "what is open in a small project and in a large one", survey::measure),
    ("core", "decisions and lines, without a disk", decisions::measure),
    ("mcp", "the MCP server, and one written with FastMCP", |run, quick, _| {
        Ok(mcp::rows(run, if quick { 3 } else { 15 })?.into())
    }),
    ("http", "the HTTP server, many clients, and one written with FastAPI", |run, quick, _| {
        Ok(http::rows(run, quick)?.into())
    }),
    ("team", "a clarification, from the question to the answer", |run, quick, _| {
        Ok(team::rows(run, if quick { 31 } else { 101 })?.into())
    }),
    ("binary", "the release binary", |_, _, _| Ok(size()?.into())),
];

/// How many rounds of something that takes milliseconds.
pub(crate) fn rounds(quick: bool) -> usize {
    if quick { 15 } else { 51 }
}

/// All groups, or one. `quick` measures fewer rounds, and less of what takes long to make. Also the directory of the run: to
/// remove it takes a while, which nobody needs to wait for.
pub(crate) fn all(quick: bool, only: Option<&str>, progress: Progress<'_>) -> Outcome<(Measured, TempDir)> {
    let chosen: Vec<&Group> = GROUPS.iter().filter(|(name, ..)| only.is_none_or(|only| only == *name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = GROUPS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("there is no such group; there are {}", names.join(", ")).into());
    }
    let run = run_dir()?;
    let mut all = Measured::default();
    for (name, what, measure) in chosen {
        settle();
        progress(&format!("{name}: {what}"));
        let start = Instant::now();
        let Measured { rows, tables, .. } = measure(run.path(), quick, progress)?;
        all.rows.extend(rows);
        all.tables.extend(tables);
        all.took.push((*name, start.elapsed().as_secs_f64()));
    }
    Ok((all, run))
}

/// Waits until the disk has taken what was written so far: a group measures itself, and not the traces of the one before it.
fn settle() {
    // Where there is no such program, the figures are only less quiet.
    let _ = Command::new("sync").status();
}

/// The directory of a run, on a disk and not in memory. It stays until the run ends: some file systems are slow to make files
/// where many were deleted a moment ago.
pub(crate) fn run_dir() -> Outcome<TempDir> {
    let beside = std::env::current_exe()?;
    let disk = Some(Path::new("/var/tmp")).filter(|dir| dir.is_dir());
    let parent = disk.or_else(|| beside.ancestors().nth(2)).unwrap_or(Path::new("."));
    Ok(tempfile::Builder::new().prefix("querent-bench-").tempdir_in(parent)?)
}

/// A fresh directory in that of the run.
pub(crate) fn scratch(run: &Path) -> Outcome<PathBuf> {
    Ok(tempfile::Builder::new().prefix("row-").tempdir_in(run)?.keep())
}

fn clients(run: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let dir = scratch(run)?;
    let project = project(&dir, 64)?;
    let (mut one, mut many, mut raw_one, mut raw_many) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        raw_one.push(raw_append(&dir, 400)?);
        one.push(rate_of_clients(&project, 1, 400)?);
        raw_many.push(raw_group(&dir, 64, 300)?);
        many.push(rate_of_clients(&project, 64, 100)?);
    }
    let over = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
    let seen = |a: &[f64], b: &[f64]| format!("{:.0}/s against {:.0}/s", median(a.to_vec()), median(b.to_vec()));
    Ok(vec![
        Row::at_least("commands, one client / raw append + fdatasync", over(&one, &raw_one), 0.6, seen(&one, &raw_one)),
        Row::at_least("commands, 64 clients / one client", over(&many, &one), 8.0, seen(&many, &one)),
        Row::at_least(
            "commands, 64 clients / raw group commit of 64",
            over(&many, &raw_many),
            0.25,
            seen(&many, &raw_many),
        ),
    ])
}

fn processes(run: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let dir = scratch(run)?;
    project(&dir, 8)?;
    let (ratio, eight, one) =
        alternate(rounds, || rate_of_processes(&dir, 8, 200), || rate_of_processes(&dir, 1, 400))?;
    Ok(vec![Row::at_least(
        "commands, 8 processes / one process",
        ratio,
        2.0,
        format!("{eight:.0}/s against {one:.0}/s"),
    )])
}

/// A project with `items`, 50 of which have an open question.
fn with_items(run: &Path, items: usize) -> Outcome<PathBuf> {
    let dir = scratch(run)?;
    let names = (1..=items).map(|number| number.to_string());
    Seeder::new(&project(&dir, 0)?)?.open_all(names, |place| place.is_multiple_of(items / 50))?;
    Ok(dir)
}

fn lists(run: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let querent = querent()?;
    let (small, large) = (with_items(run, 1_000)?, with_items(run, 10_000)?);
    let questions = |dir: &Path| seconds(&querent, &["questions", "--json"], dir);
    let (to_node, ours, node) =
        alternate(rounds, || questions(&small), || seconds(Path::new("node"), &["-e", "0"], &small))?;
    let (growth, big, little) = alternate(rounds, || questions(&large), || questions(&small))?;
    let memory = [["questions", "--json"], ["status", "--json"]].map(|call| rss(&querent, &call, &large));
    let [of_questions, of_status] = memory;
    let (of_questions, of_status) = (of_questions?, of_status?);
    let millis = |seconds: f64| seconds * 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "memory here is far below 2^52")]
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let seen = format!("questions {:.1} MB, status {:.1} MB", megabytes(of_questions), megabytes(of_status));
    Ok(vec![
        Row::at_most(
            "questions of 1,000 items / node -e 0",
            to_node,
            0.2,
            format!("{:.1} ms against {:.1} ms", millis(ours), millis(node)),
        ),
        Row::at_most(
            "questions, 10,000 items / 1,000 items",
            growth,
            1.5,
            format!("{:.1} ms against {:.1} ms", millis(big), millis(little)),
        ),
        Row::at_most("memory of one call at 10,000 items, MB", megabytes(of_questions.max(of_status)), 20.0, seen),
    ])
}

/// A project with a journal of at least `events` and at least ten items, each with an open question. The groups of a run share it:
/// a million takes a while.
pub(crate) fn with_events(run: &Path, events: usize) -> Outcome<PathBuf> {
    let dir = run.join(format!("events-{events}"));
    if dir.exists() {
        return Ok(dir);
    }
    std::fs::create_dir(&dir)?;
    let mut seeder = Seeder::new(&project(&dir, 0)?)?;
    let items = items_of(events);
    for number in 1..=items {
        let item = seeder.open(&number.to_string())?;
        seeder.question(&item)?;
        seeder.sessions(&item, events / items)?;
    }
    Ok(dir)
}

/// How many items such a project has.
pub(crate) fn items_of(events: usize) -> usize {
    (events / 1_000).clamp(10, 500)
}

fn history(run: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let querent = querent()?;
    let (short, long) = (with_events(run, 1_000)?, with_events(run, 1_000_000)?);
    let show = |dir: &Path| seconds(&querent, &["show", "CLR-5-001", "--json"], dir);
    let (ratio, of_long, of_short) = alternate(rounds, || show(&long), || show(&short))?;
    let seen = format!("{:.1} ms against {:.1} ms", of_long * 1000.0, of_short * 1000.0);
    Ok(vec![Row::at_most("show, 1,000,000 events / 1,000 events", ratio, 1.5, seen)])
}

fn size() -> Outcome<Vec<Row>> {
    #[expect(clippy::cast_precision_loss, reason = "sizes here are far below 2^52")]
    let megabytes = std::fs::metadata(querent()?)?.len() as f64 / 1e6;
    Ok(vec![Row::at_most("release binary, MB", megabytes, 15.0, format!("{megabytes:.1} MB"))])
}
