//! Builds the benchmarks and the binary that they measure, and runs them.

mod counted;
mod instructions;
mod peers;

use std::process::{Command, Stdio};

use crate::cache::Cache;
use crate::python::Packages;
use crate::{Failure, cargo};

/// What the MCP server is held against.
const FASTMCP: Packages = Packages { folder: "bench-python", file: "bench/fastmcp/requirements.txt" };
/// What the HTTP server is held against.
const FASTAPI: Packages = Packages { folder: "bench-fastapi", file: "bench/fastapi/requirements.txt" };
/// The groups in which the peers are measured.
const PEERS_IN: [&str; 2] = ["cycle", "contention"];

/// `cargo xtask bench [core | instructions [--update]] [--quick] [--json] [--only=GROUP]`.
pub(crate) fn run(options: &[String]) -> Result<(), Failure> {
    match options.split_first() {
        Some((what, rest)) if what == "core" => micro("core", rest),
        Some((what, rest)) if what == "instructions" => instructions::run(rest),
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
    let counted = if is_measured("core") { Some(counted::count()?) } else { None };
    let run = ["run", "--release", "--locked", "--quiet", "-p", "querent-bench", "--"];
    let mut bench = cargo();
    bench.args(run).args(options).env("QUERENT_BENCH_PYTHON", FASTMCP.python(&cache));
    bench.env("QUERENT_BENCH_FASTAPI", FASTAPI.python(&cache)).envs(peers);
    bench.envs(counted.map(|file| ("QUERENT_BENCH_CORE", file)));
    succeed(&mut bench, "a row does not hold, or could not be measured; see above")
}

fn micro(name: &str, rest: &[String]) -> Result<(), Failure> {
    let bench = ["bench", "--locked", "--quiet", "-p", "querent-bench-core", "--bench", name, "--"];
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

/// What a command prints.
fn output_of(command: &mut Command, otherwise: &str) -> Result<String, Failure> {
    let output = command.stderr(Stdio::inherit()).output().ok().filter(|it| it.status.success());
    output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).ok_or_else(|| Failure(otherwise.to_owned()))
}

/// Installs what a system has and no cache, as root on Debian.
fn install_system_package(name: &str, otherwise: &str) -> Result<(), Failure> {
    eprintln!("installing {name}");
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--yes", "--no-install-recommends", "--quiet=2", name]);
    // Where there is no such program, too.
    succeed(&mut apt, otherwise).map_err(|_| Failure(otherwise.to_owned()))
}
