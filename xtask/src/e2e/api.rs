//! The HTTP API, with Schemathesis: it reads `/openapi.json` and sends whatever the document allows, and whatever it does not.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::project::{Project, hold};
use super::{Case, Need, Suite};
use crate::cache::Cache;
use crate::python::Packages;

pub(super) const SUITE: Suite = Suite {
    name: "api",
    about: "the HTTP API, with Schemathesis",
    needs: &[Need {
        what: "Schemathesis, from PyPI",
        is_met: |cache| PACKAGES.are_installed(cache),
        install: Some(|cache| PACKAGES.install(cache)),
        cure: "install Python 3.11 or newer with its module venv, and let pip reach its index",
    }],
    cases: &[
        Case { name: "what the examples say is taken", run: |binary| check(binary, "examples") },
        Case { name: "the bounds of every field are those of its schema", run: |binary| check(binary, "coverage") },
        Case { name: "nothing that is made up gets through or breaks it", run: |binary| check(binary, "fuzzing") },
        Case { name: "calls that follow on each other keep the document", run: |binary| check(binary, "stateful") },
    ],
};

const PACKAGES: Packages = Packages { folder: "api-python", file: "xtask/e2e/api/requirements.txt" };

/// How many requests of a kind are made up for each route.
const EXAMPLES: &str = "30";

/// Runs one phase on a server of its own.
fn check(binary: &Path, phase: &str) -> Result<(), String> {
    let served = Served::start(binary)?;
    let folder = TempDir::with_prefix("querent-api-").map_err(|error| error.to_string())?;
    let program = PACKAGES.python(&Cache::of_user()?).with_file_name("schemathesis");
    let mut command = Command::new(program);
    command.arg("--config-file").arg(crate::root().join("xtask/e2e/api/schemathesis.toml"));
    command.args(["run", &format!("{}/openapi.json", served.address), "--no-color", "--checks", "all"]);
    command.args([
        "--phases",
        phase,
        "--max-examples",
        EXAMPLES,
        "--generation-deterministic",
        "--request-timeout",
        "30",
    ]);
    let output = command.current_dir(folder.path()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("Schemathesis did not start: {error}"))?;
    hold(output.status.success(), || {
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

/// A server on an item that an engineer works on; ended with the case.
struct Served {
    child: Child,
    address: String,
    _project: Project,
}

impl Served {
    fn start(binary: &Path) -> Result<Self, String> {
        let project = Project::new(binary)?;
        project.ok(&["item", "move", "42", "--to", "implement"])?;
        project.ok(&["hook", "start", "--agent", "engineer", "--item", "42"])?;
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::inherit()).spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let address = line.trim().strip_prefix("listening on ").map(str::to_owned);
        // Made first, so that it ends also when it does not listen.
        let served = Self { child, address: address.unwrap_or_default(), _project: project };
        hold(!served.address.is_empty(), || format!("the server does not listen: {line:?} ({read:?})"))?;
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
