//! MCP on stdio: `querent`, and a server that is written with `FastMCP` and keeps everything in memory.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::MOST_CLIENTS;
use super::question::{self, ANSWER, OPTIONS};
use super::subject::{About, Sample, Subject, answers_in, share};
use crate::Outcome;
use crate::commands::project;
use crate::mcp::stdio;
use crate::process::version;
use crate::rows::scratch;

/// Which program is on the other end.
#[derive(Clone, Copy)]
pub(super) enum Whose {
    Ours,
    FastMcp,
}

impl Whose {
    /// The question of a client, as the tool takes it.
    pub(super) fn question(self, client: usize) -> Value {
        let prompt = question::prompt();
        match self {
            Self::Ours => {
                let item = (client + 1).to_string();
                question::with(json!({ "item": item, "to": "architect", "prompt": prompt, "wait_seconds": 0 }))
            }
            Self::FastMcp => json!({ "prompt": prompt, "options": OPTIONS }),
        }
    }

    /// How it is waited for.
    pub(super) fn wait(self, id: &Value) -> Value {
        match self {
            Self::Ours => json!({ "question_id": id, "wait_seconds": 50 }),
            Self::FastMcp => json!({ "question_id": id }),
        }
    }
}

/// Both speak MCP, so what a cycle is does not depend on how they are reached.
trait Talk: Send {
    fn ask(&mut self, question: &Value) -> Outcome<Value>;
    fn begin_to_wait(&mut self, wait: &Value) -> Outcome<()>;
    fn answer(&mut self, answer: &Value) -> Outcome<()>;
    fn woken(&mut self) -> Outcome<Value>;
}

fn cycle(talk: &mut dyn Talk, whose: Whose, client: usize) -> Outcome<()> {
    let id = talk.ask(&whose.question(client))?["question_id"].clone();
    talk.begin_to_wait(&whose.wait(&id))?;
    talk.answer(&json!({ "question_id": id, "answer": ANSWER }))?;
    let woken = talk.woken()?;
    if woken["status"] == "answered" { Ok(()) } else { Err(format!("woken for nothing: {woken}").into()) }
}

/// The cycles of some clients.
fn run(talks: &mut [Box<dyn Talk>], whose: Whose, cycles: usize) -> Outcome<Sample> {
    share(talks.iter_mut().enumerate().map(|(number, talk)| client(&mut **talk, whose, number)).collect(), cycles)
}

fn client(talk: &mut dyn Talk, whose: Whose, number: usize) -> impl FnMut() -> Outcome<()> + Send {
    move || cycle(talk, whose, number)
}

/// A process for who asks and waits, and another for who answers; of `FastMCP` both are the same one, which has it in memory.
struct OverPipes {
    asker: stdio::Server,
    answerer: Option<stdio::Server>,
    /// What came before it was asked for.
    woken: Option<String>,
}

impl Talk for OverPipes {
    fn ask(&mut self, question: &Value) -> Outcome<Value> {
        self.asker.call("question_create", question)
    }

    fn begin_to_wait(&mut self, wait: &Value) -> Outcome<()> {
        self.asker.send(&crate::mcp::call(WAITS, "await_answer", wait))
    }

    fn answer(&mut self, answer: &Value) -> Outcome<()> {
        if let Some(answerer) = &mut self.answerer {
            return answerer.call("question_answer", answer).map(drop);
        }
        self.asker.send(&crate::mcp::call(1, "question_answer", answer))?;
        // Either of the two may reply first.
        loop {
            let line = self.asker.line()?;
            if line.contains(&format!("\"id\":{WAITS}")) {
                self.woken = Some(line);
            } else {
                return crate::mcp::said(&line).map(drop);
            }
        }
    }

    fn woken(&mut self) -> Outcome<Value> {
        match self.woken.take() {
            Some(line) => crate::mcp::said(&line),
            None => crate::mcp::said(&self.asker.line()?),
        }
    }
}

/// The number of the call that waits.
const WAITS: usize = 7;

/// Servers on pipes, a new set for each client.
pub(crate) struct McpOverPipes {
    talks: Vec<Box<dyn Talk>>,
    dir: PathBuf,
    whose: Program,
}

/// What is started for each client.
enum Program {
    Ours(PathBuf),
    /// The Python, the program and the version.
    FastMcp(PathBuf, String, String),
}

impl McpOverPipes {
    pub(crate) fn ours(run: &Path, binary: PathBuf) -> Outcome<Self> {
        let dir = scratch(run)?;
        project(&dir, MOST_CLIENTS)?;
        Ok(Self { talks: Vec::new(), dir, whose: Program::Ours(binary) })
    }

    pub(crate) fn fastmcp(run: &Path, python: PathBuf, program: String, version: String) -> Outcome<Self> {
        Ok(Self { talks: Vec::new(), dir: scratch(run)?, whose: Program::FastMcp(python, program, version) })
    }

    fn talk(&self) -> Outcome<Box<dyn Talk>> {
        let (asker, answerer) = match &self.whose {
            Program::FastMcp(python, program, _) => {
                (stdio::Server::start(python, &[program, "stdio"], &self.dir)?, None)
            }
            Program::Ours(binary) => {
                let of = |agent| stdio::Server::start(binary, &["mcp", "--agent", agent], &self.dir);
                (of("engineer")?, Some(of("architect")?))
            }
        };
        Ok(Box::new(OverPipes { asker, answerer, woken: None }))
    }
}

impl Subject for McpOverPipes {
    fn about(&self) -> About {
        match &self.whose {
            Program::Ours(_) => About {
                key: "querent-mcp-stdio",
                name: "Querent, MCP on stdio".to_owned(),
                version: version().to_owned(),
                durable: true,
                setting: "`querent mcp` as it comes: a process for who asks and waits and one for who answers, for each client."
                    .to_owned(),
            },
            Program::FastMcp(.., version) => About {
                key: "fastmcp-stdio",
                name: "FastMCP on stdio".to_owned(),
                version: version.clone(),
                durable: false,
                setting: "Questions in memory, so one process for who asks, waits and answers, for each client.".to_owned(),
            },
        }
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        while self.talks.len() < clients {
            self.talks.push(self.talk()?);
        }
        let whose = match &self.whose {
            Program::Ours(_) => Whose::Ours,
            Program::FastMcp(..) => Whose::FastMcp,
        };
        run(&mut self.talks[..clients], whose, cycles)
    }

    fn project(&self) -> Option<&Path> {
        matches!(self.whose, Program::Ours(_)).then_some(&*self.dir)
    }

    fn end(self: Box<Self>) -> Outcome<Option<usize>> {
        let Self { talks, dir, whose } = *self;
        drop(talks);
        match whose {
            Program::Ours(_) => answers_in(&dir).map(Some),
            Program::FastMcp(..) => Ok(None),
        }
    }
}
