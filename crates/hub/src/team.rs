//! Running a team: items go through their workflows, each step by its agent, and agents that are asked are called.
//!
//! Nothing is kept here that matters. What is to be done follows from the items (`querent_core::work`); whoever does it claims it
//! in the journal first, and records once what came of it. So a team may be killed at any moment and another goes on.

mod call;
pub(crate) mod check;
mod crew;
mod ear;
mod gate;
mod shift;
mod turn;
mod worktree;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use querent_core::{ItemId, QuestionId, Refusal};
use tokio::sync::watch;

use crate::handle::Handle;
use crew::Crew;
use shift::Shift;

/// How a team is run.
#[derive(Clone, Debug)]
pub struct TeamOptions {
    /// The items; all that have not ended, if none is named.
    pub items: Option<BTreeSet<ItemId>>,
    /// How many are worked on at a time; without it, as the config says.
    pub parallel: Option<usize>,
    /// Whether it stops as soon as nothing can go on without waiting.
    pub once: bool,
    /// How slowly scripted agents work: 1 as they say, 0 without a pause.
    pub pace: f64,
    /// The program that serves MCP to agents: Querent's own binary.
    pub program: Option<PathBuf>,
}

impl Default for TeamOptions {
    fn default() -> Self {
        Self { items: None, parallel: None, once: false, pace: 1.0, program: None }
    }
}

/// How a run of a team ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamEnd {
    /// There is nothing left for agents to do.
    Done,
    /// Nothing can go on without waiting.
    Waits,
    /// Somebody stopped it.
    Stopped,
}

/// A team of a project. Cheap to clone.
#[derive(Clone)]
pub struct Team {
    crew: Arc<Crew>,
    options: TeamOptions,
}

impl Team {
    /// The team of the hub's project, which must be on disk.
    pub fn open(hub: &Handle, options: TeamOptions) -> Result<Self, Refusal> {
        Ok(Self { crew: Arc::new(Crew::open(hub, &options)?), options })
    }

    /// Works until there is nothing left to do, or until `stop` becomes true. Needs a tokio runtime.
    pub async fn run(&self, stop: watch::Receiver<bool>) -> Result<TeamEnd, Refusal> {
        Shift::begin(Arc::clone(&self.crew), &self.options)?.work(stop).await
    }

    /// Calls the agents that are asked, and works on nothing else, until it is dropped or stopped.
    pub async fn route(&self, stop: watch::Receiver<bool>) -> Result<(), Refusal> {
        let options = TeamOptions { parallel: Some(0), once: false, ..self.options.clone() };
        Shift::begin(Arc::clone(&self.crew), &options)?.work(stop).await.map(drop)
    }

    /// Calls the agent that is asked this question, if it can be invoked and nobody does so, and goes on with what follows until
    /// the question waits for an agent no more.
    pub async fn ask(&self, question: &QuestionId) -> Result<(), Refusal> {
        call::until_answered(&self.crew, question).await
    }
}
