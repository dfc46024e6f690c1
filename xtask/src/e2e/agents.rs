//! The real agents, each with a model of ours on loopback: their model asks through Querent's MCP server, a person
//! answers in another process, and the agent ends with the answer.

pub(super) mod colleague;
mod deferred;
mod dialect;
mod hired;
mod model;
mod programs;
pub(super) mod resumed;
mod run;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::npm::Packages;
use super::project::{Project, hold, list, same, words};
use super::{Case, Need, Suite};
use crate::cache::Cache;
use model::{FINAL, Model};
use programs::{CLAUDE, CODEX, GEMINI, OPENCODE, Program};
use run::{Event, Finished, Queue, Run};

pub(super) const SUITE: Suite = Suite {
    name: "agents",
    about: "Claude Code, Codex, opencode and Gemini CLI ask a person",
    needs: &[NEED],
    cases: &[
        Case { name: "Claude Code asks, and has the answer in the same call", run: |it| in_one_call(it, &CLAUDE) },
        Case { name: "Claude Code asks, and waits for the answer in a second call", run: |it| in_two(it, &CLAUDE) },
        Case { name: "Claude Code pauses at its question, ends, and is resumed with the answer", run: deferred::run },
        Case { name: "Codex asks, and has the answer in the same call", run: |it| in_one_call(it, &CODEX) },
        Case { name: "Codex asks, and waits for the answer in a second call", run: |it| in_two(it, &CODEX) },
        Case { name: "opencode asks, and has the answer in the same call", run: |it| in_one_call(it, &OPENCODE) },
        Case { name: "opencode asks, and waits for the answer in a second call", run: |it| in_two(it, &OPENCODE) },
        Case { name: "Gemini CLI asks, and has the answer in the same call", run: |it| in_one_call(it, &GEMINI) },
        Case { name: "Gemini CLI asks, and waits for the answer in a second call", run: |it| in_two(it, &GEMINI) },
    ],
};

/// The programs.
pub(super) const NEED: Need = Need {
    what: "the agents, from npm",
    is_met: |cache| PACKAGES.are_installed(cache),
    install: Some(|cache| PACKAGES.install(cache)),
    cure: "install Node.js 22 or newer with npm, and let npm reach its registry",
};

const PACKAGES: Packages = Packages { folder: "agents", lock: include_str!("../../e2e/agents/package-lock.json") };

/// The call that asks waits: the person answers as soon as the question is there.
fn in_one_call(binary: &Path, program: &'static Program) -> Result<(), String> {
    let asked = |event: &Event| matches!(event, Event::Recorded(record) if record["type"] == "question_asked");
    Scene::new(program, binary, 40)?.play(|scene| {
        scene.asks_and_goes_on(asked)?;
        let calls = scene.model.seen().iter().filter(|line| line.contains(": Call {")).count();
        hold(calls == 1, || format!("{} called {calls} times", program.name))
    })
}

/// The call that asks does not wait: the person answers when the model has gone on to wait.
fn in_two(binary: &Path, program: &'static Program) -> Result<(), String> {
    let waits = |event: &Event| matches!(event, Event::Moved(line) if line.contains("await_answer"));
    Scene::new(program, binary, 0)?.play(|scene| scene.asks_and_goes_on(waits))
}

/// What the agent is told. Its model knows what to do anyway.
const PROMPT: &str = "Find out what is to be used for the tokens.";

/// What the model asks; it is not told the answer's value in any other way than by the answer.
fn question(to: &str, wait_seconds: u32) -> Value {
    json!({
        "item": "42", "to": to, "topic": "Tokens", "prompt": "JWT or cookies?", "blocking": true,
        "options": [{"id": "jwt", "label": "JSON Web Token"}, {"id": "cookie", "label": "Session cookie"}],
        "wait_seconds": wait_seconds,
    })
}

/// A project with its agent, the agent's home and its model.
struct Scene {
    program: &'static Program,
    project: Project,
    home: TempDir,
    model: Model,
    queue: Queue,
    path: OsString,
    file: PathBuf,
}

impl Scene {
    fn new(program: &'static Program, binary: &Path, wait_seconds: u32) -> Result<Self, String> {
        let cache = Cache::of_user()?;
        let project = Project::new(binary)?;
        let home = TempDir::with_prefix("querent-home-").map_err(|error| error.to_string())?;
        let queue = Queue::new();
        let sender = queue.sender.clone();
        let model = Model::start(question("human", wait_seconds), move |line| {
            // Nobody listens any more if the case is over.
            let _ = sender.send(Event::Moved(line.to_owned()));
        })?;
        (program.settle)(home.path(), project.folder(), &model.url())?;
        project.ok(&["connect", program.name, "--agent", "engineer", "--no-hooks"])?;
        let path = PACKAGES.path(&cache, binary.parent().unwrap_or(binary).to_owned())?;
        let file = PACKAGES.program(&cache, program.name);
        Ok(Self { program, project, home, model, queue, path, file })
    }

    /// The agent, with arguments after its own.
    fn agent(&self, more: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command.args(self.program.arguments).args(more);
        self.confine(&mut command);
        command
    }

    fn confine(&self, command: &mut Command) {
        let url = self.model.url();
        command.current_dir(self.project.folder());
        command.env_clear().envs(surroundings(self.home.path(), &self.path, &url));
        command.envs((self.program.environment)(&url));
    }

    /// Plays it; a failure also says what the model saw.
    fn play(self, act: impl FnOnce(&Self) -> Result<(), String>) -> Result<(), String> {
        act(&self).map_err(|why| format!("{why}\nthe model saw: {}", self.model.seen().join("\n")))?;
        let strangers = self.model.strangers();
        hold(strangers.is_empty(), || format!("{} wanted more than its model: {strangers:?}", self.program.name))
    }

    fn asks_and_goes_on(&self, is_time_to_answer: impl Fn(&Event) -> bool) -> Result<(), String> {
        let command = self.agent(&[PROMPT]);
        let mut run = Run::start(command, self.home.path(), &self.project, &self.queue)?;
        run.wait_for("a person could answer", is_time_to_answer)?;
        self.answer("cookie")?;
        let finished = run.finish()?;
        self.ended_with("cookie", &finished)?;
        self.was_asked_once()
    }

    /// What the person does who looks into the inbox.
    fn answer(&self, answer: &str) -> Result<(), String> {
        let inbox = self.project.ok(&["questions", "--to", "human"])?;
        let id = words(&inbox, "/questions/0/id")?;
        self.project.ok(&["answer", id, "--answer", answer]).map(drop)
    }

    /// It said the answer last, as data or in words; both name the option.
    fn ended_with(&self, answer: &str, finished: &Finished) -> Result<(), String> {
        let said = finished.stdout.rsplit_once(FINAL).map(|(_, said)| said);
        let is_right = said.is_some_and(|said| said.contains(answer) && !said.contains("error"));
        hold(finished.status.success() && is_right, || {
            let (status, out, err) = (finished.status, &finished.stdout, &finished.stderr);
            format!("{} ended with {status} and not with `{answer}`: {out}\n{err}", self.program.name)
        })
    }

    fn was_asked_once(&self) -> Result<(), String> {
        let all = self.project.ok(&["questions", "--status", "all"])?;
        hold(list(&all, "/questions")?.len() == 1, || format!("not one question: {all}"))?;
        same(&all, "/questions/0/from/agent", "engineer")?;
        same(&all, "/questions/0/answer/value", "cookie")?;
        same(&self.project.ok(&["item", "show", "42"])?, "/item/stage", "requirements")
    }
}

/// All that an agent sees of its surroundings: nothing of the caller's. Its one way out is the model, which opens no way for
/// anybody.
fn surroundings(home: &Path, path: &OsStr, url: &str) -> Vec<(String, OsString)> {
    let mut all: Vec<(String, OsString)> = vec![("PATH".to_owned(), path.to_owned())];
    let mut set = |name: &str, value: &OsStr| all.push((name.to_owned(), value.to_owned()));
    set("HOME", home.as_os_str());
    set("TMPDIR", home.as_os_str());
    for (name, value) in [("LANG", "C.UTF-8"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "1")] {
        set(name, OsStr::new(value));
    }
    let folders = [("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state"), ("CACHE", ".cache")];
    for (name, folder) in folders {
        set(&format!("XDG_{name}_HOME"), home.join(folder).as_os_str());
    }
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        set(name, OsStr::new(url));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        set(name, OsStr::new("127.0.0.1,localhost"));
    }
    all
}
