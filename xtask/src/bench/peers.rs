//! What Querent is measured against: `bench/peers/`, copied into the cache, with what the peers are made of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{install_system_package, succeed};
use crate::cache::Cache;
use crate::python::Packages;
use crate::{Failure, root};

const LANGGRAPH: Packages = Packages { folder: "bench-langgraph", file: "bench/peers/langgraph/requirements.txt" };
const FASTMCP: Packages = Packages { folder: "bench-peer-fastmcp", file: "bench/peers/fastmcp/requirements.txt" };

/// Those that are programs of Node: a program looks for packages beside itself.
const OF_NODE: [&str; 2] = ["restate", "aop"];
/// What is written beside the packages when all of them are there.
const DONE: &str = "installed.json";

/// Installs all of them, and gives the variables by which the benchmark finds them.
pub(super) fn install(cache: &Cache) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
    let place = cache.path().join("bench-peers");
    let copy = "mkdir -p \"$1\" && cp -R \"$0/.\" \"$1\"";
    let mut copied = Command::new("sh");
    copied.args(["-c", copy]).arg(root().join("bench/peers")).arg(&place);
    succeed(&mut copied, "the peers could not be copied into the cache")?;
    for (name, packages) in [("LangGraph", LANGGRAPH), ("FastMCP", FASTMCP)] {
        if !packages.are_installed(cache) {
            eprintln!("installing {name}");
            let otherwise = format!("{name} could not be installed; it needs Python 3.11 with venv and pip");
            succeed(&mut packages.install(cache), &otherwise)?;
        }
    }
    for folder in OF_NODE {
        install_packages(&place.join(folder))?;
    }
    install_postgres()?;
    Ok(vec![
        ("QUERENT_BENCH_PEERS", place),
        ("QUERENT_BENCH_LANGGRAPH", LANGGRAPH.python(cache)),
        ("QUERENT_BENCH_FASTMCP", FASTMCP.python(cache)),
    ])
}

fn install_packages(folder: &Path) -> Result<(), Failure> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let lock = read("package-lock.json");
    if lock.is_some() && read(DONE) == lock {
        return Ok(());
    }
    eprintln!("installing {}", folder.display());
    // Packages that report where they are installed do that in scripts.
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    succeed(&mut npm, "the packages of a peer could not be installed; it needs Node and npm")?;
    let done = fs::write(folder.join(DONE), lock.unwrap_or_default());
    done.map_err(|error| Failure(format!("{}: {error}", folder.display())))
}

/// The server, which a system has and no cache.
fn install_postgres() -> Result<(), Failure> {
    let is_there = || {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        versions.into_iter().any(|version| version.path().join("bin/initdb").is_file())
    };
    if is_there() {
        return Ok(());
    }
    let otherwise = "PostgreSQL is not there and could not be installed: install the package `postgresql`";
    install_system_package("postgresql", otherwise)
}
