//! Where `cargo xtask bench` has installed what Querent is measured against.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cycle::Driver;
use crate::rows::scratch;

/// The peers, and the Pythons that they need.
pub(crate) struct Peers {
    dir: PathBuf,
    langgraph: PathBuf,
    pub(crate) fastmcp: PathBuf,
}

impl Peers {
    pub(crate) fn installed() -> Outcome<Self> {
        let place = |name: &str| -> Outcome<PathBuf> {
            let set = std::env::var_os(name).map(PathBuf::from);
            set.ok_or_else(|| "this is measured by `cargo xtask bench`, which installs the peers".into())
        };
        let (dir, langgraph) = (place("QUERENT_BENCH_PEERS")?, place("QUERENT_BENCH_LANGGRAPH")?);
        Ok(Self { dir, langgraph, fastmcp: place("QUERENT_BENCH_FASTMCP")? })
    }

    /// `LangGraph` with the checkpointer of this name.
    pub(crate) fn langgraph(&self, run: &Path, key: &'static str, mode: &str) -> Outcome<Driver> {
        let mut command = Command::new(&self.langgraph);
        command.arg(self.dir.join("langgraph/driver.py")).arg(mode).arg(scratch(run)?);
        Driver::start(key, &mut command, None)
    }

    /// Restate, with the Node that it needs.
    pub(crate) fn restate(&self, run: &Path) -> Outcome<Driver> {
        let mut command = Command::new(self.dir.join("restate/node_modules/.bin/node"));
        command.arg(self.dir.join("restate/driver.mjs")).arg(scratch(run)?);
        Driver::start("restate", &mut command, None)
    }

    /// agentic-orchestrator, in one of its modes, and its directory.
    pub(crate) fn orchestrator(&self, run: &Path, key: &'static str, mode: &str) -> Outcome<(Driver, PathBuf)> {
        let (dir, mut command) = (scratch(run)?, Command::new("node"));
        command.arg(self.dir.join("aop/driver.mjs")).arg(mode).arg(&dir);
        Ok((Driver::start(key, &mut command, None)?, dir))
    }

    /// The question tool that is written with `FastMCP`.
    pub(crate) fn fastmcp_server(&self) -> String {
        self.dir.join("fastmcp/server.py").to_string_lossy().into_owned()
    }

    pub(crate) fn fastmcp_version(&self) -> Outcome<String> {
        let script = "import fastmcp; print(fastmcp.__version__)";
        let output = Command::new(&self.fastmcp).args(["-c", script]).output()?;
        Ok(format!("fastmcp {}", String::from_utf8(output.stdout)?.trim()))
    }
}
