//! What the benchmark cannot measure in its own process: the core's allocations and instructions.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::instructions::{self, Baseline};
use super::output_of;
use crate::{Failure, cargo, root};

/// Counts both, and gives the file that tells the benchmark of them.
pub(super) fn count() -> Result<PathBuf, Failure> {
    eprintln!("core: counting allocations and instructions");
    let bench = ["bench", "--locked", "--quiet", "-p", "querent-bench-core", "--bench", "allocations"];
    let said = output_of(cargo().args(bench), "the allocations could not be counted; see above")?;
    let allocations: Value =
        serde_json::from_str(said.trim()).map_err(|error| Failure(format!("allocations: {error}")))?;
    let (instructions, baseline) = (instructions::count()?, Baseline::load()?);
    let comparable = baseline.is_of(&instructions::compiler()?);
    let all = json!({
        "allocations": allocations,
        "instructions": instructions,
        "baseline": baseline.counts,
        "comparable": comparable,
    });
    let path = root().join("target/bench-core.json");
    let written = fs::create_dir_all(root().join("target")).and_then(|()| fs::write(&path, all.to_string()));
    written.map_err(|error| Failure(format!("{}: {error}", path.display())))?;
    Ok(path)
}
