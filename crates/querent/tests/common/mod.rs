//! A directory of its own for each test, and the binary in it.

pub(crate) mod client;
pub(crate) mod http;
pub(crate) mod receiver;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory, with or without a project in it.
pub(crate) struct Project {
    dir: TempDir,
}

/// How a call ended.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// A directory without a project.
    pub(crate) fn none() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A fresh project of the `feature` set, without items.
    pub(crate) fn empty() -> Self {
        let project = Self::none();
        project.ok(&["init", "--name", "shop"]);
        project
    }

    /// A project whose item 42 stands in `implement`, the engineer's step.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        project.ok(&["item", "add", "42", "--title", "Sign in by e-mail"]);
        project.ok(&["item", "move", "42", "--to", "implement"]);
        project
    }

    /// The same where a human has no time at all: what has a fallback takes it at once.
    pub(crate) fn without_patience(self) -> Self {
        let file = self.path().join(".querent/config.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        let changed = config.replacen("timeout = \"15m\"", "timeout = \"1ms\"", 1);
        assert_ne!(config, changed);
        std::fs::write(&file, changed).unwrap();
        self
    }

    /// The same with more in its config.
    pub(crate) fn with_config(self, more: &str) -> Self {
        let file = self.path().join(".querent/config.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{config}\n{more}")).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The binary, about to run here with nothing of the caller's environment that it looks at.
    pub(crate) fn querent(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_querent"));
        command.args(args).current_dir(self.path()).env("TZ", "UTC").stdin(Stdio::null());
        for name in ["QUERENT_ITEM", "QUERENT_AGENT", "NO_COLOR", "COLUMNS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        Output::of(self.querent(args).output().unwrap())
    }

    /// Runs it with something on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Output {
        let mut child = Self::start(self.querent(args).stdin(Stdio::piped()));
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Output::of(child.wait_with_output().unwrap())
    }

    /// Starts it and lets it run.
    pub(crate) fn start(command: &mut Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it with `--json`; it must succeed. Returns the data.
    pub(crate) fn ok(&self, args: &[&str]) -> Value {
        self.run(&with_json(args)).data()
    }

    /// Runs it with `--json`; it must be refused with this code. Returns the error.
    pub(crate) fn refused(&self, args: &[&str], code: &str) -> Value {
        self.run(&with_json(args)).error(code)
    }

    /// The engineer asks the architect on item 42. Returns the question's id.
    pub(crate) fn asks_architect(&self) -> String {
        let reply = self.ok(&[
            "ask",
            "--item",
            "42",
            "--from",
            "engineer",
            "--to",
            "architect",
            "--topic",
            "Tokens",
            "--question",
            "How long?",
        ]);
        reply["question_id"].as_str().unwrap().to_owned()
    }

    /// A project in which people said once what they prefer: it is learned as LRN-001, from CLR-42-001.
    pub(crate) fn with_a_preference() -> Self {
        let project = Self::new();
        let id = project.asks_preference("42")["question_id"].as_str().unwrap().to_owned();
        project.ok(&["answer", &id, "--answer", "spaces", "--by", "human:alice"]);
        for item in ["43", "44"] {
            project.ok(&["item", "add", item, "--title", "More"]);
            project.ok(&["item", "move", item, "--to", "implement"]);
        }
        project
    }

    /// The engineer asks a human what they prefer. Returns the reply.
    pub(crate) fn asks_preference(&self, item: &str) -> Value {
        let ask = ["ask", "--item", item, "--from", "engineer", "--to", "human", "--kind", "preference"];
        self.ok(&[&ask[..], &["--topic", "Indentation", "--question", "Tabs or spaces?"]].concat())
    }

    /// The engineer puts a decision on item 42 on record.
    pub(crate) fn assumes(&self, decision: &str, risk: &str, confidence: &str) {
        self.ok(&[
            "assume",
            "--item",
            "42",
            "--agent",
            "engineer",
            "--decision",
            decision,
            "--reasoning",
            "it is so everywhere",
            "--confidence",
            confidence,
            "--risk",
            risk,
        ]);
    }

    /// The engineer asks a human on item 42 and waits. Returns the question's id.
    pub(crate) fn asks_human(&self) -> String {
        self.asks_human_with(&[])
    }

    /// The same with more options.
    pub(crate) fn asks_human_with(&self, more: &[&str]) -> String {
        let ask = [
            "ask",
            "--item",
            "42",
            "--from",
            "engineer",
            "--to",
            "human",
            "--topic",
            "Store",
            "--question",
            "Where?",
            "--option",
            "redis=Redis",
            "--option",
            "sql=The SQL database",
        ];
        let reply = self.ok(&ask.into_iter().chain(more.iter().copied()).collect::<Vec<_>>());
        reply["question_id"].as_str().unwrap().to_owned()
    }

    /// Everything that is in the directory, to see that nothing was added.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in dir.read_dir().unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(self.path()).unwrap().display().to_string());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

impl Output {
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The envelope, which must be one line and all that was printed.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stderr, "", "stderr is silent with --json");
        assert_eq!(self.stdout.lines().count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }

    pub(crate) fn data(&self) -> Value {
        let json = self.json();
        assert_eq!((self.code, &json["ok"]), (0, &Value::Bool(true)), "{json}");
        json["data"].clone()
    }

    /// The refusal, which must have this code and its exit status.
    pub(crate) fn error(&self, code: &str) -> Value {
        let json = self.json();
        let status = querent_core::Code::parse(code).unwrap().exit_status();
        assert_eq!((json["error"]["code"].as_str(), self.code), (Some(code), i32::from(status)), "{json}");
        assert_eq!(json["ok"], false);
        for field in ["message", "hint"] {
            assert!(json["error"][field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {json}");
        }
        json["error"].clone()
    }
}

fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(["--json"]).collect()
}

/// The keys of an object, in order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
