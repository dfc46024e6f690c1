//! A project with a team: what its agents say is written down beforehand, and time passes only where a test says so.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use querent_core::event::{SaidKind, TurnEnded, TurnOutcome};
use querent_core::{Action, Envelope, Event, ItemId, Question, Record};
use querent_hub::{Clock, Follower, Handle, ManualClock, Project, Team, TeamEnd, TeamOptions};
use querent_journal::Files;
use querent_journal::files::Options;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::support::{accepted, command, id, opens, ten};

/// How long something may take that is to happen by itself: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_mins(2);

/// An agent that keeps each prompt in a file of its own, and says what `on` has for that turn.
const LISTENS: &str = "n=$(($(ls prompt.* 2>/dev/null | wc -l) + 1))\ncat > prompt.$n\n";

/// A project whose agents are invoked by Querent.
pub(crate) struct Workshop {
    dir: TempDir,
    pub(crate) project: Project,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) hub: Handle,
}

impl Workshop {
    /// One with a shipped workflow, all of whose agents play a script.
    pub(crate) fn new(workflow: &str, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), Some("shop"), workflow).unwrap();
        fs::write(dir.path().join("script.yaml"), script).unwrap();
        let clock = Arc::new(ManualClock::new(ten()));
        let hub = on_files(&project, &clock, "test");
        let shop = Self { dir, project, clock, hub };
        shop.edit("config.toml", |config| {
            let config = config.replace("rank = ", "provider = \"script\"\nrank = ");
            format!("{config}\n[providers.script]\nkind = \"scripted\"\nscript = \"script.yaml\"\n")
        });
        shop
    }

    /// One of a single step and agent.
    pub(crate) fn small(script: &str) -> Self {
        Self::steps("[[steps]]\nname = \"build\"\nagent = \"builder\"\ncan_clarify = [\"planner\"]\n", script)
    }

    /// One with the agents of the waves, and these steps.
    pub(crate) fn steps(steps: &str, script: &str) -> Self {
        let shop = Self::new("waves", script);
        shop.edit("workflows/waves.toml", |_| format!("name = \"waves\"\n{steps}"));
        shop
    }

    /// An agent is a program now: it keeps its prompts, and does what the shell script says for turn `$n`.
    pub(crate) fn program(self, agent: &str, script: &str) -> Self {
        let file = self.root().join(format!("{agent}.sh"));
        fs::write(&file, format!("{LISTENS}{script}\n")).unwrap();
        self.configured(agent, &format!("kind = \"command\"\ncommand = [\"sh\", \"{}\"]", file.display()))
    }

    /// An agent has a provider of its own.
    pub(crate) fn configured(self, agent: &str, provider: &str) -> Self {
        self.edit("config.toml", |config| {
            let (known, own) = ("provider = \"script\"", format!("provider = \"of-{agent}\""));
            let config = config.replace(&format!("[agents.{agent}]\n{known}"), &format!("[agents.{agent}]\n{own}"));
            format!("{config}\n[providers.of-{agent}]\n{provider}\n")
        });
        self
    }

    /// An agent listens.
    pub(crate) fn listener(self, agent: &str, event: &str) -> Self {
        let (known, more) = (format!("[agents.{agent}]\n"), format!("[agents.{agent}]\non = [\"{event}\"]\n"));
        self.edit("config.toml", |config| config.replace(&known, &more));
        self
    }

    /// The project is a git repository with a commit.
    pub(crate) fn in_git(self) -> Self {
        let git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            let known = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let done = git.args(known).args(arguments).current_dir(self.root()).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        fs::write(self.root().join("a.txt"), "one\n").unwrap();
        git(&["init", "--quiet"]);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", "begin"]);
        self
    }

    pub(crate) fn edit(&self, file: &str, edit: impl FnOnce(String) -> String) {
        let path = self.project.dir().join(file);
        fs::write(&path, edit(fs::read_to_string(&path).unwrap())).unwrap();
    }

    pub(crate) fn with_items(self, items: &[&str]) -> Self {
        for item in items {
            accepted(&self.hub, &opens(item));
        }
        self
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// What another process on the same project has in hand.
    pub(crate) fn another_process(&self) -> Handle {
        on_files(&self.project, &self.clock, "other")
    }

    /// The process ends and another one comes: it knows every edit, which one that runs may notice a moment later.
    pub(crate) fn begun_anew(self) -> Self {
        let hub = on_files(&self.project, &self.clock, "test");
        Self { hub, ..self }
    }

    /// What the agent that is a program was told in a turn.
    pub(crate) fn prompt(&self, turn: u32) -> String {
        self.file(&format!("prompt.{turn}"))
    }

    /// How often the agent that is a program was invoked.
    pub(crate) fn prompts(&self) -> usize {
        (1..1_000).take_while(|turn| self.path(&format!("prompt.{turn}")).exists()).count()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The team works as long as nothing is waited for.
    pub(crate) async fn works(&self) -> TeamEnd {
        self.works_with(TeamOptions { once: true, pace: 0.0, ..TeamOptions::default() }).await
    }

    pub(crate) async fn works_with(&self, options: TeamOptions) -> TeamEnd {
        let (_keep, stop) = watch::channel(false);
        in_time(Team::open(&self.hub, options).unwrap().run(stop)).await.unwrap()
    }

    /// The team works until all is done, while somebody does something beside it.
    pub(crate) async fn works_while<T>(&self, other: impl Future<Output = T>) -> (TeamEnd, T) {
        let (_keep, stop) = watch::channel(false);
        let team = Team::open(&self.hub, patient()).unwrap();
        let (end, other) = in_time(async { tokio::join!(team.run(stop), other) }).await;
        (end.unwrap(), other)
    }

    pub(crate) fn stage(&self, item: &str) -> String {
        self.hub.item(&id(item)).unwrap().stage.to_string()
    }

    pub(crate) fn question(&self, question: &str) -> Question {
        self.hub.question(&id(question)).unwrap()
    }

    pub(crate) fn does(&self, item: &str, by: &str, action: Action) -> Envelope {
        accepted(&self.hub, &command(item, by, action))
    }

    pub(crate) fn sends(&self, item: &str, text: &str) {
        self.does(item, "human:alice", Action::Send { text: text.to_owned(), to: None });
    }

    pub(crate) fn emits(&self, item: &str, event: &str) {
        self.does(item, "human:alice", Action::Emit { event: id(event), data: serde_json::Value::Null });
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let mut keep = |record| {
            records.push(Arc::unwrap_or_clone(record));
            true
        };
        self.hub.records(0, &mut keep).unwrap();
        records
    }

    /// The types of all events.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        self.records().iter().map(|record| record.event.type_name()).collect()
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.events().iter().filter(|it| **it == name).count()
    }

    /// How the turns of an item ended, in order: the agent, and the outcome.
    pub(crate) fn ends(&self, item: &str) -> Vec<(String, TurnOutcome)> {
        self.turns(item).into_iter().map(|it| (it.agent.to_string(), it.outcome)).collect()
    }

    /// The turns of an item that have ended.
    pub(crate) fn turns(&self, item: &str) -> Vec<TurnEnded> {
        let own = self.records().into_iter().filter(|record| record.stream.as_str() == item);
        own.filter_map(|record| match record.event {
            Event::TurnEnded(it) => Some(it),
            _ => None,
        })
        .collect()
    }

    /// What agents said for the record.
    pub(crate) fn said(&self) -> Vec<(SaidKind, String)> {
        let said = |record: Record| match record.event {
            Event::TurnSaid(it) => Some((it.kind, it.text)),
            _ => None,
        };
        self.records().into_iter().filter_map(said).collect()
    }
}

/// A team that waits for as long as it takes.
pub(crate) fn patient() -> TeamOptions {
    TeamOptions { pace: 0.0, ..TeamOptions::default() }
}

/// A team for these items only, as long as nothing is waited for.
pub(crate) fn only(items: &[&str]) -> TeamOptions {
    let items = items.iter().map(|item| id::<ItemId>(item)).collect();
    TeamOptions { items: Some(items), once: true, ..patient() }
}

/// The next record of this type.
pub(crate) async fn next(news: &mut Follower, name: &str) -> Arc<Record> {
    loop {
        let record = in_time(news.next()).await.unwrap().record.clone();
        if record.event.type_name() == name {
            return record;
        }
    }
}

pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap()
}

fn on_files(project: &Project, clock: &Arc<ManualClock>, holder: &str) -> Handle {
    let files = Files::open(&project.dir(), Options::new(holder));
    Handle::with_clock(Box::new(files), project, Arc::clone(clock) as Arc<dyn Clock>)
}
