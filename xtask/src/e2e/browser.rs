//! The pages in a real browser: Debian's Chromium, driven by the scripts in `xtask/e2e/browser/`. A case is a function there.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::clock;
use super::npm::Packages;
use super::process::{end_group, own_group};
use super::project::{Project, hold};
use super::{Case, Need, Suite};
use crate::cache::Cache;

pub(super) const SUITE: Suite = Suite {
    name: "browser",
    about: "the pages in Chromium: by keyboard, mouse and touch, live, in the dark and under attack",
    needs: NEEDS,
    cases: &[
        Case {
            name: "a question appears by itself, two keys answer it, and the agent that waits goes on",
            run: |it| case(it, "fresh"),
        },
        Case { name: "an answer by mouse, with a note", run: |it| case(it, "mouse") },
        Case { name: "text, several options, a number, yes or no, own words", run: |it| case(it, "forms") },
        Case { name: "what was typed stays when it is refused", run: |it| case(it, "refused") },
        Case { name: "a stray key or click sends nothing", run: |it| case(it, "stray") },
        Case { name: "the keyboard moves, filters, leaves, opens and goes back", run: |it| case(it, "moves") },
        Case { name: "Tab reaches everything on every page, and shows where it is", run: |it| case(it, "tab") },
        Case { name: "assumptions are judged from the keyboard", run: |it| case(it, "assumptions") },
        Case { name: "on a phone: answered by touch, and no page is too wide", run: |it| case(it, "phone") },
        Case { name: "two browsers: seen at once, and the second is told who was first", run: |it| case(it, "two") },
        Case { name: "an answer from the command line is seen at once", run: |it| case(it, "commandLine") },
        Case { name: "the server is killed and comes back: nothing is missed", run: |it| case(it, "restart") },
        Case { name: "a circle of waits is drawn in red as it closes", run: |it| case(it, "waits") },
        Case { name: "new events appear, and the filter holds for them", run: |it| case(it, "events") },
        Case { name: "the countdown runs, and the fallback is shown when it ends", run: |it| case(it, "deadline") },
        Case { name: "the dark scheme is dark", run: |it| case(it, "dark") },
        Case { name: "axe finds nothing serious on any page, light and dark", run: |it| case(it, "accessible") },
        Case { name: "no page breaks its own policy", run: |it| case(it, "policy") },
        Case { name: "the worst that an agent can write is only text", run: |it| case(it, "hostile") },
        Case { name: "login: by a link once, by a token, and out again", run: |it| case(it, "login") },
        Case { name: "an observer finds nothing to send", run: |it| case(it, "observer") },
    ],
};

const NEEDS: &[Need] = &[
    Need {
        what: "Chromium (Debian's package, with a font)",
        is_met: |_| Path::new(CHROMIUM).exists(),
        install: Some(install_chromium),
        cure: "as root on Debian, run `apt-get install chromium fonts-dejavu-core`",
    },
    Need {
        what: "playwright-core and axe-core, from npm",
        is_met: |cache| PACKAGES.are_installed(cache),
        install: Some(|cache| PACKAGES.install(cache)),
        cure: "install Node.js 20 or newer with npm, and let npm reach its registry",
    },
];

const CHROMIUM: &str = "/usr/bin/chromium";

const PACKAGES: Packages = Packages { folder: "browser", lock: include_str!("../../e2e/browser/package-lock.json") };

fn install_chromium(_: &Cache) -> Command {
    let mut command = Command::new("sh");
    let script = "apt-get update -qq; apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core";
    command.args(["-c", script]).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    command
}

fn case(binary: &Path, name: &str) -> Result<(), String> {
    let project = Project::new(binary)?;
    drive("run.mjs", &[name.as_ref(), binary.as_os_str(), project.folder().as_os_str()])
}

/// Runs a script to its end. Whatever it leaves behind ends with it.
pub(super) fn drive(script: &str, arguments: &[&OsStr]) -> Result<(), String> {
    let mut command = Command::new("node");
    command.arg(scripts(&Cache::of_user()?)?.join(script)).args(arguments);
    command.env("CHROMIUM", CHROMIUM).env("FAKETIME_LIBRARY", clock::library()?);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let child = command.spawn().map_err(|error| format!("node did not start: {error}"))?;
    let group = child.id();
    let output = child.wait_with_output().map_err(|error| error.to_string());
    end_group(group);
    let output = output?;
    let said = || format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    hold(output.status.success(), || format!("it ended with {}: {}", output.status, said()))
}

/// The scripts, copied to where their packages are: Node looks for these beside them.
fn scripts(cache: &Cache) -> Result<PathBuf, String> {
    let place = cache.path().join(PACKAGES.folder);
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    for entry in fs::read_dir(crate::root().join("xtask/e2e/browser")).map_err(failed)? {
        let script = entry.map_err(failed)?.path();
        if let Some(name) = script.file_name().filter(|_| script.extension().is_some_and(|it| it == "mjs")) {
            fs::copy(&script, place.join(name)).map_err(failed)?;
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_names_a_function_of_the_scripts() {
        let folder = crate::root().join("xtask/e2e/browser");
        let scripts = ["access", "answering", "keyboard", "live", "looks"];
        let text = scripts.map(|name| fs::read_to_string(folder.join(name).with_extension("mjs")).unwrap()).concat();
        let own = include_str!("browser.rs");

        let named: Vec<&str> = own.split("case(it, \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();

        assert_eq!(named.len(), SUITE.cases.len());
        for name in named {
            assert!(text.contains(&format!("export async function {name}(scene)")), "{name}");
        }
    }
}
