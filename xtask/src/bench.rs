//! Builds the benchmarks and the binary that they measure, and runs them.

mod peers;

use std::process::Command;

use crate::cache::Cache;
use crate::python::Packages;
use crate::{Failure, cargo, root};

/// Counts for gungraun, whose version it must have.
const RUNNER: &str = "gungraun-runner";

/// What the MCP server is held against.
const FASTMCP: Packages = Packages { folder: "bench-python", file: "bench/fastmcp/requirements.txt" };
/// What the HTTP server is held against.
const FASTAPI: Packages = Packages { folder: "bench-fastapi", file: "bench/fastapi/requirements.txt" };
/// The groups in which the peers are measured.
const PEERS_IN: [&str; 2] = ["cycle", "contention"];

/// `cargo xtask bench [core | instructions] [--quick] [--json] [--only=GROUP]`.
pub(crate) fn run(options: &[String]) -> Result<(), Failure> {
    match options.split_first() {
        Some((what, rest)) if what == "core" => micro("core", rest),
        Some((what, rest)) if what == "instructions" => instructions(rest),
        _ => table(options),
    }
}

/// The table of ratios.
fn table(options: &[String]) -> Result<(), Failure> {
    // One after the other: together they would give the binary what only the bench asks of its packages.
    for package in ["querent", "querent-bench"] {
        let build = ["build", "--release", "--locked", "--quiet", "-p", package];
        succeed(cargo().args(build), "the release build failed; see above")?;
    }
    let cache = Cache::of_user().map_err(Failure)?;
    let only = options.iter().find_map(|it| it.strip_prefix("--only="));
    let is_measured = |group: &str| only.is_none_or(|only| only == group);
    for (group, name, packages) in [("mcp", "FastMCP", FASTMCP), ("http", "FastAPI", FASTAPI)] {
        if is_measured(group) && !packages.are_installed(&cache) {
            let otherwise = format!("{name} could not be installed; it needs Python 3.11 with venv and pip");
            succeed(&mut packages.install(&cache), &otherwise)?;
        }
    }
    let peers = if PEERS_IN.iter().any(|group| is_measured(group)) { peers::install(&cache)? } else { Vec::new() };
    let run = ["run", "--release", "--locked", "--quiet", "-p", "querent-bench", "--"];
    let mut bench = cargo();
    bench.args(run).args(options).env("QUERENT_BENCH_PYTHON", FASTMCP.python(&cache));
    bench.env("QUERENT_BENCH_FASTAPI", FASTAPI.python(&cache)).envs(peers);
    succeed(&mut bench, "a row does not hold, or could not be measured; see above")
}

/// How many instructions the core takes.
fn instructions(rest: &[String]) -> Result<(), Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err(Failure("instructions are counted by valgrind; install the package `valgrind`".to_owned()));
    }
    let tools = root().join("target/tools");
    let runner = tools.join("bin").join(RUNNER);
    let version = locked_version("gungraun")?;
    let known = Command::new(&runner).arg("--version").output();
    if !known.is_ok_and(|known| String::from_utf8_lossy(&known.stdout).contains(&version)) {
        let install = ["install", RUNNER, "--quiet", "--locked", "--version", &version, "--force", "--root"];
        succeed(cargo().args(install).arg(&tools), "gungraun-runner could not be installed; see above")?;
    }
    let bench = ["bench", "--locked", "--quiet", "-p", "querent-bench", "--bench", "instructions", "--"];
    succeed(cargo().args(bench).args(rest).env("GUNGRAUN_RUNNER", runner), "the benchmark failed; see above")
}

fn micro(name: &str, rest: &[String]) -> Result<(), Failure> {
    let bench = ["bench", "--locked", "--quiet", "-p", "querent-bench", "--bench", name, "--"];
    succeed(cargo().args(bench).args(rest), "the benchmark failed; see above")
}

/// The version of a package that the lock file names.
fn locked_version(package: &str) -> Result<String, Failure> {
    let output = cargo().args(["pkgid", "--locked", package]).output();
    let found = output.ok().and_then(|it| String::from_utf8(it.stdout).ok());
    let version = found.as_deref().and_then(|id| id.trim().rsplit(['@', '#']).next());
    version.filter(|it| !it.is_empty()).map(str::to_owned).ok_or_else(|| Failure(format!("{package} is not locked")))
}

fn succeed(command: &mut Command, otherwise: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure(otherwise.to_owned())),
        Err(error) => Err(Failure(format!("cargo cannot be run: {error}"))),
    }
}
