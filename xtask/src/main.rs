//! The project's own commands: `cargo xtask <command>`. They need nothing but the Rust toolchain.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program speaks on its streams")]

mod bench;
mod cache;
mod e2e;
mod python;
mod steps;
mod tidy;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A command of this program.
struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

/// A new command is a line here and a module of its own.
const TASKS: &[Task] = &[
    Task { name: "test", about: "all of the checks below, in order; what must pass before a commit", run: steps::test },
    Task { name: "fmt", about: "the code is formatted", run: |rest| steps::one("fmt", rest) },
    Task { name: "clippy", about: "no lint warns", run: |rest| steps::one("clippy", rest) },
    Task {
        name: "tidy",
        about: "sizes, error pages, commands with tests, links, plain text",
        run: |rest| steps::one("tidy", rest),
    },
    Task {
        name: "docs",
        about: "the API documentation builds without a warning",
        run: |rest| steps::one("docs", rest),
    },
    Task { name: "tests", about: "unit, integration and documentation tests", run: |rest| steps::one("tests", rest) },
    Task {
        name: "bench",
        about: "what Querent costs: bench [core | instructions [--update]] [--quick] [--json] [--only=GROUP]",
        run: bench::run,
    },
    Task { name: "e2e", about: "the end-to-end suites: e2e [--list] [SUITE...]", run: e2e::run },
    Task {
        name: "screenshots",
        about: "the pictures in docs/images, made anew with Chromium",
        run: e2e::screenshots::run,
    },
];

/// Why a command did not succeed, in one sentence, with what to do about it.
#[derive(Debug)]
struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        println!("{}", usage());
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("xtask: there is no command `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    match (task.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let lines: Vec<String> = TASKS.iter().map(|task| format!("  {:<11} {}", task.name, task.about)).collect();
    format!("usage: cargo xtask <command>\n\n{}", lines.join("\n"))
}

/// The root of the workspace. Cargo names it when it runs this program; what was true when it was built may be so no more.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_owned)
}

/// The cargo that runs this program. What that says of this package is no business of what is built from here: build scripts look at
/// it, and half of the program would be built anew whenever a build by hand and one from here take turns.
fn cargo() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let is_ours = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_ours)) {
        command.env_remove(name);
    }
    command.current_dir(root());
    command
}
