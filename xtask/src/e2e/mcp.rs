//! The MCP server on stdio, with clients that others wrote: the inspector, and the official clients in both eras of the
//! protocol.

mod driver;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::npm::Packages;
use super::project::{Project, hold, list, same, words};
use super::{Case, Need, Suite};
use crate::cache::Cache;
use crate::python;
use driver::{Client, Driver};

pub(super) const SUITE: Suite = Suite {
    name: "mcp",
    about: "the MCP server, with the inspector and the official clients",
    needs: &[
        Need {
            what: "the MCP inspector and the TypeScript client, from npm",
            is_met: |cache| PACKAGES.are_installed(cache),
            install: Some(|cache| PACKAGES.install(cache)),
            cure: "install Node.js 22 or newer with npm, and let npm reach its registry",
        },
        Need {
            what: "the Python client, from PyPI",
            is_met: |cache| PYTHON.are_installed(cache),
            install: Some(|cache| PYTHON.install(cache)),
            cure: "install Python 3.11 or newer with its module venv, and let pip reach its index",
        },
    ],
    cases: &[
        Case { name: "the inspector lists the tools and finds no error in their schemas", run: inspector_lists },
        Case { name: "the inspector asks, and waits until a person answers", run: inspector_asks },
        Case { name: "the inspector is killed while it waits: the question stays open", run: inspector_is_killed },
        Case {
            name: "the TypeScript client, older era: asks, waits, cancels, errs, shows a form",
            run: |it| client(it, Driver::TypeScript, "legacy"),
        },
        Case {
            name: "the TypeScript client, current era: asks, waits, cancels, errs, shows a form",
            run: |it| client(it, Driver::TypeScript, "auto"),
        },
        Case {
            name: "the Python client, older era: asks, waits, cancels, errs, shows a form",
            run: |it| client(it, Driver::Python, "legacy"),
        },
        Case {
            name: "the Python client, current era: asks, waits, cancels, errs, shows a form",
            run: |it| client(it, Driver::Python, "auto"),
        },
    ],
};

const PYTHON: python::Packages = python::Packages { folder: "mcp-python", file: "xtask/e2e/mcp/requirements.txt" };

const PACKAGES: Packages = Packages { folder: "mcp", lock: include_str!("../../e2e/mcp/package-lock.json") };

/// The tools, in their order.
const TOOLS: [&str; 12] = [
    "question_create",
    "question_list",
    "question_answer",
    "question_follow_up",
    "question_resolve",
    "question_escalate",
    "question_withdraw",
    "await_answer",
    "get_context",
    "record_assumption",
    "report_status",
    "lock_files",
];

/// A project, and a home for a client.
struct Scene {
    binary: PathBuf,
    project: Project,
    home: TempDir,
    cache: Cache,
}

impl Scene {
    fn new(binary: &Path) -> Result<Self, String> {
        let home = TempDir::with_prefix("querent-home-").map_err(|error| error.to_string())?;
        Ok(Self { binary: binary.to_owned(), project: Project::new(binary)?, home, cache: Cache::of_user()? })
    }

    /// A client in the project, which sees nothing of the caller's environment.
    fn command(&self, program: &Path) -> Result<Command, String> {
        let first = self.binary.parent().unwrap_or(&self.binary).to_owned();
        let mut command = Command::new(program);
        command.current_dir(self.project.folder()).env_clear().env("HOME", self.home.path());
        command.env("PATH", PACKAGES.path(&self.cache, first)?).env("TMPDIR", self.home.path()).env("NO_COLOR", "1");
        Ok(command)
    }

    /// The inspector, which calls a method of the server.
    fn inspector(&self, arguments: &[&str]) -> Result<Client, String> {
        let mut command = self.command(&PACKAGES.program(&self.cache, "mcp-inspector"))?;
        command.arg("--cli").args(arguments).arg("--").arg(&self.binary).args(["mcp", "--agent", "engineer"]);
        self.start(command)
    }

    /// The inspector, which calls a tool.
    fn call(&self, tool: &str, arguments: &[&str]) -> Result<Client, String> {
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-arg"];
        self.inspector(&[&call[..], arguments].concat())
    }

    fn start(&self, command: Command) -> Result<Client, String> {
        Client::start(command, self.home.path().join("errors"))
    }

    /// Waits until `waiter` has asked a question.
    fn asked(&self, waiter: &mut Client) -> Result<(), String> {
        let events = Client::start(self.project.command(&["events", "--follow"]), self.home.path().join("journal"))?;
        events.wait_for(|line| line.contains("\"type\":\"question_asked\""), waiter)
    }
}

fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON ({error}): {text}"))
}

fn inspector_lists(binary: &Path) -> Result<(), String> {
    let scene = Scene::new(binary)?;
    let listed = json_of(&scene.inspector(&["--method", "tools/list", "--strict"])?.finish()?)?;
    let names: Vec<&Value> = list(&listed, "/tools")?.iter().map(|tool| &tool["name"]).collect();
    hold(names == TOOLS, || format!("the tools are {names:?}"))?;
    same(&scene.project.ok(&["state"])?, "/sessions", json!([]))
}

/// The inspector takes what looks like a number for one, so the item is left to the server.
const ASK: [&str; 4] = ["to=human", "topic=Tokens", "prompt=JWT or cookies?", "wait_seconds=40"];

fn inspector_asks(binary: &Path) -> Result<(), String> {
    let scene = Scene::new(binary)?;
    let mut waiter = scene.call("question_create", &ASK)?;
    scene.asked(&mut waiter)?;
    let look = ["question_id=CLR-42-001", "wait_seconds=0"];
    let open = json_of(&scene.call("await_answer", &look)?.finish()?)?;
    same(&open, "/structuredContent/timed_out", true)?;
    let next = words(&open, "/structuredContent/next")?;
    hold(next.contains("await_answer"), || format!("no way on: {open}"))?;
    scene.project.ok(&["answer", "CLR-42-001", "--answer", "Cookies."])?;
    let answered = json_of(&waiter.finish()?)?;
    same(&answered, "/structuredContent/answer/value", "Cookies.")
}

fn inspector_is_killed(binary: &Path) -> Result<(), String> {
    let scene = Scene::new(binary)?;
    let mut waiter = scene.call("question_create", &ASK)?;
    scene.asked(&mut waiter)?;
    drop(waiter);
    let open = scene.project.ok(&["questions", "--to", "human"])?;
    same(&open, "/questions/0/status", "open")?;
    same(&open, "/questions/0/from/agent", "engineer")
}

/// A client asks and waits while a person answers; it asks again and cancels, and the question stays; it makes mistakes. At
/// last a client with forms answers the question that stayed.
fn client(binary: &Path, driver: Driver, mode: &str) -> Result<(), String> {
    let scene = Scene::new(binary)?;
    let mut command = scene.command(&driver.program(&scene.cache))?;
    command.arg(driver.script(&scene.cache)?).arg(mode).arg(binary);
    let client = scene.start(command)?;
    let mut steps: Vec<Value> = Vec::new();
    while let Some(line) = client.line()? {
        let next = json_of(&line)?;
        if next["step"] == "waiting" && step(&steps, "waiting").is_err() {
            scene.project.ok(&["answer", "CLR-42-001", "--answer", "Cookies."])?;
        }
        steps.push(next);
    }
    client.finish()?;
    let said = |name: &str| step(&steps, name);
    let version = if mode == "legacy" { "2025-11-25" } else { "2026-07-28" };
    same(said("connected")?, "/version", version)?;
    same(said("listed")?, "/tools", json!(TOOLS))?;
    same(said("asked")?, "/data/status", "open")?;
    let answered = said("answered")?;
    same(answered, "/data/answer/value", "Cookies.")?;
    hold(words(answered, "/text")?.contains("Cookies."), || format!("the words lack the answer: {answered}"))?;
    said("cancelled")?;
    let open = said("open")?;
    same(open, "/data/questions/0/status", "open")?;
    same(open, "/data/questions/0/prompt", "And for how long?")?;
    same(open, "/data/questions/0/from/agent", "engineer")?;
    let refused = said("refused")?;
    same(refused, "/is_error", true)?;
    same(refused, "/data/code", "question_not_found")?;
    same(said("malformed")?, "/code", -32602)?;
    hold(words(said("shown")?, "/message")?.contains("And for how long?"), || {
        "the form lacks its question".to_owned()
    })?;
    let filled = said("filled")?;
    same(filled, "/data/answer/value", "A week.")?;
    same(filled, "/data/answer/via", "elicitation")?;
    said("closed")?;
    same(&scene.project.ok(&["questions", "--to", "human"])?, "/count", 0)?;
    same(&scene.project.ok(&["questions", "--status", "all"])?, "/count", 2)
}

/// The first step of this name.
fn step<'a>(steps: &'a [Value], name: &str) -> Result<&'a Value, String> {
    steps.iter().find(|step| step["step"] == name).ok_or_else(|| format!("no `{name}` in {steps:?}"))
}
