//! The official conformance suites of MCP, in both lines that are published: against a binary with the fixtures that they
//! ask for by name, and what needs none of these against the binary that ships.
//!
//! A scenario that is not run, and a check that does not pass, stand with their reasons in the reference; anything else
//! fails.

mod page;
mod run;

use std::path::Path;

use super::project::hold;
use super::{Case, Need, Suite, npm};
use page::Page;
use run::{Line, Run, Served};

pub(super) const SUITE: Suite = Suite {
    name: "conformance",
    about: "the official MCP conformance suites, both lines",
    needs: &[Need {
        what: "the MCP conformance suites, from npm",
        is_met: |cache| PACKAGES.are_installed(cache),
        install: Some(|cache| PACKAGES.install(cache)),
        cure: "install Node.js 22 or newer with npm, and let npm reach its registry",
    }],
    cases: &[
        Case { name: "every scenario of both lines is run, or the reference says why not", run: |_| all_are_known() },
        Case { name: "the current line in the era 2026-07-28", run: |_| era(&CURRENT, "2026-07-28") },
        Case { name: "the current line in the era 2025-11-25", run: |_| era(&CURRENT, "2025-11-25") },
        Case { name: "the current line in the era 2025-06-18", run: |_| era(&CURRENT, "2025-06-18") },
        Case { name: "the current line in the era 2025-03-26", run: |_| era(&CURRENT, "2025-03-26") },
        Case { name: "the extensions of the current line", run: |_| extensions(&CURRENT) },
        Case { name: "the older line in the era 2025-11-25", run: |_| era(&OLDER, "2025-11-25") },
        Case { name: "the older line in the era 2025-06-18", run: |_| era(&OLDER, "2025-06-18") },
        Case { name: "the server that ships, where no fixtures are needed", run: ships },
    ],
};

const PACKAGES: npm::Packages =
    npm::Packages { folder: "conformance", lock: include_str!("../../e2e/conformance/package-lock.json") };

const CURRENT: Line =
    Line { name: "current", eras: &["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"], has_extensions: true };
const OLDER: Line = Line { name: "older", eras: &["2025-06-18", "2025-11-25"], has_extensions: false };

/// What the server that ships passes without fixtures: how it is reached, and its own lists.
const SHIPS: [(&str, &str); 13] = [
    ("dns-rebinding-protection", "2025-11-25"),
    ("dns-rebinding-protection", "2026-07-28"),
    ("server-initialize", "2025-11-25"),
    ("server-session-lifecycle", "2025-11-25"),
    ("ping", "2025-11-25"),
    ("tools-list", "2025-11-25"),
    ("tools-list", "2026-07-28"),
    ("resources-list", "2025-11-25"),
    ("resources-list", "2026-07-28"),
    ("prompts-list", "2025-11-25"),
    ("prompts-list", "2026-07-28"),
    ("caching", "2026-07-28"),
    ("sep-2164-resource-not-found", "2026-07-28"),
];

/// No scenario is in neither list, or in both.
fn all_are_known() -> Result<(), String> {
    let page = Page::read()?;
    for line in [&CURRENT, &OLDER] {
        let scenarios = line.scenarios()?;
        for scenario in &scenarios {
            let runs = line.runs(scenario);
            match page.excuses(line.name, &scenario.name) {
                None => {
                    hold(runs, || format!("`{}` of the {} line is neither run nor excused", scenario.name, line.name))?;
                }
                Some(_) => hold(scenario.is_extension(), || {
                    format!("`{}` of the {} line is excused, but its eras are run", scenario.name, line.name)
                })?,
            }
        }
        for name in page.excused(line.name) {
            let is_known = scenarios.iter().any(|scenario| scenario.name == name);
            hold(is_known, || format!("the {} line has no scenario `{name}`; take it off the page", line.name))?;
        }
    }
    Ok(())
}

/// Every scenario of a line that belongs to an era.
fn era(line: &Line, era: &str) -> Result<(), String> {
    let page = Page::read()?;
    let wanted: Vec<String> =
        line.scenarios()?.into_iter().filter(|it| it.eras.iter().any(|it| it == era)).map(|it| it.name).collect();
    hold(!wanted.is_empty(), || format!("the {} line has no scenario of the era {era}", line.name))?;
    let served = Served::with_fixtures()?;
    let run = Run::new(line, served.url("/mcp"))?;
    run.suite(era)?;
    run.judge(&page, &wanted)
}

/// Every scenario of an extension that is not excused.
fn extensions(line: &Line) -> Result<(), String> {
    let page = Page::read()?;
    let wanted: Vec<String> = line
        .scenarios()?
        .into_iter()
        .filter(|it| it.is_extension() && page.excuses(line.name, &it.name).is_none())
        .map(|it| it.name)
        .collect();
    hold(!wanted.is_empty(), || format!("the {} line has no scenario of an extension", line.name))?;
    let served = Served::with_fixtures()?;
    let run = Run::new(line, served.url("/mcp"))?;
    for scenario in &wanted {
        run.scenario(scenario, None)?;
    }
    run.judge(&page, &wanted)
}

/// The release binary, as an agent reaches it.
fn ships(binary: &Path) -> Result<(), String> {
    let page = Page::read()?;
    let served = Served::start(binary, &[])?;
    for (scenario, era) in SHIPS {
        let run = Run::new(&CURRENT, served.url("/mcp/engineer"))?;
        run.scenario(scenario, Some(era))?;
        run.judge(&page, &[scenario.to_owned()]).map_err(|why| format!("in the era {era}: {why}"))?;
    }
    Ok(())
}
