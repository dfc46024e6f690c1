//! A server to test, and one run of a suite against it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use super::super::build;
use super::super::project::{Project, hold};
use super::PACKAGES;
use super::page::Page;
use crate::cache::Cache;

/// One of the published lines of the suite.
pub(super) struct Line {
    pub(super) name: &'static str,
    /// The eras in which it is run.
    pub(super) eras: &'static [&'static str],
    pub(super) has_extensions: bool,
}

/// A scenario, and the eras of which it is part.
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) eras: Vec<String>,
}

impl Scenario {
    /// Whether it belongs to no era but to an extension.
    pub(super) fn is_extension(&self) -> bool {
        self.eras == ["extension"]
    }
}

impl Line {
    /// Whether a scenario is part of what is run.
    pub(super) fn runs(&self, scenario: &Scenario) -> bool {
        let is_run = |era: &String| self.eras.contains(&era.as_str()) || (era == "extension" && self.has_extensions);
        scenario.eras.iter().any(is_run)
    }

    /// The scenarios for servers.
    pub(super) fn scenarios(&self) -> Result<Vec<Scenario>, String> {
        let output = self.conformance(&["list", "--server"])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let scenarios: Vec<Scenario> = text.lines().filter_map(listed).collect();
        hold(output.status.success() && !scenarios.is_empty(), || {
            format!("the {} line lists no scenarios: {text}{}", self.name, String::from_utf8_lossy(&output.stderr))
        })?;
        Ok(scenarios)
    }

    /// Runs its command line.
    fn conformance(&self, arguments: &[&str]) -> Result<Output, String> {
        let cache = Cache::of_user()?;
        let program = PACKAGES.program(&cache, &format!("../conformance-{}/dist/index.js", self.name));
        let mut command = Command::new("node");
        command.arg(program).args(arguments).env("PATH", PACKAGES.path(&cache, PACKAGES.program(&cache, ""))?);
        command.stdin(Stdio::null()).output().map_err(|error| format!("node did not start: {error}"))
    }
}

/// A line like `  - ping [2025-06-18,2025-11-25]`.
fn listed(line: &str) -> Option<Scenario> {
    let (name, eras) = line.trim().strip_prefix("- ")?.strip_suffix(']')?.split_once(" [")?;
    Some(Scenario { name: name.to_owned(), eras: eras.split(',').map(str::to_owned).collect() })
}

/// Builds the binary with the fixtures. As part of a test, because the features of what it depends on are those of the
/// tests then, and nothing but the binary is compiled again.
const BUILD: [&str; 7] =
    ["test", "--no-run", "--workspace", "--test", "reference", "--features", "querent/conformance-fixtures"];

/// A server in a project of its own; ended with the case.
pub(super) struct Served {
    child: Child,
    address: String,
    _project: Project,
}

impl Served {
    /// The binary with the fixtures, which is built once.
    pub(super) fn with_fixtures() -> Result<Self, String> {
        static BINARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let binary = BINARY.get_or_init(|| build(&BUILD).map_err(|failure| failure.to_string()));
        Self::start(binary.as_ref().map_err(Clone::clone)?, &["--conformance-fixtures"])
    }

    pub(super) fn start(binary: &Path, more: &[&str]) -> Result<Self, String> {
        let project = Project::new(binary)?;
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(more).stderr(Stdio::inherit()).spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        let address = line.trim().strip_prefix("listening on ").map(str::to_owned);
        // Made first, so that it ends also when it does not listen.
        let served = Self { child, address: address.unwrap_or_default(), _project: project };
        hold(!served.address.is_empty(), || format!("the server does not listen: {line:?} ({read:?})"))?;
        Ok(served)
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One run of a suite, and what it leaves.
pub(super) struct Run<'a> {
    line: &'a Line,
    url: String,
    results: TempDir,
}

impl<'a> Run<'a> {
    pub(super) fn new(line: &'a Line, url: String) -> Result<Self, String> {
        let results = TempDir::with_prefix("querent-conformance-").map_err(|error| error.to_string())?;
        Ok(Self { line, url, results })
    }

    /// Runs every scenario of an era.
    pub(super) fn suite(&self, era: &str) -> Result<(), String> {
        self.run(&["--suite", "all", "--spec-version", era])
    }

    /// Runs one scenario, in its own era if none is said.
    pub(super) fn scenario(&self, scenario: &str, era: Option<&str>) -> Result<(), String> {
        let era = era.map(|era| ["--spec-version", era]);
        self.run(&[&["--scenario", scenario][..], era.as_ref().map_or(&[], |era| &era[..])].concat())
    }

    /// What the suite says is in what it leaves; its status says no more.
    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let folder = self.results.path().to_string_lossy();
        let always = ["server", "--url", &self.url, "--output-dir", &folder];
        self.line.conformance(&[&always[..], arguments].concat()).map(drop)
    }

    /// Every wanted scenario was run, nothing else was, and every check of it passed or is spared by the page.
    pub(super) fn judge(&self, page: &Page, wanted: &[String]) -> Result<(), String> {
        let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
        let entries = fs::read_dir(self.results.path()).map_err(|error| error.to_string())?;
        for entry in entries.filter_map(Result::ok) {
            let folder = entry.file_name().to_string_lossy().into_owned();
            let Some(scenario) = wanted.iter().find(|it| is_of(&folder, it)) else {
                return Err(format!("the {} line ran what was not wanted: {folder}", self.line.name));
            };
            seen.insert(scenario.clone());
            wrong.extend(judged(page, scenario, &entry.path()));
        }
        wrong.extend(wanted.iter().filter(|it| !seen.contains(*it)).map(|it| format!("{it}: it was not run")));
        hold(wrong.is_empty(), || format!("{} line, {}:\n{}", self.line.name, self.url, wrong.join("\n")))
    }
}

/// Whether a folder of results is the one of a scenario: its name, and then when it ran.
fn is_of(folder: &str, scenario: &str) -> bool {
    let when = folder.strip_prefix("server-").unwrap_or(folder).strip_prefix(scenario);
    when.is_some_and(|when| when.strip_prefix('-').is_some_and(|when| when.contains('T') && when.starts_with("20")))
}

/// What is wrong with a scenario, in the words of the suite.
fn judged(page: &Page, scenario: &str, results: &Path) -> Vec<String> {
    let text = fs::read_to_string(results.join("checks.json")).unwrap_or_default();
    let checks: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
    if !checks.iter().any(|check| check["status"] == "SUCCESS") {
        let why = checks.iter().map(said).collect::<Vec<_>>().join("; ");
        return vec![format!("{scenario}: no check of it passed: {why}")];
    }
    let wrong = checks.iter().filter(|check| {
        let spared = || page.spares(scenario, check["id"].as_str().unwrap_or_default());
        match check["status"].as_str() {
            Some("SUCCESS" | "INFO") => false,
            Some("SKIPPED" | "WARNING") => !spared(),
            _ => true,
        }
    });
    wrong.map(|check| format!("{scenario}: {}", said(check))).collect()
}

fn said(check: &Value) -> String {
    let word = |name: &str| check[name].as_str().unwrap_or_default();
    format!("{} {} ({}): {}", word("status"), word("id"), word("description"), word("errorMessage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_scenarios_is_read() {
        let scenario = listed("  - ping [2025-06-18,2025-11-25]").unwrap();
        assert_eq!((scenario.name.as_str(), scenario.eras.len()), ("ping", 2));
        assert!(listed("  - tasks-lifecycle [extension]").unwrap().is_extension());
        assert!(listed("Server scenarios (test against a server):").is_none());
    }

    #[test]
    fn results_belong_to_one_scenario() {
        assert!(is_of("server-ping-2026-11-16T10-00-00-000Z", "ping"));
        assert!(!is_of("server-tools-call-error-2026-11-16T10-00-00-000Z", "tools-call"));
        assert!(is_of("server-json-schema-2020-12-2026-11-16T10-00-00-000Z", "json-schema-2020-12"));
    }
}
