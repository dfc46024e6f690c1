//! The reference of the command line, `docs/reference/cli/`, is what `--help` says: generated here, and checked here, also
//! that its examples run. So are those of the MCP server and of the HTTP API. The reference of the config is checked to load.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed, as it should")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use querent_core::canonical::Canonical;

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
fn the_reference_of_the_mcp_server_is_what_it_offers() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/mcp");
    let tools = tools();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        for (name, text) in &tools {
            std::fs::write(directory.join(name), text).unwrap();
        }
    }
    for (name, text) in &tools {
        let stored = std::fs::read_to_string(directory.join(name)).unwrap_or_default();
        assert!(stored == *text, "docs/reference/mcp/{name} is not up to date; regenerate it: {HOW}");
    }
    let stored = directory.read_dir().map_or(0, Iterator::count);
    assert_eq!(stored, tools.len(), "docs/reference/mcp has a page too many; regenerate it: {HOW}");
}

#[test]
fn the_reference_of_the_http_api_is_what_it_serves() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    assert_eq!(run(&project, PREPARED).0, Some(0));
    let mut server = Command::new(env!("CARGO_BIN_EXE_querent"));
    let mut server =
        server.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(&project).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /openapi.json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let document: serde_json::Value = serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap();
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(stored == text, "docs/reference/openapi.json is not up to date; regenerate it: {HOW}");
}

/// The tools as a client lists them, a page each.
fn tools() -> BTreeMap<String, String> {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    assert_eq!(run(&project, PREPARED).0, Some(0));
    let meta = serde_json::json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "reference", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let (code, said) = run(&project, &format!("printf '%s\\n' '{list}' | querent mcp --agent engineer >&2"));
    assert_eq!(code, Some(0), "{said}");
    let reply: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    let tools = reply["result"]["tools"].as_array().unwrap();
    let page = |tool: &serde_json::Value| {
        (
            format!("{}.json", tool["name"].as_str().unwrap()),
            serde_json::to_string_pretty(&Canonical(tool)).unwrap() + "\n",
        )
    };
    tools.iter().map(page).collect()
}

#[test]
fn every_command_says_what_it_is_for_and_shows_examples() {
    for path in paths() {
        let name = path.join(" ");
        let help = help(&path.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(help.contains("\nExamples:\n  "), "querent {name} --help has no examples");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "a line of querent {name} --help is too long");
    }
}

#[test]
fn every_example_in_the_help_runs() {
    for path in paths() {
        for example in examples(&help(&path.iter().map(String::as_str).collect::<Vec<_>>())) {
            let place = tempfile::tempdir().unwrap();
            let project = place.path().join("project");
            let prepared = run(&project, PREPARED);
            assert_eq!(prepared.0, Some(0), "{}", prepared.1);

            let (code, said) = run(&project, &example);

            assert!(code.is_some_and(|code| code < 2), "`{example}` does not run: {said}");
            assert!(example.lines().all(|line| line.len() <= 80), "`{example}` is too wide for a terminal");
        }
    }
}

#[test]
fn the_files_in_the_reference_of_the_config_are_read_as_they_stand() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/config.md");
    let page = std::fs::read_to_string(page).unwrap();
    let files: Vec<&str> = page.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let project = tempfile::tempdir().unwrap();
    let workflows = project.path().join(".querent/workflows");
    std::fs::create_dir_all(&workflows).unwrap();
    std::fs::write(project.path().join(".querent/config.toml"), files[0]).unwrap();
    std::fs::write(workflows.join("feature.toml"), files[1]).unwrap();

    let (code, said) = run(project.path(), "querent item add 42 --title T");

    assert_eq!((files.len(), code), (2, Some(0)), "{said}");
    let keys = files.iter().flat_map(|file| file.lines()).filter_map(|line| line.split_once(" = "));
    for (key, _) in keys.filter(|(key, _)| !["kind", "command"].contains(key)) {
        assert!(
            page.contains(&format!(".{key}` |")) || page.contains(&format!("| `{key}` |")),
            "{key} is not explained"
        );
    }
}

/// What the examples take for granted: an item in the engineer's step with open questions, and files.
const PREPARED: &str = "set -e
querent init --name shop
echo 'a decision' > decision.md
echo '{}' > limits.schema.json
querent item add 42 --title T && querent item move 42 --to implement
for n in 1 2 3; do querent ask --item 42 --from engineer --to architect --no-blocking --topic T --question Q; done";

/// Every command, and every command below one.
fn paths() -> Vec<Vec<String>> {
    let below = |command: &String| {
        let subs = commands(&[command]).into_iter().map(|sub| vec![command.clone(), sub]);
        [vec![command.clone()]].into_iter().chain(subs).collect::<Vec<_>>()
    };
    [Vec::new()].into_iter().chain(commands(&[]).iter().flat_map(below)).collect()
}

/// The examples of a help text, each with its continued lines. What would wait is told not to, and nothing leaves its place.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| line.starts_with("  "));
    let mut examples: Vec<String> = Vec::new();
    for line in lines {
        match examples.last_mut().filter(|example| example.ends_with('\\')) {
            Some(example) => example.extend(["\n", line]),
            None => examples.push(line.to_owned()),
        }
    }
    let hurried = |example: String| {
        let waits = example.contains("querent await");
        let example =
            example.replace("--wait 10m", "--wait 1ms").replace(" --timeout 10m", "").replace(" --follow", "");
        example.replace("/tmp/", "./") + if waits { " --timeout 1ms" } else { "" }
    };
    examples.into_iter().map(hurried).collect()
}

/// Runs a line of shell as a user of this directory; returns its exit status and what it said.
fn run(directory: &Path, line: &str) -> (Option<i32>, String) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_querent")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let home = directory.join("home");
    for shell in [".zfunc", ".local/share/bash-completion/completions", ".config/fish/completions"] {
        std::fs::create_dir_all(home.join(shell)).unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(directory).env("PATH", path).env("HOME", &home).env("TMPDIR", &home);
    let output = shell.env_remove("QUERENT_ITEM").env_remove("QUERENT_AGENT").stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
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
