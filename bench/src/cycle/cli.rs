//! The command line: a process asks, a second waits, a third answers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::MOST_CLIENTS;
use super::question::{ANSWER, OPTIONS, TOPIC, prompt};
use super::subject::{About, Sample, Subject, answers_in, share};
use crate::Outcome;
use crate::commands::project;
use crate::process::{querent, version};
use crate::rows::scratch;

pub(crate) struct Cli {
    dir: PathBuf,
    binary: PathBuf,
    /// Whether a process waits for the answer.
    waits: bool,
}

impl Cli {
    /// One whose answers are waited for.
    pub(crate) fn start(run: &Path, binary: PathBuf) -> Outcome<Self> {
        Self::new(run, binary, true)
    }

    /// One that asks and answers, in two processes.
    pub(crate) fn pairs(run: &Path) -> Outcome<Self> {
        Self::new(run, querent()?, false)
    }

    fn new(run: &Path, binary: PathBuf, waits: bool) -> Outcome<Self> {
        let dir = scratch(run)?;
        project(&dir, MOST_CLIENTS)?;
        Ok(Self { dir, binary, waits })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(&self.dir).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        command
    }

    fn cycle(&self, item: &str) -> Outcome<()> {
        let prompt = prompt();
        let [one, other] = OPTIONS.map(|it| format!("{}={it}", it.to_lowercase()));
        let ask = ["ask", "--item", item, "--from", "engineer", "--topic", TOPIC, "--question", &prompt];
        let options = ["--option", &one, "--option", &other, "--json"];
        let asked = said(&self.command(&ask).args(options).output()?.stdout)?;
        let id = asked["question_id"].as_str().ok_or("no question")?;
        let waiter =
            self.waits.then(|| self.command(&["await", id, "--timeout", "60s", "--json"]).spawn()).transpose()?;
        said(&self.command(&["answer", id, "--by", "architect", "--answer", ANSWER, "--json"]).output()?.stdout)?;
        if let Some(waiter) = waiter {
            let woken = said(&waiter.wait_with_output()?.stdout)?;
            if woken["answer"]["text"] != ANSWER {
                return Err(format!("woken for nothing: {woken}").into());
            }
        }
        Ok(())
    }
}

impl Subject for Cli {
    fn about(&self) -> About {
        let setting = if self.waits {
            "A process asks, a second waits for the answer, a third answers; all of them come and go."
        } else {
            "A process asks, a second answers; nobody waits."
        };
        About {
            key: if self.waits { "querent-cli" } else { "querent-cli-pairs" },
            name: if self.waits { "Querent, command line" } else { "Querent, command line, ask + answer" }.to_owned(),
            version: version().to_owned(),
            durable: true,
            setting: setting.to_owned(),
        }
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        let cli = &*self;
        share((1..=clients).map(|client| move || cli.cycle(&client.to_string())).collect(), cycles)
    }

    fn end(self: Box<Self>) -> Outcome<Option<usize>> {
        answers_in(&self.dir).map(Some)
    }
}

/// The data of an envelope that says yes.
fn said(output: &[u8]) -> Outcome<Value> {
    let mut envelope: Value = serde_json::from_slice(output)?;
    if envelope["ok"] == true { Ok(envelope["data"].take()) } else { Err(format!("refused: {envelope}").into()) }
}
