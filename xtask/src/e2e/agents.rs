//! The real agents, each with a model of ours on loopback: their model asks through Querent's MCP server, a person
//! answers in another process, and the agent ends with the answer.

mod dialect;
mod model;
mod programs;
mod run;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::cache::Cache;
use super::npm::Packages;
use super::project::{Project, hold, list, same, words};
use super::{Case, Need, Suite};
use model::{FINAL, Model};
use programs::Program;
use run::{Finished, Run};

pub(super) const SUITE: Suite = Suite {
    name: "agents",
    about: "Claude Code, Codex, opencode and Gemini CLI ask a person",
    needs: &[Need {
        what: "the agents, from npm",
        is_met: |cache| PACKAGES.are_installed(cache),
        install: Some(|cache| PACKAGES.install(cache)),
        cure: "install Node.js 22 or newer with npm, and let npm reach its registry",
    }],
    cases: &[
        Case { name: "Claude Code asks, a person answers, and it goes on with the answer", run: claude },
        Case { name: "Codex asks, a person answers, and it goes on with the answer", run: codex },
        Case { name: "opencode asks, a person answers, and it goes on with the answer", run: opencode },
        Case { name: "Gemini CLI asks, a person answers, and it goes on with the answer", run: gemini },
    ],
};

const PACKAGES: Packages = Packages { folder: "agents", lock: include_str!("../../e2e/agents/package-lock.json") };

fn claude(binary: &Path) -> Result<(), String> {
    Scene::new(&programs::CLAUDE, binary)?.asks_and_goes_on()
}

fn codex(binary: &Path) -> Result<(), String> {
    Scene::new(&programs::CODEX, binary)?.asks_and_goes_on()
}

fn opencode(binary: &Path) -> Result<(), String> {
    Scene::new(&programs::OPENCODE, binary)?.asks_and_goes_on()
}

fn gemini(binary: &Path) -> Result<(), String> {
    Scene::new(&programs::GEMINI, binary)?.asks_and_goes_on()
}

/// What the model asks; it is not told the answer's value in any other way than by the answer.
fn question() -> Value {
    json!({
        "item": "42", "to": "human", "topic": "Tokens", "prompt": "JWT or cookies?", "blocking": true,
        "options": [{"id": "jwt", "label": "JSON Web Token"}, {"id": "cookie", "label": "Session cookie"}],
        "wait_seconds": 40,
    })
}

/// A project with its agent, the agent's home and its model.
struct Scene {
    program: &'static Program,
    project: Project,
    home: TempDir,
    model: Model,
    path: std::ffi::OsString,
    file: std::path::PathBuf,
}

impl Scene {
    fn new(program: &'static Program, binary: &Path) -> Result<Self, String> {
        let cache = Cache::of_user()?;
        let project = Project::new(binary)?;
        let home = TempDir::with_prefix("querent-home-").map_err(|error| error.to_string())?;
        let model = Model::start(question())?;
        (program.settle)(home.path(), project.folder(), &model.url())?;
        programs::register(program, project.folder(), binary)?;
        let path = PACKAGES.path(&cache, binary.parent().unwrap_or(binary).to_owned())?;
        let file = PACKAGES.program(&cache, program.name);
        Ok(Self { program, project, home, model, path, file })
    }

    /// The program with a prompt. It sees nothing of the caller's environment, and its one way out is the model, which
    /// opens no way for anybody.
    fn command(&self, more: &[&str]) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.file);
        command.args(self.program.arguments).args(more).current_dir(self.project.folder());
        command.env_clear().env("PATH", &self.path).env("HOME", home).env("TMPDIR", home);
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("NO_COLOR", "1").env("CI", "1");
        let folders = [("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state"), ("CACHE", ".cache")];
        for (name, folder) in folders {
            command.env(format!("XDG_{name}_HOME"), home.join(folder));
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, self.model.url());
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        command.envs((self.program.environment)(&self.model.url()));
        command
    }

    fn asks_and_goes_on(self) -> Result<(), String> {
        self.played().map_err(|why| format!("{why}\nthe model saw: {}", self.model.seen().join("\n")))
    }

    fn played(&self) -> Result<(), String> {
        let command = self.command(&["Find out what is to be used for the tokens."]);
        let mut run = Run::start(command, self.home.path(), &self.project)?;
        run.wait_for("question_asked")?;
        self.answer("cookie")?;
        let finished = run.finish()?;
        self.ended_with("cookie", &finished)?;
        self.was_asked_once()?;
        let strangers = self.model.strangers();
        hold(strangers.is_empty(), || format!("{} wanted more than its model: {strangers:?}", self.program.name))
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
