//! Every command of the CLI is a file, and has a file of tests with its name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{File, Finding};

const COMMANDS: &str = "crates/querent/src/cli/commands";
const TESTS: &str = "crates/querent/tests";
const MANIFEST: &str = "crates/querent/Cargo.toml";

/// The file that makes one binary of the others.
const MAIN: &str = "main";

/// Test files that are about several commands at once.
const ACROSS: &[&str] = &[
    MAIN,
    "api",
    "guard",
    "pages",
    "stream",
    "concurrency",
    "crash",
    "deadlines",
    "help",
    "mistakes",
    "notifications",
    "output",
    "reference",
    "repair",
    "replay",
    "strict",
    "telegram",
    "whole_life",
];

pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let (all, tests) = (names(files, COMMANDS), names(files, TESTS));
    // A file like `item.rs` beside `item_add.rs` only gathers commands.
    let gathers =
        |name: &&&str| all.iter().any(|other| other.strip_prefix(**name).is_some_and(|rest| rest.starts_with('_')));
    let commands: BTreeSet<&str> = all.iter().filter(|name| !gathers(name)).copied().collect();
    if commands.is_empty() {
        let what = "there is no command in this folder; if the commands moved, this check must move with them";
        return vec![Finding::new(Path::new(COMMANDS), 1, what)];
    }
    let missing =
        commands.difference(&tests).map(|name| (*name, "the command of this name has no test here".to_owned()));
    let faults = tests.iter().filter_map(|name| Some((*name, fault(name, &all, files)?)));
    let at = |name: &str| PathBuf::from(format!("{TESTS}/{name}.rs"));
    missing.chain(faults).map(|(name, what)| Finding::new(&at(name), 1, what)).collect()
}

/// What is wrong with the test file of this name.
fn fault(name: &str, commands: &BTreeSet<&str>, files: &[File]) -> Option<String> {
    if !commands.contains(name) && !ACROSS.contains(&name) {
        return Some(
            "the file bears the name of no command; rename it, or name it in xtask/src/tidy/commands.rs".to_owned(),
        );
    }
    if name == MAIN {
        return None;
    }
    let text =
        |path: &str| files.iter().find(|file| file.path == Path::new(path)).map_or("", |file| file.text.as_str());
    if !text(&format!("{TESTS}/{name}.rs")).contains("#[test]") {
        return Some("the file has no `#[test]`".to_owned());
    }
    let alone = text(MANIFEST).contains(&format!("path = \"tests/{name}.rs\""));
    let gathered = text(&format!("{TESTS}/{MAIN}.rs")).lines().any(|line| line.trim() == format!("mod {name};"));
    (!alone && !gathered).then(|| format!("nothing runs this file; write `mod {name};` into {TESTS}/{MAIN}.rs"))
}

/// The names of the Rust files that lie directly in a folder.
fn names<'a>(files: &'a [File], folder: &str) -> BTreeSet<&'a str> {
    let inside = files.iter().filter(|file| file.path.parent() == Some(Path::new(folder)));
    let rust = inside.filter(|file| file.path.extension().is_some_and(|it| it == "rs"));
    rust.filter_map(|file| file.path.file_stem()?.to_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: &str = "crates/querent/src/cli/commands/ask.rs";
    const ASK_TEST: &str = "crates/querent/tests/ask.rs";
    const TEST: &str = "#[test]\nfn a() {}\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File { path: path.into(), text: (*text).to_owned() };
        let files: Vec<File> = files.iter().map(file).collect();
        check(&files).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_command_with_its_test_is_enough() {
        let files = [
            ("crates/querent/src/cli/commands/item.rs", ""),
            ("crates/querent/src/cli/commands/item_add.rs", ""),
            ("crates/querent/tests/item_add.rs", TEST),
            ("crates/querent/tests/reference.rs", TEST),
            ("crates/querent/tests/main.rs", "mod common;\nmod item_add;\n"),
            ("crates/querent/tests/common/mod.rs", ""),
            ("crates/querent/Cargo.toml", "[[test]]\npath = \"tests/reference.rs\"\n"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_command_without_a_test_is_found() {
        assert_eq!(found(&[(ASK, "")]), [format!("{ASK_TEST}:1: the command of this name has no test here")]);
    }

    #[test]
    fn a_test_file_of_no_command_is_found() {
        let main = ("crates/querent/tests/main.rs", "mod ask;\nmod asks;\n");
        let findings = found(&[(ASK, ""), (ASK_TEST, TEST), ("crates/querent/tests/asks.rs", TEST), main]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("tests/asks.rs:1: the file bears the name of no command"), "{findings:?}");
    }

    #[test]
    fn a_test_file_without_a_test_is_found() {
        let findings = found(&[(ASK, ""), (ASK_TEST, "fn a() {}"), ("crates/querent/tests/main.rs", "mod ask;\n")]);
        assert_eq!(findings, [format!("{ASK_TEST}:1: the file has no `#[test]`")]);
    }

    #[test]
    fn a_test_file_that_nothing_runs_is_found() {
        let findings = found(&[(ASK, ""), (ASK_TEST, TEST), ("crates/querent/tests/main.rs", "// mod ask;\n")]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("nothing runs this file"), "{findings:?}");
    }

    #[test]
    fn a_folder_without_commands_is_not_passed_over() {
        assert_eq!(found(&[("README.md", "")]).len(), 1);
    }
}
