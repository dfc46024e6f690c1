//! Large projects, made fast: many commands in one update, so that one sync serves them all.

use std::path::Path;
use std::sync::Arc;

use querent_core::{
    Action, Applied, Command, Envelope, Item, ItemId, Moment, Needs, Party, QuestionId, Rules, Shared, Span, State,
    Ticket, Via, apply,
};
use querent_hub::{Handle, Project};
use querent_journal::files::{Ledgers, Options};
use querent_journal::{Beat, Files, Job, Journal, Pulse, Update};
use serde_json::json;

use crate::Outcome;
use crate::commands::{ask, ask_beside, project};

/// A writer of many events.
pub(crate) struct Seeder {
    journal: Files,
    rules: Arc<Rules>,
    at: Moment,
    operations: u64,
}

impl Seeder {
    pub(crate) fn new(project: &Project) -> Outcome<Self> {
        let options = Options { ledgers: Ledgers::Deferred, ..Options::new("bench") };
        let rules = Handle::open(project, "bench")?.rules()?;
        let at = Moment::from_millis(1_790_000_000_000);
        Ok(Self { journal: Files::open(&project.dir(), options), rules, at, operations: 0 })
    }

    /// The same, for what happens now.
    pub(crate) fn now(project: &Project) -> Outcome<Self> {
        let at = Handle::open(project, "bench")?.now();
        Ok(Self { at, ..Self::new(project)? })
    }

    /// A session that waits for files shows that it is there, for as long as anybody looks.
    pub(crate) fn waits(&self, session: &str) -> Outcome<()> {
        let at = self.at.plus(Span::minutes(24 * 60));
        Ok(self.journal.beat(&Beat { pulse: Pulse::Wait, name: session.parse()?, at })?)
    }

    /// Carries out these actions on one item, in one update.
    pub(crate) fn run(&mut self, item: &ItemId, actions: Vec<(Party, Action)>) -> Outcome<()> {
        self.operations += 1;
        let job = Many {
            item: item.clone(),
            actions,
            rules: Arc::clone(&self.rules),
            at: self.at,
            prefix: format!("seed-{}", self.operations),
        };
        self.journal.update(Update { stream: item.clone().into(), ticket: None, job: Box::new(job) })?;
        Ok(())
    }

    pub(crate) fn open(&mut self, id: &str) -> Outcome<ItemId> {
        let item: ItemId = id.parse()?;
        let open = Action::OpenItem { title: format!("Item {id}"), workflow: Some("bug".to_owned()), autonomy: None };
        self.run(&item, vec![(Party::HUMAN, open)])?;
        Ok(item)
    }

    /// `count` questions that were asked and resolved.
    pub(crate) fn settled(&mut self, item: &ItemId, count: u32) -> Outcome<()> {
        let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
        let numbers: Vec<u32> = (1..=count).collect();
        for chunk in numbers.chunks(100) {
            let mut actions = Vec::new();
            for number in chunk {
                let question = QuestionId { item: item.clone(), number: *number };
                actions.push((engineer.clone(), ask()));
                actions.push((
                    architect.clone(),
                    Action::Answer { question: question.clone(), answer: json!("Postgres"), note: None },
                ));
                actions.push((engineer.clone(), Action::Resolve { question, note: None }));
            }
            self.run(item, actions)?;
        }
        Ok(())
    }

    /// One open question.
    pub(crate) fn question(&mut self, item: &ItemId) -> Outcome<()> {
        self.run(item, vec![("engineer".parse()?, ask())])
    }

    /// So many open questions for which nobody waits.
    fn questions(&mut self, item: &ItemId, count: usize) -> Outcome<()> {
        let engineer: Party = "engineer".parse()?;
        self.run(item, (0..count).map(|_| (engineer.clone(), ask_beside())).collect())
    }

    /// `count` events of sessions that start.
    pub(crate) fn sessions(&mut self, item: &ItemId, count: usize) -> Outcome<()> {
        let engineer: Party = "engineer".parse()?;
        self.run(item, vec![(engineer, Action::StartSession { session: None, process: None }); count])
    }
}

/// A project with so many items, each with open questions of its engineer to its architect.
pub(crate) fn with_open_questions(dir: &Path, items: usize, each: usize) -> Outcome<Vec<QuestionId>> {
    let mut seeder = Seeder::now(&project(dir, 0)?)?;
    let mut ids = Vec::new();
    for number in 1..=items {
        let item = seeder.open(&number.to_string())?;
        match each {
            1 => seeder.question(&item)?,
            _ => seeder.questions(&item, each)?,
        }
        let last = u32::try_from(each)?;
        ids.extend((1..=last).map(|number| QuestionId { item: item.clone(), number }));
    }
    Ok(ids)
}

struct Many {
    item: ItemId,
    actions: Vec<(Party, Action)>,
    rules: Arc<Rules>,
    at: Moment,
    prefix: String,
}

impl Job for Many {
    fn needs(&mut self, _item: &Item) -> Needs {
        Needs { shared: [Shared::Resources, Shared::Alerts].into(), ..Needs::default() }
    }

    fn run(&mut self, state: &mut State) -> Applied {
        let mut all = Applied { batches: Vec::new(), reply: Envelope::ok(&()) };
        for (number, (by, action)) in self.actions.iter().enumerate() {
            let command =
                Command { item: self.item.clone(), by: by.clone(), via: Via::Library, action: action.clone() };
            let Ok(id) = format!("{}-{number}", self.prefix).parse() else { continue };
            let applied = apply(state, &command, &Ticket::new(id, &command), &self.rules, self.at);
            all.batches.extend(applied.batches);
        }
        all
    }
}
