//! What the tests of the hub share: a project in a temporary directory, a clock that only the test moves, and words.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::sync::Arc;

use querent_core::reply::AskReply;
use querent_core::{
    Action, Ask, Choice, Code, Command, Envelope, Fallback, ItemId, Moment, Outcome, Party, QuestionId, Record,
    Refusal, Risk, Span, Via,
};
use querent_hub::{Clock, Handle, ManualClock, Project};
use querent_journal::files::Options;
use querent_journal::{Files, Journal, Memory};
use serde_json::Value;
use tempfile::TempDir;

/// A project with the shipped `feature` workflow, at ten in the morning.
pub(crate) struct Scene {
    dir: TempDir,
    pub(crate) project: Project,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) hub: Handle,
}

/// The same for both engines.
pub(crate) fn on_both_engines(test: impl Fn(Scene)) {
    test(Scene::on(|_| Box::new(Memory::new())));
    test(Scene::in_files());
}

impl Scene {
    pub(crate) fn in_files() -> Self {
        Self::on(|project| Box::new(Files::open(&project.dir(), Options::new("test"))))
    }

    pub(crate) fn on(engine: impl FnOnce(&Project) -> Box<dyn Journal>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (project, _) = Project::init(dir.path(), Some("shop"), "feature").unwrap();
        let clock = Arc::new(ManualClock::new(ten()));
        let hub = Handle::with_clock(engine(&project), &project, Arc::clone(&clock) as Arc<dyn Clock>);
        Self { dir, project, clock, hub }
    }

    /// What another process on the same project has in hand.
    pub(crate) fn another_process(&self) -> Handle {
        let files = Files::open(&self.project.dir(), Options::new("other"));
        Handle::with_clock(Box::new(files), &self.project, Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    /// Somebody edits a file under `.querent/`.
    pub(crate) fn edit(&self, file: &str, edit: impl FnOnce(String) -> String) {
        let path = self.project.dir().join(file);
        fs::write(&path, edit(fs::read_to_string(&path).unwrap())).unwrap();
    }

    pub(crate) fn pass(&self, span: &str) {
        self.clock.pass(span.parse().unwrap());
    }

    /// An item that stands in the engineer's step.
    pub(crate) fn item(&self, item: &str) {
        accepted(&self.hub, &opens(item));
        accepted(&self.hub, &moves(item, "implement"));
    }

    pub(crate) fn asks(&self, item: &str, ask: Ask) -> QuestionId {
        asked(&self.hub, item, ask)
    }

    pub(crate) fn status(&self, id: &QuestionId) -> &'static str {
        self.hub.question(id).unwrap().status.as_str()
    }

    pub(crate) fn stage(&self, item: &str) -> String {
        self.hub.item(&id(item)).unwrap().stage.to_string()
    }

    /// The types of all events of an item.
    pub(crate) fn events(&self, item: &str) -> Vec<&'static str> {
        let of_item = |record: &Record| record.stream.as_str() == item;
        self.records().iter().filter(|record| of_item(record)).map(|record| record.event.type_name()).collect()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        self.hub
            .records(0, &mut |record| {
                records.push(Arc::unwrap_or_clone(record));
                true
            })
            .unwrap();
        records
    }
}

pub(crate) fn ten() -> Moment {
    "2026-01-31T10:00:00.000Z".parse().unwrap()
}

pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

#[track_caller]
pub(crate) fn accepted(hub: &Handle, command: &Command) -> Envelope {
    let reply = hub.execute(command, None);
    reply.read::<Value>().unwrap();
    reply
}

#[track_caller]
pub(crate) fn refused(reply: &Envelope, code: Code) -> Refusal {
    let refusal = reply.read::<Value>().unwrap_err();
    assert_eq!(refusal.code, code, "{refusal}");
    refusal
}

pub(crate) fn asked(hub: &Handle, item: &str, ask: Ask) -> QuestionId {
    accepted(hub, &command(item, "engineer", Action::Ask(Box::new(ask)))).read::<AskReply>().unwrap().question_id
}

pub(crate) fn command(item: &str, by: &str, action: Action) -> Command {
    Command { item: id::<ItemId>(item), by: id::<Party>(by), via: Via::Library, action }
}

pub(crate) fn opens(item: &str) -> Command {
    command(item, "human", Action::OpenItem { title: format!("Work on {item}"), workflow: None, autonomy: None })
}

pub(crate) fn moves(item: &str, to: &str) -> Command {
    command(item, "human", Action::Advance { to: to.to_owned() })
}

pub(crate) fn ends(item: &str) -> Command {
    command(item, "human", Action::EndItem { outcome: Outcome::Merged })
}

pub(crate) fn answers(question: &QuestionId, answer: &str) -> Command {
    let action = Action::Answer { question: question.clone(), answer: answer.into(), note: None };
    command(question.item.as_str(), "human:alice", action)
}

/// A blocking question to the architect.
pub(crate) fn to_architect() -> Ask {
    Ask { to: Some(id("architect")), topic: "API".to_owned(), prompt: "REST or RPC?".to_owned(), ..Ask::default() }
}

/// A blocking question to a human.
pub(crate) fn to_human() -> Ask {
    Ask { to: Some(Party::HUMAN), ..to_architect() }
}

/// The same with choices and what to do if nobody answers.
pub(crate) fn with_fallback() -> Ask {
    let choice = |id: &str| Choice {
        id: id.to_lowercase(),
        label: id.to_owned(),
        description: None,
        recommended: false,
        implications: None,
    };
    let fallback = Fallback { answer: "rest".into(), reason: "it is undone easily".to_owned(), risk: Risk::Low };
    Ask { options: vec![choice("REST"), choice("RPC")], fallback: Some(fallback), ..to_human() }
}

pub(crate) fn expiring(ask: Ask, span: &str) -> Ask {
    Ask { expires_in: Some(id::<Span>(span)), ..ask }
}
