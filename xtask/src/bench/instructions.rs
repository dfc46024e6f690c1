//! The core's instructions, counted by callgrind and held against a baseline that is committed: they are the same on a busy machine.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{install_system_package, locked_version, output_of, succeed};
use crate::{Failure, cargo, root};

/// What is committed, from the root.
const BASELINE: &str = "bench/core/instructions.json";
/// How much above the baseline is too much.
const MARGIN: f64 = 0.05;
/// Counts for gungraun, whose version it must have.
const RUNNER: &str = "gungraun-runner";

/// Instructions by the name of what takes them.
pub(super) type Counts = BTreeMap<String, u64>;

/// What a run is held against.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Baseline {
    /// The compiler that made it. Another one makes other instructions of the same code.
    compiler: String,
    valgrind: String,
    pub(super) counts: Counts,
}

/// `cargo xtask bench instructions [--update]`.
pub(super) fn run(options: &[String]) -> Result<(), Failure> {
    let update = match options {
        [] => false,
        [it] if it == "--update" => true,
        _ => return Err(Failure("usage: cargo xtask bench instructions [--update]".to_owned())),
    };
    let (now, compiler) = (count()?, compiler()?);
    if update {
        let valgrind = said("valgrind", &["--version"])?;
        return Baseline { compiler, valgrind, counts: now }.store();
    }
    let baseline = Baseline::load()?;
    let comparable = baseline.is_of(&compiler);
    let (lines, failed) = compare(&baseline.counts, &now);
    println!("{}", lines.join("\n"));
    if !comparable {
        println!(
            "The baseline was made by {}, and this is {compiler}: nothing is held against it. `--update` makes a new one.",
            baseline.compiler
        );
    }
    match failed.as_slice() {
        [] => Ok(()),
        _ if !comparable => Ok(()),
        failed => Err(Failure(format!(
            "more than {:.0} % above {BASELINE}, or not in both: {}; if that is meant, run `cargo xtask bench instructions --update` and \
             commit the file with the reason",
            MARGIN * 100.0,
            failed.join(", ")
        ))),
    }
}

/// Counts, with what that needs.
pub(super) fn count() -> Result<Counts, Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let otherwise = "instructions are counted by valgrind, which is not there and could not be installed: install the package `valgrind`";
        install_system_package("valgrind", otherwise)?;
    }
    let tools = root().join("target/tools");
    let runner = tools.join("bin").join(RUNNER);
    let version = locked_version("gungraun")?;
    let known = Command::new(&runner).arg("--version").output();
    if !known.is_ok_and(|known| String::from_utf8_lossy(&known.stdout).contains(&version)) {
        let install = ["install", RUNNER, "--quiet", "--locked", "--version", &version, "--force", "--root"];
        succeed(cargo().args(install).arg(&tools), "gungraun-runner could not be installed; see above")?;
    }
    let mut bench = cargo();
    bench.args(["bench", "--locked", "--quiet", "-p", "querent-bench-core", "--bench", "instructions", "--"]);
    // They are the same beside each other.
    bench.args(["--output-format=json", "--parallel=auto"]).env("GUNGRAUN_RUNNER", runner);
    read(&output_of(&mut bench, "the benchmark failed; see above")?)
}

/// The compiler that cargo takes, and the system that it builds for.
pub(super) fn compiler() -> Result<String, Failure> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let text = said(&rustc, &["-vV"])?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("an unknown host");
    Ok(format!("{}, {host}", text.lines().next().unwrap_or("an unknown compiler")))
}

impl Baseline {
    pub(super) fn load() -> Result<Self, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| Failure(format!("{BASELINE} cannot be read: {error}"));
        let bytes = fs::read(root().join(BASELINE)).map_err(|error| unreadable(&error))?;
        let stored: Value = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        let text = |name: &str| stored[name].as_str().unwrap_or_default().to_owned();
        let counts = serde_json::from_value(stored["instructions"].clone()).map_err(|error| unreadable(&error))?;
        Ok(Self { compiler: text("compiler"), valgrind: text("valgrind"), counts })
    }

    pub(super) fn is_of(&self, compiler: &str) -> bool {
        self.compiler == compiler
    }

    fn store(&self) -> Result<(), Failure> {
        let stored = json!({ "compiler": self.compiler, "valgrind": self.valgrind, "instructions": self.counts });
        let path = root().join(BASELINE);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = made.and_then(|()| fs::write(&path, format!("{stored:#}\n")));
        written.map_err(|error| Failure(format!("{BASELINE} cannot be written: {error}")))?;
        println!("{BASELINE}: {} counts by {}", self.counts.len(), self.compiler);
        Ok(())
    }
}

/// The counts that gungraun printed: one object a line, for one benchmark each.
fn read(output: &str) -> Result<Counts, Failure> {
    let mut counts = Counts::new();
    for line in output.lines().filter(|line| line.starts_with('{')) {
        let said: Value =
            serde_json::from_str(line).map_err(|error| Failure(format!("gungraun said `{line}`: {error}")))?;
        let name = |field: &str| said[field].as_str().unwrap_or_default().to_owned();
        // Those of the run before stand beside them, if there was one.
        let new = said["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"].as_u64();
        let name = format!("{} {}", name("function_name"), name("id"));
        counts.insert(name.clone(), new.ok_or_else(|| Failure(format!("gungraun counted no instructions of {name}")))?);
    }
    if counts.is_empty() { Err(Failure("gungraun counted nothing".to_owned())) } else { Ok(counts) }
}

/// A line for each benchmark, and the names of those that fail.
fn compare(baseline: &Counts, now: &Counts) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<&String> = baseline.keys().chain(now.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let (mut lines, mut failed) = (vec![format!("{:<20} {:>12} {:>12} {:>9}", "", "baseline", "now", "")], Vec::new());
    for name in names {
        let (line, fails) = match (baseline.get(name), now.get(name)) {
            (Some(before), Some(now)) => {
                #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
                let [of_before, of_now] = [*before as f64, *now as f64];
                let fails = of_now > of_before * (1.0 + MARGIN);
                let change = of_now / of_before - 1.0;
                let said = if fails { "  too much" } else { "" };
                (format!("{name:<20} {before:>12} {now:>12} {:>+7.2} %{said}", change * 100.0), fails)
            }
            (Some(before), None) => (format!("{name:<20} {before:>12} {:>12} is counted no more", ""), true),
            (None, now) => (format!("{name:<20} {:>12} {:>12} is new", "", now.copied().unwrap_or_default()), true),
        };
        lines.push(line);
        failed.extend(fails.then(|| name.clone()));
    }
    (lines, failed)
}

fn said(program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let text = output_of(Command::new(program).args(arguments), &format!("{program} does not work"))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: &[(&str, u64)]) -> Counts {
        all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn the_counts_of_this_run_are_read_with_and_without_a_run_before() {
        let line = |name: &str, id: &str, values: &Value| {
            let total = json!({ "metrics": { "Ir": { "values": values } } });
            json!({ "function_name": name, "id": id, "profiles": [{ "data": { "parts": [], "total": total } }] })
                .to_string()
        };
        let (first, again) = (json!({ "new": 7 }), json!({ "new": 8, "old": 9 }));
        let output = format!("{}\n{}\nnoise\n", line("ask", "old", &first), line("peek", "question", &again));

        assert_eq!(read(&output).unwrap(), counts(&[("ask old", 7), ("peek question", 8)]));
        assert!(read(&line("ask", "old", &json!({}))).is_err() && read("").is_err());
    }

    #[test]
    fn what_is_far_above_the_baseline_or_in_one_of_both_fails() {
        let before = counts(&[("a", 1_000), ("b", 1_000), ("c", 1_000), ("gone", 1)]);
        let now = counts(&[("a", 1_050), ("b", 1_051), ("c", 10), ("new", 1)]);

        let (lines, failed) = compare(&before, &now);

        assert_eq!(failed, ["b", "gone", "new"]);
        assert!(lines.iter().any(|line| line.starts_with("a ") && line.ends_with("+5.00 %")), "{lines:?}");
    }

    #[test]
    fn the_committed_baseline_can_be_read() {
        let baseline = Baseline::load().unwrap();
        assert!(baseline.compiler.starts_with("rustc ") && baseline.counts.len() == 7, "{baseline:?}");
        assert!(!baseline.is_of("rustc 1.0.0, another"));
    }
}
