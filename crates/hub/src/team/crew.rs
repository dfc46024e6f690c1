//! What all turns of a team share: the hub, the providers, the worktrees.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use querent_agents::{Failure, FailureKind, McpServer, Provider};
use querent_core::{
    Action, AgentName, Claim, Code, Command, Item, ItemId, Party, Process, ProviderConfig, Question, QuestionId,
    Refusal, Span, Via,
};

use tokio::sync::watch;

use super::TeamOptions;
use super::worktree::Worktrees;
use crate::handle::Handle;
use crate::processes;

/// How long a claim is believed whose process cannot be seen from here.
const LEASE: Span = Span::minutes(5);
/// How long it rests when the project cannot be written.
pub(super) const REST: Duration = Duration::from_secs(1);
/// How often in a row that may be so before it gives up.
pub(super) const PATIENCE: u32 = 30;

pub(super) struct Crew {
    pub(super) hub: Handle,
    /// The project's directory.
    pub(super) root: PathBuf,
    /// This process.
    pub(super) process: Option<Process>,
    /// Where items are worked on; none if that is the project's directory.
    pub(super) trees: Option<Worktrees>,
    pace: f64,
    program: Option<PathBuf>,
    providers: Mutex<BTreeMap<String, Invoked>>,
}

/// A provider as the config says it, and as it was made from that.
type Invoked = (ProviderConfig, Arc<dyn Provider>);

impl Crew {
    pub(super) fn open(hub: &Handle, options: &TeamOptions) -> Result<Self, Refusal> {
        let root = hub.root().ok_or_else(|| {
            let message = "a team is run in a project on disk";
            Refusal::new(Code::NoProject, message, "make one here with: querent init")
        })?;
        let rules = hub.rules()?;
        let trees = if rules.config.run.worktrees { Worktrees::open(&root)? } else { None };
        Ok(Self {
            hub: hub.clone(),
            root,
            process: processes::process(std::process::id()).ok(),
            trees,
            pace: options.pace,
            program: options.program.clone(),
            providers: Mutex::default(),
        })
    }

    /// How an agent is invoked, as the config says now.
    pub(super) fn provider(&self, agent: &AgentName) -> Result<Invoked, Failure> {
        let unavailable = |message: String| Failure::new(FailureKind::Unavailable, message);
        let rules = self.hub.rules().map_err(|refusal| unavailable(refusal.message))?;
        let name = rules.agent(agent).ok().and_then(|it| it.provider.clone());
        let name = name.ok_or_else(|| unavailable(format!("{agent} has no provider")))?;
        let config = rules.config.providers.get(&name).cloned();
        let config = config.ok_or_else(|| unavailable(format!("there is no provider `{name}` in the config")))?;
        let mut known = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, provider)) = known.get(&name).filter(|(it, _)| *it == config) {
            return Ok((config, Arc::clone(provider)));
        }
        let provider = querent_agents::provider(&config, &self.root, self.pace)?;
        known.insert(name, (config.clone(), Arc::clone(&provider)));
        Ok((config, provider))
    }

    /// Whether Querent can invoke an agent.
    pub(super) fn invokes(&self, agent: &AgentName) -> bool {
        self.hub.rules().is_ok_and(|rules| rules.agent(agent).is_ok_and(|it| it.provider.is_some()))
    }

    /// Querent's MCP server for an agent on an item.
    pub(super) fn mcp(&self, agent: &AgentName, item: &ItemId) -> Option<McpServer> {
        let project = self.root.to_string_lossy().into_owned();
        let arguments = ["mcp", "--project", &project, "--agent", agent.as_str(), "--item", item.as_str()];
        let arguments = arguments.map(str::to_owned).to_vec();
        Some(McpServer { program: self.program.clone()?, arguments })
    }

    /// What an agent's program finds in its environment.
    pub(super) fn environment(agent: &AgentName, item: &ItemId) -> BTreeMap<String, String> {
        [("QUERENT_AGENT", agent.as_str()), ("QUERENT_ITEM", item.as_str())]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    pub(super) async fn item(&self, id: &ItemId) -> Result<Item, Refusal> {
        let id = id.clone();
        self.off(move |crew| crew.item(&id)).await
    }

    pub(super) async fn question(&self, id: &QuestionId) -> Result<Question, Refusal> {
        let id = id.clone();
        self.off(move |hub| hub.question(&id)).await
    }

    /// Something that Querent itself does, if it is so still. Says whether it was.
    pub(super) async fn deed(&self, item: &ItemId, action: Action) -> Result<bool, Refusal> {
        let command = Command { item: item.clone(), by: Party::Querent, via: Via::Team, action };
        self.off(move |hub| hub.own_deed(command)).await
    }

    /// The same for what must be on record, whatever it takes: the end of what was begun.
    pub(super) async fn surely(&self, item: &ItemId, action: Action) -> Result<bool, Refusal> {
        let mut tries = 0;
        loop {
            let done = self.deed(item, action.clone()).await;
            match done {
                Err(Refusal { code: Code::LockTimeout | Code::StorageError, .. }) if tries < PATIENCE => {
                    tries += 1;
                    tokio::time::sleep(REST).await;
                }
                done => return done,
            }
        }
    }

    /// What may wait for a lock or the disk runs on a thread of its own.
    pub(super) async fn off<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Handle) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let hub = self.hub.clone();
        off(move || job(&hub)).await
    }

    /// Whether nobody is behind a claim any more.
    pub(super) fn is_void(&self, claim: &Claim) -> bool {
        let runs = claim.process.as_ref().and_then(processes::runs);
        runs.map_or_else(|| self.hub.now().since(claim.at) > LEASE, |runs| !runs)
    }
}

/// What may block runs on a thread of its own.
pub(super) async fn off<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(job).await.unwrap_or_else(|error| {
        let message = format!("a thread of the team broke off: {error}");
        Err(Refusal::new(Code::StorageError, message, "start it again: querent run"))
    })
}

/// Waits until the team is to stop.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // One whose holder is gone is to stop as well.
    let _ = stop.wait_for(|stop| *stop).await;
}
