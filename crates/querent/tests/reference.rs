//! The reference of the command line, `docs/reference/cli/`, is what `--help` says. Generated here, and checked here.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const HOW: &str = "UPDATE_REFERENCE=1 cargo test -p querent --test reference";

#[test]
fn the_reference_says_what_the_help_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli");
    let pages = pages();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        for (name, text) in &pages {
            std::fs::write(directory.join(name), text).unwrap();
        }
    }
    let mut stored = BTreeMap::new();
    for entry in directory.read_dir().into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        stored.insert(name, std::fs::read_to_string(path).unwrap());
    }
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&stored), names(&pages), "docs/reference/cli is not up to date; regenerate it: {HOW}");
    for (name, text) in &pages {
        assert!(stored[name] == *text, "docs/reference/cli/{name} is not up to date; regenerate it: {HOW}");
    }
}

#[test]
fn every_command_says_what_it_is_for_and_shows_examples() {
    for command in commands(&[]) {
        for path in
            [vec![command.as_str()]].into_iter().chain(commands(&[&command]).iter().map(|sub| vec![&*command, sub]))
        {
            let help = help(&path);
            assert!(help.contains("\nExamples:\n  "), "querent {} --help has no examples", path.join(" "));
            assert!(
                help.lines().all(|line| line.chars().count() <= 100),
                "a line of querent {} --help is too long",
                path.join(" ")
            );
        }
    }
}

/// A page for each command, with the commands below it, and one that lists them.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut index =
        format!("# querent\n\nGenerated from `--help`; regenerate with `{HOW}`.\n\n```text\n{}```\n\n", help(&[]));
    for command in commands(&[]) {
        let mut text = section(&[&command], "#");
        for below in commands(&[&command]) {
            text.push_str(&section(&[&command, &below], "##"));
        }
        index.extend(["- [querent ", &command, "](", &command, ".md)\n"]);
        pages.insert(format!("{command}.md"), text.trim_end().to_owned() + "\n");
    }
    pages.insert("README.md".to_owned(), index);
    pages
}

fn section(path: &[&str], mark: &str) -> String {
    format!("{mark} querent {}\n\n```text\n{}```\n\n", path.join(" "), help(path))
}

/// The commands below a command, in the order of its help.
fn commands(path: &[&str]) -> Vec<String> {
    let help = help(path);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

fn help(path: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_querent"));
    command.args(path).arg("--help").env_remove("COLUMNS").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
