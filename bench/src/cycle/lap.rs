//! One of ours alone: for whoever looks at it with a profiler, and to hold builds against each other, which take turns.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::http::{Calls, Http};
use super::{Cli, Driver, Subject, mcp, mcp_http, rest};
use crate::Outcome;
use crate::measure::{median, part};
use crate::process::querent;
use crate::rows::{run_dir, scratch};

/// How often each build has its turn: alone, and beside others.
const ALONE: usize = 5;
const BESIDE: usize = 15;

/// A build, and what was seen of it.
struct Lane {
    name: String,
    subject: Box<dyn Subject>,
    rates: Vec<f64>,
    middles: Vec<f64>,
}

/// `lap http 8 4000 [BINARY…]`: so many cycles by so many clients, again and again. Without a binary it is the one beside this.
pub(crate) fn lap(key: &str, clients: usize, cycles: usize, binaries: &[&str]) -> Outcome<()> {
    // It stays: some file systems are slow to make files where many were deleted a moment ago.
    let run = run_dir()?.keep();
    let mut lanes = Vec::new();
    let binaries: Vec<PathBuf> = match binaries {
        [] if key == "inside" => vec![std::env::current_exe()?],
        [] => vec![querent()?],
        named => named.iter().map(PathBuf::from).collect(),
    };
    for binary in binaries {
        let (name, subject) = (binary.display().to_string(), start(key, &run, &binary)?);
        lanes.push(Lane { name, subject, rates: Vec::new(), middles: Vec::new() });
    }
    for _ in 0..if lanes.len() == 1 { ALONE } else { BESIDE } {
        for Lane { subject, rates, middles, .. } in &mut lanes {
            let sample = subject.run(clients, cycles)?;
            rates.push(sample.rate());
            middles.push(part(&sample.latencies, 50));
            rest(&**subject)?;
        }
    }
    let first = lanes[0].rates.clone();
    for Lane { name, subject, rates, middles } in lanes {
        let to_first = median(rates.iter().zip(&first).map(|(own, first)| own / first).collect());
        let best = rates.iter().copied().fold(0.0, f64::max);
        let (rate, middle) = (median(rates), median(middles));
        writeln!(
            std::io::stdout(),
            "{name}: {rate:.0} cycles/s, at best {best:.0}, p50 {middle:.0} us, {to_first:.2} of the first"
        )?;
        subject.end()?;
    }
    Ok(())
}

fn start(key: &str, run: &Path, binary: &Path) -> Outcome<Box<dyn Subject>> {
    Ok(match key {
        "inside" => {
            let own = scratch(run)?;
            Box::new(Driver::start("querent-inside", Command::new(binary).arg("drive").arg(&own), Some(own.clone()))?)
        }
        "http" => Box::new(Http::start(run, binary, Calls::One)?),
        "http-await" => Box::new(Http::start(run, binary, Calls::Two)?),
        "mcp-http" => Box::new(mcp_http::McpOverHttp::ours(run, binary)?),
        "mcp-stdio" => Box::new(mcp::McpOverPipes::ours(run, binary.to_owned())?),
        "cli" => Box::new(Cli::start(run, binary.to_owned())?),
        other => {
            return Err(format!("`{other}` is none of inside, http, http-await, mcp-http, mcp-stdio and cli").into());
        }
    })
}
