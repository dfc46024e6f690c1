//! `querent-sim`: runs simulations, and steps through the log of one that failed.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use querent_sim::{Settings, Tally, replay, run};

/// Simulates Querent under crashes, power cuts and impatient people, and says whether anything was lost.
#[derive(Parser)]
#[command(name = "querent-sim", version)]
struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The seed of the run: the same seed makes the same run.
    #[arg(long, default_value_t = 1, conflicts_with = "seeds")]
    seed: u64,
    /// Many runs: from this seed to before that one.
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Option<Range<u64>>,
    /// How much happens in each run.
    #[arg(long, default_value_t = 1_000)]
    steps: u64,
    /// Where the event log of a run that fails goes.
    #[arg(long, value_name = "DIR", default_value = ".")]
    logs: PathBuf,
    /// Save the event log also if all is well.
    #[arg(long)]
    save: bool,
}

#[derive(Subcommand)]
enum What {
    /// Steps through the event log of a run.
    Replay {
        /// The log.
        file: PathBuf,
        /// Only what is about this item.
        #[arg(long)]
        item: Option<String>,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.what {
        Some(What::Replay { file, item }) => step_through(file, item.as_deref()).map(|()| true),
        None => simulate(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Where even this cannot be said, the exit status says it.
            let _ = writeln!(io::stderr(), "querent-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all that is wanted; says whether all was well.
fn simulate(args: &Args) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    let seeds = args.seeds.clone().unwrap_or(args.seed..args.seed + 1);
    let mut tally = Tally::default();
    fs::create_dir_all(&args.logs).map_err(about("make", &args.logs))?;
    for seed in seeds.clone() {
        let outcome = run(Settings::new(seed, args.steps));
        tally.merge(&outcome.tally);
        if outcome.violation.is_some() || args.save {
            let path = args.logs.join(format!("querent-sim-{seed}.jsonl"));
            fs::write(&path, outcome.log.text()).map_err(about("write", &path))?;
            writeln!(out, "the event log of seed {seed} is in {}", path.display())?;
        }
        if let Some((step, violation)) = outcome.violation {
            writeln!(out, "seed {seed}, step {step}: a rule does not hold: {}", violation.rule.as_str())?;
            writeln!(out, "{}\n\nUntil then:\n{tally}", violation.what)?;
            return Ok(false);
        }
    }
    let which = if args.seeds.is_some() {
        format!("seeds {}..{}", seeds.start, seeds.end)
    } else {
        format!("seed {}", args.seed)
    };
    writeln!(out, "{which}, {} steps each: every rule holds\n\n{tally}", args.steps)?;
    Ok(true)
}

fn step_through(file: &Path, item: Option<&str>) -> io::Result<()> {
    let log = fs::read_to_string(file).map_err(about("read", file))?;
    let text = replay(&log, item).map_err(io::Error::other)?;
    io::stdout().lock().write_all(text.as_bytes())
}

/// Says what could not be done to which file.
fn about<'a>(what: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> io::Error + 'a {
    move |error| io::Error::other(format!("cannot {what} `{}`: {error}", path.display()))
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let wanted = || "two numbers, as in 1..200".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| wanted());
    Ok(number(from)?..number(to)?)
}
