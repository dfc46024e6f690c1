//! Triggers: files that say which question is raised on which event.
//!
//! Reading, matching and filling are pure; files are touched in [`load`] and [`Triggers`], and questions are raised in
//! [`Handle::fire`] alone.

mod condition;
mod draft;
mod file;
mod template;

use std::path::{Path, PathBuf};

use querent_core::reply::AskReply;
use querent_core::{
    Action, Ask, Code, Command, HumanInput, ItemId, Kind, OperationId, Party, Refusal, State, Via, decide, nearest,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config;
use crate::handle::Handle;
use crate::project::{self, Project};
use condition::Condition;
use draft::Draft;

/// The shipped sets: what each is called, and its file.
pub(crate) const SHIPPED: &[(&str, &str)] = &[
    ("ideation", include_str!("templates/questions/ideation.yaml")),
    ("specification", include_str!("templates/questions/specification.yaml")),
    ("build", include_str!("templates/questions/build.yaml")),
    ("validation", include_str!("templates/questions/validation.yaml")),
    ("ux", include_str!("templates/questions/ux.yaml")),
    ("learning", include_str!("templates/questions/learning.yaml")),
];

/// A question that is raised on an event.
#[derive(Debug)]
pub(crate) struct Trigger {
    name: String,
    event: String,
    phase: Option<String>,
    when: Option<Condition>,
    ask: Draft,
}

/// Something that happened, about which there may be something to ask.
#[derive(Clone, Debug)]
pub struct Happening {
    /// The item that it happened to.
    pub item: ItemId,
    /// The agent that it happened to, which asks.
    pub by: Party,
    /// What happened.
    pub event: String,
    /// The phase in which it happened.
    pub phase: Option<String>,
    /// What is known about it.
    pub data: Map<String, Value>,
}

/// What came of a happening.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fired {
    /// The questions, as `ask` replies them.
    pub raised: Vec<AskReply>,
    /// The triggers that raised nothing.
    pub skipped: Vec<Skipped>,
}

/// A trigger that raised nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The trigger; the event's name where no trigger is for it.
    pub trigger: String,
    /// Why.
    pub reason: String,
}

/// The triggers of a project, and those that can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Triggers {
    /// The files of the project.
    pub installed: Vec<Installed>,
    /// The sets that come with Querent.
    pub shipped: Vec<Shipped>,
}

/// A file of triggers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// Where it is, below the project's directory.
    pub file: PathBuf,
    /// What is in it.
    pub triggers: Vec<TriggerView>,
}

/// A trigger, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriggerView {
    /// Its name: the file, the event, and a number where the file has several for the event.
    pub trigger: String,
    /// The event.
    pub event: String,
    /// The phase, if only one is meant.
    pub phase: Option<String>,
    /// The condition, if there is one.
    pub when: Option<String>,
    /// The kind of its question.
    pub kind: Kind,
    /// Whether the asker waits.
    pub blocking: bool,
}

/// A set that comes with Querent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shipped {
    /// What it is called.
    pub name: &'static str,
    /// Whether the project has a file of this name.
    pub installed: bool,
    /// Whether that file is no longer as it was shipped.
    pub edited: bool,
}

impl Triggers {
    /// The sets that [`install`](Triggers::install) knows.
    pub const SETS: &[&str] = &["ideation", "specification", "build", "validation", "ux", "learning"];

    /// What a project has, and what can be had.
    pub fn of(project: &Project) -> Result<Self, Refusal> {
        let installed = load(&project.dir())?.into_iter().map(|(path, triggers)| Installed {
            file: path.strip_prefix(project.root()).unwrap_or(&path).to_owned(),
            triggers: triggers.iter().map(TriggerView::of).collect(),
        });
        let shipped = SHIPPED.iter().map(|(name, text)| {
            let there = project.root().join(path(name));
            let edited = there.exists() && config::text(&there)? != *text;
            Ok(Shipped { name, installed: there.exists(), edited })
        });
        Ok(Self { installed: installed.collect(), shipped: shipped.collect::<Result<_, Refusal>>()? })
    }

    /// Writes a shipped set into a project; returns the file, or nothing if it was there already as it is shipped.
    pub fn install(project: &Project, name: &str) -> Result<Option<PathBuf>, Refusal> {
        let Some((_, text)) = SHIPPED.iter().find(|(it, _)| *it == name) else {
            let message = format!("there is no shipped set `{name}`");
            return Err(Refusal::invalid("name", message, format!("use one of: {}", Self::SETS.join(", "))));
        };
        let file = path(name);
        let there = project.root().join(&file);
        if !there.exists() {
            project::write(&there, text)?;
            return Ok(Some(file));
        }
        if config::text(&there)? == *text {
            return Ok(None);
        }
        let message = format!("{} was edited, and is left as it is", file.display());
        Err(Refusal::new(Code::Conflict, message, "rename the edited file, then install the set again")
            .with(json!({ "file": file })))
    }
}

impl TriggerView {
    fn of(trigger: &Trigger) -> Self {
        Self {
            trigger: trigger.name.clone(),
            event: trigger.event.clone(),
            phase: trigger.phase.clone(),
            when: trigger.when.as_ref().map(|it| it.source().to_owned()),
            kind: trigger.ask.kind,
            blocking: trigger.ask.blocking,
        }
    }
}

impl Handle {
    /// Raises the questions that the project's triggers have for a happening.
    ///
    /// Everything is read, judged and filled before the first is raised, so a mistake in a file or in the data raises
    /// none. What only the core can refuse (say, a second blocking question) refuses the call if nothing was raised yet,
    /// and is among the skipped if something was. With an operation id, the n-th question is the operation `<id>.<n>`.
    pub fn fire(&self, happening: &Happening, operation: Option<&OperationId>) -> Result<Fired, Refusal> {
        let rules = self.rules()?;
        let triggers = self.inner.rules.dir().map(load).transpose()?.unwrap_or_default();
        let triggers: Vec<Trigger> = triggers.into_iter().flat_map(|(_, triggers)| triggers).collect();
        let state = State { item: Some(self.item(&happening.item)?), ..State::default() };
        if let Some(agent) = happening.by.agent() {
            rules.agent(agent)?;
        }
        let (asks, mut skipped) = matching(&triggers, happening, &rules.config.human_input)?;
        let mut wishes = Vec::new();
        for (number, (trigger, ask)) in (1..).zip(asks) {
            let operation = operation.map(|id| format!("{id}.{number}").parse::<OperationId>()).transpose()?;
            let command = command(happening, ask);
            // A question that is malformed is so at any time; whatever else is refused is so when it is asked.
            if let Err(refusal) = decide(&state, &command, &rules, self.now())
                && refusal.code == Code::InvalidInput
            {
                return Err(about(refusal, trigger));
            }
            wishes.push((trigger, command, operation));
        }
        let mut raised = Vec::new();
        for (trigger, command, operation) in wishes {
            match self.execute(&command, operation).read::<AskReply>() {
                Ok(reply) => raised.push(reply),
                Err(refusal) if raised.is_empty() => return Err(refusal),
                Err(refusal) => skipped.push(Skipped { trigger: trigger.to_owned(), reason: refusal.message }),
            }
        }
        Ok(Fired { raised, skipped })
    }
}

/// The triggers of a project's files, in the order of the files' names. No directory, no triggers.
pub(crate) fn load(dir: &Path) -> Result<Vec<(PathBuf, Vec<Trigger>)>, Refusal> {
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let triggers = file::read(&path, &name, &config::text(&path)?)?;
        Ok((path, triggers))
    };
    config::files(&dir.join("questions"), "yaml")?.into_iter().map(read).collect()
}

/// Where a set's file is, below the project's directory.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(".querent/questions").join(format!("{name}.yaml"))
}

/// A question, filled, with its trigger's name.
type Filled<'a> = (&'a str, Ask);

/// The questions that a happening raises, filled, and the triggers that raise none.
fn matching<'a>(
    triggers: &'a [Trigger],
    happening: &Happening,
    policy: &HumanInput,
) -> Result<(Vec<Filled<'a>>, Vec<Skipped>), Refusal> {
    let (mut asks, mut skipped) = (Vec::new(), Vec::new());
    let mut meant = triggers.iter().filter(|trigger| trigger.event == happening.event).peekable();
    if meant.peek().is_none() {
        skipped.push(Skipped { trigger: happening.event.clone(), reason: unknown(triggers, &happening.event) });
    }
    for trigger in meant {
        match trigger.not_now(happening)? {
            Some(reason) => skipped.push(Skipped { trigger: trigger.name.clone(), reason }),
            None => asks.push((trigger.name.as_str(), trigger.fill(happening, policy)?)),
        }
    }
    Ok((asks, skipped))
}

fn unknown(triggers: &[Trigger], event: &str) -> String {
    match nearest::of(event, triggers.iter().map(|trigger| trigger.event.as_str())) {
        Some(near) => format!("no trigger is for the event `{event}`; the nearest event is `{near}`"),
        None => format!("no trigger is for the event `{event}`; install some: querent trigger install NAME"),
    }
}

impl Trigger {
    /// Why nothing is raised by a happening of the trigger's event, if nothing is.
    fn not_now(&self, happening: &Happening) -> Result<Option<String>, Refusal> {
        if let Some(phase) = &self.phase
            && !happening.phase.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(phase))
        {
            return Ok(Some(format!("it is for the phase `{phase}`")));
        }
        let Some(when) = &self.when else { return Ok(None) };
        match when.holds(&happening.data) {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(format!("its condition does not hold: {}", when.source()))),
            Err(why) => {
                let message = format!("the condition `{}` of `{}` cannot be judged: {why}", when.source(), self.name);
                let hint = "give what the condition names, of the right type, in the event's data";
                Err(Refusal::new(Code::InvalidInput, message, hint)
                    .with(json!({ "field": "data", "trigger": self.name, "condition": when.source() })))
            }
        }
    }

    fn fill(&self, happening: &Happening, policy: &HumanInput) -> Result<Ask, Refusal> {
        self.ask.fill(&happening.data, policy).map_err(|path| {
            let message = format!("`{}` needs `{path}`, which the event's data does not hold", self.name);
            Refusal::new(Code::InvalidInput, message, format!("add `{path}` to the data"))
                .with(json!({ "field": "data", "trigger": self.name, "placeholder": path }))
        })
    }
}

fn command(happening: &Happening, ask: Ask) -> Command {
    let Happening { item, by, .. } = happening.clone();
    Command { item, by, via: Via::Trigger, action: Action::Ask(Box::new(ask)) }
}

/// The refusal of a filled question, with its trigger's name.
fn about(mut refusal: Refusal, trigger: &str) -> Refusal {
    refusal.message = format!("`{trigger}`: {}", refusal.message);
    refusal.details["trigger"] = json!(trigger);
    refusal
}

#[cfg(test)]
#[path = "triggers_tests.rs"]
mod tests;
