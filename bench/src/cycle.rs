//! The cycle, by Querent and by what people use instead: ask, make it durable, wait for the answer, answer, wake the one who
//! waits. All are measured in the same run, one after the other, in rounds.

mod cli;
mod driver;
mod floor;
mod http;
mod inside;
mod lap;
mod mcp;
mod mcp_http;
mod question;
mod subject;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

pub(crate) use self::cli::Cli;
pub(crate) use self::driver::Driver;
pub(crate) use self::floor::serve as serve_floor;
use self::http::{Calls, Http};
pub(crate) use self::inside::drive;
pub(crate) use self::lap::lap;
pub(crate) use self::subject::{About, Subject, answers_in, rest};

use crate::Outcome;
use crate::measure::{median, part, raw_append, raw_group};
use crate::peers::Peers;
use crate::process::querent;
use crate::report::{Chart, Table};
use crate::rows::{Measured, Row, scratch};

/// The most clients that a subject has, each on an item of its own.
pub(crate) const MOST_CLIENTS: usize = 64;

/// A subject, and how many cycles a round of it has, for each number of clients.
struct Entry {
    subject: Box<dyn Subject>,
    plan: &'static [(usize, usize)],
}

/// What was seen of a subject with so many clients.
#[derive(Default)]
struct Seen {
    /// Cycles a second, for each round.
    rates: Vec<f64>,
    latencies: Vec<u64>,
}

/// What was measured: by the key of a subject and its number of clients.
type All = BTreeMap<(&'static str, usize), Seen>;

pub(crate) fn measure(run: &Path, quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let mut entries = subjects(run, progress)?;
    let (rounds, part) = if quick { (1, 4) } else { (3, 1) };
    let (mut all, mut done): (All, BTreeMap<&str, usize>) = (All::new(), BTreeMap::new());
    let raw = scratch(run)?;
    for round in 0..=rounds {
        for entry in &mut entries {
            let key = entry.subject.about().key;
            progress(&format!("cycle, round {round} of {rounds}: {key}"));
            for (clients, cycles) in entry.plan {
                // The first round is to warm up.
                let cycles = if round == 0 { cycles / 10 } else { cycles / part }.max(*clients);
                let sample = entry.subject.run(*clients, cycles)?;
                if round > 0 {
                    rest(&*entry.subject)?;
                }
                *done.entry(key).or_default() += sample.cycles;
                if round > 0 {
                    let seen = all.entry((key, *clients)).or_default();
                    seen.rates.push(sample.rate());
                    seen.latencies.extend(sample.latencies);
                }
            }
            if round == 0 {
                rest(&*entry.subject)?;
            }
        }
        if round > 0 {
            all.entry(("append", 1)).or_default().rates.push(raw_append(&raw, 800)?);
            for writers in [8, 64] {
                all.entry(("group", writers)).or_default().rates.push(raw_group(&raw, writers, 200)?);
            }
            for (clients, cycles) in [(1, 1_000), (8, 4_000), (64, 6_400)] {
                all.entry(("floor", clients)).or_default().rates.push(floor::rate(&raw, clients, cycles / part)?);
            }
        }
    }
    let mut about = Vec::new();
    for entry in entries {
        let it = entry.subject.about();
        let (found, done) = (entry.subject.end()?, done.get(it.key).copied().unwrap_or_default());
        if let Some(found) = found.filter(|found| *found < done) {
            return Err(format!("{}: of {done} acknowledged answers {found} are there", it.name).into());
        }
        about.push((it, found.map(|_| done)));
    }
    Ok((reach(&all)?, vec![table(&all, &about), settings(&about)]).into())
}

/// Everybody who does the cycle, started and ready.
fn subjects(run: &Path, progress: &mut dyn FnMut(&str)) -> Outcome<Vec<Entry>> {
    let peers = Peers::installed()?;
    let (server, version) = (peers.fastmcp_server(), peers.fastmcp_version()?);
    let (own, ours) = (scratch(run)?, querent()?);
    let mut inside = Command::new(std::env::current_exe()?);
    inside.arg("drive").arg(&own);

    let mut entries = Vec::new();
    let mut add = |what: &str, plan, start: &mut dyn FnMut() -> Outcome<Box<dyn Subject>>| -> Outcome<()> {
        progress(&format!("cycle: starting {what}"));
        let subject = start().map_err(|error| format!("{what} cannot be measured: {error}"))?;
        entries.push(Entry { subject, plan });
        Ok(())
    };
    add("LangGraph with SQLite", &[(1, 150), (8, 200)], &mut || {
        Ok(Box::new(peers.langgraph(run, "langgraph-sqlite", "sqlite")?))
    })?;
    add("LangGraph with PostgreSQL", &[(1, 150), (8, 200)], &mut || {
        Ok(Box::new(peers.langgraph(run, "langgraph-postgres", "postgres")?))
    })?;
    add("Restate", &[(1, 150), (8, 400), (64, 400)], &mut || Ok(Box::new(peers.restate(run)?)))?;
    add("FastMCP over HTTP", &[(1, 200), (8, 240)], &mut || {
        Ok(Box::new(mcp_http::McpOverHttp::fastmcp(run, &peers.fastmcp, &server, version.clone())?))
    })?;
    add("FastMCP on stdio", &[(1, 200), (8, 240)], &mut || {
        Ok(Box::new(mcp::McpOverPipes::fastmcp(run, peers.fastmcp.clone(), server.clone(), version.clone())?))
    })?;
    add("agentic-orchestrator", &[(1, 24), (8, 32)], &mut || {
        Ok(Box::new(peers.orchestrator(run, "aop", "processes")?.0))
    })?;
    add("Querent in process", &[(1, 1_500), (8, 4_000), (64, 8_000)], &mut || {
        Ok(Box::new(Driver::start("querent-inside", &mut inside, Some(own.clone()))?))
    })?;
    add("Querent over HTTP", &[(1, 1_000), (8, 4_000), (64, 6_000)], &mut || {
        Ok(Box::new(Http::start(run, &ours, Calls::One)?))
    })?;
    add("Querent over HTTP, with a call to wait", &[(1, 1_000), (8, 4_000)], &mut || {
        Ok(Box::new(Http::start(run, &ours, Calls::Two)?))
    })?;
    add("Querent, MCP over HTTP", &[(1, 800), (8, 2_400), (64, 3_200)], &mut || {
        Ok(Box::new(mcp_http::McpOverHttp::ours(run, &ours)?))
    })?;
    add("Querent, MCP on stdio", &[(1, 600), (8, 1_200)], &mut || {
        Ok(Box::new(mcp::McpOverPipes::ours(run, ours.clone())?))
    })?;
    add("Querent by the command line", &[(1, 60), (8, 120)], &mut || Ok(Box::new(Cli::start(run, ours.clone())?)))?;
    Ok(entries)
}

/// What is to be reached. A ratio is the median of the rounds' ratios.
fn reach(all: &All) -> Outcome<Vec<Row>> {
    let seen = |key: &'static str, clients| all.get(&(key, clients)).ok_or_else(|| format!("{key} was not measured"));
    let row = |name, (ours, clients): (&'static str, usize), (theirs, their_clients): (&'static str, usize), least| {
        let (ours, theirs) = (seen(ours, clients)?, seen(theirs, their_clients)?);
        let ratio = median(ours.rates.iter().zip(&theirs.rates).map(|(ours, theirs)| ours / theirs).collect());
        let rates = [ours, theirs].map(|it| median(it.rates.clone()));
        Outcome::Ok(Row::at_least(name, ratio, least, format!("{:.0}/s against {:.0}/s", rates[0], rates[1])))
    };
    Ok(vec![
        row("cycle over HTTP, one client / LangGraph + SQLite", ("querent-http", 1), ("langgraph-sqlite", 1), 8.0)?,
        row("cycle over HTTP, 8 clients / LangGraph + SQLite", ("querent-http", 8), ("langgraph-sqlite", 8), 25.0)?,
        row("cycle over HTTP, one client / Restate", ("querent-http", 1), ("restate", 1), 6.0)?,
        row("cycle over HTTP, 8 clients / Restate", ("querent-http", 8), ("restate", 8), 12.0)?,
        row(
            "cycle, MCP over HTTP, one client / LangGraph + SQLite",
            ("querent-mcp-http", 1),
            ("langgraph-sqlite", 1),
            5.0,
        )?,
        row(
            "cycle, MCP over HTTP, 8 clients / LangGraph + SQLite",
            ("querent-mcp-http", 8),
            ("langgraph-sqlite", 8),
            15.0,
        )?,
        row("cycle in process, one client / LangGraph + SQLite", ("querent-inside", 1), ("langgraph-sqlite", 1), 10.0)?,
        row("cycle in process, 64 clients / raw group commit of 64", ("querent-inside", 64), ("group", 64), 0.25)?,
    ])
}

/// Who did how many, and how long one took.
fn table(all: &All, about: &[(About, Option<usize>)]) -> Table {
    let head = ["", "durable", "clients", "cycles/s", "p50 ms", "p99 ms", "acknowledged and found again"];
    let mut table = Table::new("The cycle", "Ask, make it durable, wait, answer, wake. Medians of the rounds.", &head);
    let mut chart = Chart::new("Cycles a second, 8 clients", "cycles/s");
    for (it, found) in about {
        for ((_, clients), seen) in all.iter().filter(|((key, _), _)| *key == it.key) {
            let rate = median(seen.rates.clone());
            let found = found.map_or("keeps nothing".to_owned(), |found| format!("{found} of {found}"));
            let durable = if it.durable { "yes" } else { "no" };
            let [p50, p99] = [50, 99].map(|percent| format!("{:.2}", part(&seen.latencies, percent) / 1000.0));
            table.line([it.name.clone(), durable.into(), clients.to_string(), format!("{rate:.0}"), p50, p99, found]);
            if *clients == 8 {
                chart.bar(&it.name, rate, it.key.starts_with("querent"));
            }
        }
    }
    let floors = [
        ("floor", "the floor over HTTP: the same packets and syncs, and no work"),
        ("append", "the disk: append + fdatasync, a second"),
        ("group", "the disk: group commit, a second"),
    ];
    for (floor, name) in floors {
        for ((_, clients), seen) in all.iter().filter(|((key, _), _)| *key == floor) {
            let rate = format!("{:.0}", median(seen.rates.clone()));
            let none = || String::new();
            table.line([name.to_owned(), "yes".into(), clients.to_string(), rate, none(), none(), none()]);
        }
    }
    table.chart = Some(chart);
    table
}

fn settings(about: &[(About, Option<usize>)]) -> Table {
    let mut table = Table::new("Who was measured", "As they describe themselves.", &["", "version", "how"]);
    for (it, _) in about {
        table.line([it.name.clone(), it.version.clone(), it.setting.clone()]);
    }
    table
}
