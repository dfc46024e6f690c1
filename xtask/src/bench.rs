//! Builds the benchmarks and the binary that they measure, and runs them.

use std::process::Command;

use crate::{Failure, root};

/// `cargo xtask bench [--quick] [--json] [--only=GROUP]`.
pub(crate) fn run(options: &[String]) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let builds = ["build", "--release", "--locked", "--quiet", "-p", "querent", "-p", "querent-bench"];
    succeed(Command::new(&cargo).args(builds), "the release build failed; see above")?;
    let run = ["run", "--release", "--locked", "--quiet", "-p", "querent-bench", "--"];
    succeed(Command::new(&cargo).args(run).args(options), "a row does not hold, or could not be measured; see above")
}

fn succeed(command: &mut Command, otherwise: &str) -> Result<(), Failure> {
    match command.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure(otherwise.to_owned())),
        Err(error) => Err(Failure(format!("cargo cannot be run: {error}"))),
    }
}
