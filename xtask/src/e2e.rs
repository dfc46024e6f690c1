//! The end-to-end suites: the release binary, driven from outside as its users drive it.
//!
//! A suite is a module below this one with a name, what it needs and its cases; a new one is a line in [`SUITES`]. What
//! a suite needs from elsewhere is installed into a cache of the user by an ordinary package manager. A need that is
//! not met fails the suite's cases: nothing is skipped.

mod agents;
mod api;
mod browser;
mod clock;
mod conformance;
mod disk;
mod http;
mod load;
mod mcp;
mod monitor;
mod npm;
mod process;
mod project;
pub(crate) mod screenshots;
mod shell;
mod team;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cache::Cache;
use crate::{Failure, cargo};

/// Every suite there is.
const SUITES: &[Suite] = &[
    shell::SUITE,
    disk::SUITE,
    clock::SUITE,
    monitor::SUITE,
    api::SUITE,
    load::SUITE,
    browser::SUITE,
    mcp::SUITE,
    conformance::SUITE,
    agents::SUITE,
    team::SUITE,
];

/// Cases that need the same things.
struct Suite {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    cases: &'static [Case],
}

/// Something that must be there before a suite can run.
struct Need {
    what: &'static str,
    is_met: fn(&Cache) -> bool,
    /// Puts it into the cache with a package manager; none where only a person can help.
    install: Option<fn(&Cache) -> Command>,
    /// What a person does when it is not met.
    cure: &'static str,
}

/// One behaviour, named by what it protects.
struct Case {
    name: &'static str,
    run: fn(&Path) -> Result<(), String>,
}

/// Runs the named suites; all of them without a name.
pub(crate) fn run(rest: &[String]) -> Result<(), Failure> {
    if rest == ["--list"] {
        for suite in SUITES {
            println!("{:<8} {} ({} cases)", suite.name, suite.about, suite.cases.len());
        }
        return Ok(());
    }
    let suites = chosen(rest)?;
    let binary = match std::env::var_os("QUERENT_BINARY").filter(|it| !it.is_empty()) {
        Some(binary) => {
            std::fs::canonicalize(&binary).map_err(|error| Failure(format!("{}: {error}", binary.display())))?
        }
        None => build(&["build", "--release", "--package", "querent"])?,
    };
    let cache = Cache::of_user().map_err(Failure)?;
    let (mut passed, mut failed) = (0, 0);
    for suite in suites {
        println!("suite {}: {}", suite.name, suite.about);
        let unmet = meet(suite.needs, &cache).err();
        for case in suite.cases {
            let outcome = match &unmet {
                Some(need) => Err(need.clone()),
                None => (case.run)(&binary),
            };
            if let Err(why) = outcome {
                failed += 1;
                println!("  FAILED  {}\n          {why}", case.name);
            } else {
                passed += 1;
                println!("  ok      {}", case.name);
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure("the end-to-end suites failed; each FAILED line above says why".to_owned()))
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Suite>, Failure> {
    if names.is_empty() {
        return Ok(SUITES.iter().collect());
    }
    let find = |name: &String| {
        let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        let found = SUITES.iter().find(|suite| suite.name == name);
        found.ok_or_else(|| Failure(format!("there is no suite `{name}`; use one of: {}", known.join(", "))))
    };
    names.iter().map(find).collect()
}

/// Builds the binary with this command of cargo, and says where it is.
fn build(how: &[&str]) -> Result<PathBuf, Failure> {
    println!("building: cargo {}", how.join(" "));
    let always = ["--locked", "--message-format=json-render-diagnostics"];
    let output = cargo().args(how).args(always).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure(format!("cargo did not start: {error}")))?;
    if !output.status.success() {
        return Err(Failure("the binary does not build; see above".to_owned()));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    executable(&messages).ok_or_else(|| Failure("cargo built no binary called `querent`".to_owned()))
}

/// The path of the binary in cargo's messages, one JSON object a line.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut named = messages.filter(|message| message["target"]["name"] == "querent");
    named.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Installs what is missing. The error names the first need that stays unmet, and what to do.
fn meet(needs: &[Need], cache: &Cache) -> Result<(), String> {
    for need in needs.iter().filter(|need| !(need.is_met)(cache)) {
        if let Some(install) = need.install {
            let mut command = install(cache);
            println!("  installing {} into {}", need.what, cache.path().display());
            let outcome = command.status();
            if !outcome.is_ok_and(|status| status.success()) {
                println!("  the installation failed: {command:?}");
            }
        }
        if !(need.is_met)(cache) {
            return Err(format!("this suite needs {}; {}", need.what, need.cure));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_among_the_messages_of_cargo() {
        let messages = "not json\n{\"target\":{\"name\":\"serde\"},\"executable\":null}\n\
                        {\"target\":{\"name\":\"querent\"},\"executable\":\"target/release/querent\"}\n\
                        {\"reason\":\"build-finished\"}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("target/release/querent")));
        assert_eq!(executable("{\"target\":{\"name\":\"querent\"},\"executable\":null}"), None);
    }

    #[test]
    fn a_need_that_stays_unmet_says_what_to_do() {
        let cache = Cache::at(Path::new("cache"));
        let need = Need { what: "a browser", is_met: |_| false, install: None, cure: "run `apt-get install chromium`" };
        let error = meet(&[need], &cache).unwrap_err();
        assert_eq!(error, "this suite needs a browser; run `apt-get install chromium`");
    }

    #[test]
    fn an_installation_that_does_not_work_leaves_the_need_unmet() {
        let cache = Cache::at(Path::new("cache"));
        let install: fn(&Cache) -> Command = |_| Command::new("no-such-package-manager");
        let need = Need { what: "a server", is_met: |_| false, install: Some(install), cure: "install it by hand" };
        assert!(meet(&[need], &cache).unwrap_err().contains("install it by hand"));
    }

    #[test]
    fn a_suite_that_does_not_exist_is_refused_with_the_ones_that_do() {
        let error = chosen(&["shel".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("shell, disk"), "{error}");
    }

    #[test]
    fn every_suite_has_cases_and_every_case_its_own_name() {
        let mut names: Vec<(&str, &str)> =
            SUITES.iter().flat_map(|suite| suite.cases.iter().map(|case| (suite.name, case.name))).collect();
        assert!(SUITES.iter().all(|suite| !suite.cases.is_empty()));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
