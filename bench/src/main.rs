//! What Querent costs, as ratios measured in one run: absolute times differ by machine and by hour, ratios do not.
//!
//! `cargo xtask bench [--quick] [--json] [--only=GROUP]` builds and runs this. Each row is measured in alternating rounds (ours, theirs, ours,
//! …) and reports the median of the rounds' ratios.

mod commands;
mod contention;
mod cycle;
mod decisions;
mod growth;
mod http;
mod mcp;
mod measure;
mod peers;
mod process;
mod recovery;
mod report;
mod rows;
mod seed;
mod served;
mod survey;
mod team;
mod waiting;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use crate::report::Table;
use crate::rows::{Measured, Row};

/// Errors end the run; there is nothing to recover.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The binary's own: what is measured in this process is what it would do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures everything; says whether every row reaches its aim. The other forms are this program's own child processes.
fn run(words: &[&str]) -> Outcome<bool> {
    match words {
        ["client", dir, item, commands] => commands::client(dir.as_ref(), item, commands.parse()?).map(|()| true),
        ["contend", dir, pairs] => contention::contend(dir.as_ref(), pairs.parse()?).map(|()| true),
        ["drive", dir] => cycle::drive(dir.as_ref()).map(|()| true),
        ["floor", dir, clients] => {
            let announce = |port| Ok(writeln!(io::stdout(), "{port}")?);
            cycle::serve_floor(dir.as_ref(), clients.parse()?, announce).map(|()| true)
        }
        ["lap", subject, clients, cycles, binaries @ ..] => {
            cycle::lap(subject, clients.parse()?, cycles.parse()?, binaries).map(|()| true)
        }
        ["rss", program, arguments @ ..] => process::print_rss(program, arguments).map(|()| true),
        options => {
            let quick = options.contains(&"--quick");
            let json = options.contains(&"--json");
            let only = options.iter().find_map(|it| it.strip_prefix("--only="));
            let known = |it: &str| it == "--quick" || it == "--json" || it.starts_with("--only=");
            if let Some(other) = options.iter().find(|it| !known(it)) {
                return Err(format!("`{other}` is no option; there are --quick, --json and --only=GROUP").into());
            }
            let start = Instant::now();
            let mut say = |text: &str| {
                let _ = writeln!(io::stderr(), "{text}");
            };
            let (measured, files) = rows::all(quick, only, &mut say)?;
            print(&measured, json)?;
            // The report is that of a whole run.
            if !quick && only.is_none() {
                let docs = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs");
                report::write(&docs, &measured, start.elapsed().as_secs_f64() / 60.0)?;
            }
            let removal = Instant::now();
            files.close()?;
            let groups =
                measured.took.iter().copied().chain([("removal of the files", removal.elapsed().as_secs_f64())]);
            let groups: Vec<String> = groups.map(|(group, seconds)| format!("{group} {seconds:.0}")).collect();
            say(&format!("seconds: {}; {:.0} in all", groups.join(", "), start.elapsed().as_secs_f64()));
            Ok(measured.rows.iter().all(|row| row.holds))
        }
    }
}

fn print(Measured { rows, tables, took }: &Measured, json: bool) -> Outcome<()> {
    let mut out = io::stdout().lock();
    if json {
        let rows: Vec<_> = rows.iter().map(Row::json).collect();
        let tables: Vec<_> = tables.iter().map(Table::json).collect();
        let seconds: BTreeMap<_, _> = took.iter().copied().collect();
        writeln!(out, "{}", serde_json::json!({ "rows": rows, "tables": tables, "seconds": seconds }))?;
        return Ok(());
    }
    for table in tables {
        writeln!(out, "{}", table.text())?;
    }
    writeln!(out, "{:<62} {:>9}  {:<8} holds  measured", "what", "ratio", "reach")?;
    for row in rows {
        let holds = if row.holds { "yes" } else { "NO" };
        writeln!(out, "{:<62} {:>9.2}  {:<8} {holds:<5}  {}", row.name, row.ratio, row.reach, row.measured)?;
    }
    Ok(())
}
