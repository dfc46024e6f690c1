//! MCP over HTTP: `querent`, and a server that is written with `FastMCP` and keeps everything in memory.

use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::runtime::Runtime;

use super::MOST_CLIENTS;
use super::mcp::{Whose, id_in};
use super::question::ANSWER;
use super::subject::{About, Sample, Subject, answers_in, share_here};
use crate::Outcome;
use crate::commands::project;
use crate::mcp::http;
use crate::process::{one_thread, version};
use crate::rows::scratch;
use crate::served::Server;

/// One asks and waits, and one answers, each on a connection of its own.
struct OverHttp {
    asker: http::Client,
    answerer: http::Client,
}

impl OverHttp {
    async fn cycle(&mut self, whose: Whose, client: usize) -> Outcome<()> {
        let question = whose.question(client);
        let id = match whose {
            Whose::Ours => self.asker.begin_to_wait("question_create", &question).await?,
            Whose::FastMcp => {
                let id = id_in(&self.asker.call("question_create", &question).await?)?;
                self.asker.begin("await_answer", &json!({ "question_id": id })).await?;
                id
            }
        };
        self.answerer.call("question_answer", &json!({ "question_id": id, "answer": ANSWER })).await?;
        let woken = self.asker.end().await?;
        if woken["status"] == "answered" { Ok(()) } else { Err(format!("woken for nothing: {woken}").into()) }
    }
}

/// A server that many clients reach over HTTP.
pub(crate) struct McpOverHttp {
    server: Server,
    dir: PathBuf,
    whose: Whose,
    fastmcp: String,
    runtime: Runtime,
}

impl McpOverHttp {
    pub(crate) fn ours(run: &Path, binary: &Path) -> Outcome<Self> {
        let dir = scratch(run)?;
        project(&dir, MOST_CLIENTS)?;
        let server = Server::start(binary, &["serve", "--listen", "127.0.0.1:PORT"], &dir)?;
        Ok(Self { server, dir, whose: Whose::Ours, fastmcp: String::new(), runtime: one_thread()? })
    }

    pub(crate) fn fastmcp(run: &Path, python: &Path, program: &str, version: String) -> Outcome<Self> {
        let dir = scratch(run)?;
        let server = Server::start(python, &[program, "http", "PORT"], &dir)?;
        Ok(Self { server, dir, whose: Whose::FastMcp, fastmcp: version, runtime: one_thread()? })
    }
}

impl Subject for McpOverHttp {
    fn about(&self) -> About {
        match self.whose {
            Whose::Ours => About {
                key: "querent-mcp-http",
                name: "Querent, MCP over HTTP".to_owned(),
                version: version().to_owned(),
                durable: true,
                setting:
                    "`querent serve` as it comes; a client asks and waits in one call, which tells the question's id \
                    while it waits; who answers has a session of its own."
                        .to_owned(),
            },
            Whose::FastMcp => About {
                key: "fastmcp-http",
                name: "FastMCP over HTTP".to_owned(),
                version: self.fastmcp.clone(),
                durable: false,
                setting:
                    "Questions in memory; json_response=True, uvloop and httptools; a client asks in one call and \
                    waits in another; sessions as for Querent."
                        .to_owned(),
            },
        }
    }

    fn run(&mut self, clients: usize, cycles: usize) -> Outcome<Sample> {
        let [asker, answerer] = match self.whose {
            Whose::Ours => ["/mcp/engineer", "/mcp/architect"],
            Whose::FastMcp => ["/mcp", "/mcp"],
        };
        let (port, whose) = (self.server.port(), self.whose);
        self.runtime.block_on(async {
            let mut connected = Vec::new();
            for number in 0..clients {
                let mut talk = OverHttp {
                    asker: http::Client::connect(port, asker).await?,
                    answerer: http::Client::connect(port, answerer).await?,
                };
                connected.push(async move || talk.cycle(whose, number).await);
            }
            share_here(connected, cycles).await
        })
    }

    fn project(&self) -> Option<&Path> {
        matches!(self.whose, Whose::Ours).then_some(&*self.dir)
    }

    fn end(self: Box<Self>) -> Outcome<Option<usize>> {
        // It is killed.
        drop(self.server);
        match self.whose {
            Whose::Ours => answers_in(&self.dir).map(Some),
            Whose::FastMcp => Ok(None),
        }
    }
}
