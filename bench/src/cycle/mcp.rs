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
                question::with(json!({ "item": item, "to": "architect", "prompt": prompt, "wait_seconds": 50 }))
            }
            Self::FastMcp => json!({ "prompt": prompt, "options": OPTIONS }),
        }
    }
}

/// The id of a question that was asked.
pub(super) fn id_in(asked: &Value) -> Outcome<String> {
    Ok(asked["question_id"].as_str().ok_or("no id")?.to_owned())
}

/// A process for who asks and waits, and another for who answers; of `FastMCP` both are the same one, which has it in memory.
struct OverPipes {
    asker: stdio::Server,
    answerer: Option<stdio::Server>,
}

impl OverPipes {
    fn cycle(&mut self, client: usize) -> Outcome<()> {
        let woken = if self.answerer.is_some() { self.in_one_call(client)? } else { self.in_two_calls(client)? };
        if woken["status"] == "answered" { Ok(()) } else { Err(format!("woken for nothing: {woken}").into()) }
    }

    /// Asks and waits in one call, which tells the question's id while it waits.
    fn in_one_call(&mut self, client: usize) -> Outcome<Value> {
        let question = Whose::Ours.question(client);
        self.asker.send(&crate::mcp::call_with_progress(WAITS, "question_create", &question))?;
        let id = crate::mcp::waited_for(&self.asker.line()?)?;
        let answerer = self.answerer.as_mut().ok_or("nobody answers")?;
        answerer.call("question_answer", &json!({ "question_id": id, "answer": ANSWER }))?;
        crate::mcp::said(&self.asker.line()?)
    }

    fn in_two_calls(&mut self, client: usize) -> Outcome<Value> {
        let id = id_in(&self.asker.call("question_create", &Whose::FastMcp.question(client))?)?;
        self.asker.send(&crate::mcp::call(WAITS, "await_answer", &json!({ "question_id": id })))?;
        let answer = json!({ "question_id": id, "answer": ANSWER });
        self.asker.send(&crate::mcp::call(1, "question_answer", &answer))?;
        // Either of the two may reply first.
        let replies = [self.asker.line()?, self.asker.line()?];
        let is_woken = |line: &&String| line.contains(&format!("\"id\":{WAITS}"));
        crate::mcp::said(replies.iter().find(|it| !is_woken(it)).ok_or("no reply to the answer")?)?;
        crate::mcp::said(replies.iter().find(is_woken).ok_or("nobody was woken")?)
    }
}

/// The number of the call that waits.
const WAITS: usize = 7;

/// Servers on pipes, a new set for each client.
pub(crate) struct McpOverPipes {
    talks: Vec<OverPipes>,
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

    fn talk(&self) -> Outcome<OverPipes> {
        let (asker, answerer) = match &self.whose {
            Program::FastMcp(python, program, _) => {
                (stdio::Server::start(python, &[program, "stdio"], &self.dir)?, None)
            }
            Program::Ours(binary) => {
                let of = |agent| stdio::Server::start(binary, &["mcp", "--agent", agent], &self.dir);
                (of("engineer")?, Some(of("architect")?))
            }
        };
        Ok(OverPipes { asker, answerer })
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
                setting: "`querent mcp` as it comes: a process for who asks and waits, in one call, and one for who answers, \
                    for each client."
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
        let talks = self.talks[..clients].iter_mut().enumerate();
        share(talks.map(|(number, talk)| move || talk.cycle(number)).collect(), cycles)
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
