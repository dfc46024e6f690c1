//! Large projects, made fast: many commands in one update, so that one sync serves them all.

use std::path::Path;
use std::sync::Arc;
use std::thread;

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

/// How many threads write at once where every item has an update of its own: those that wait share a sync.
const WRITERS: usize = 64;

/// What is to happen on an item.
pub(crate) type Story = (ItemId, Vec<(Party, Action)>);

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
        self.tell(item.clone(), actions, self.operations)
    }

    /// Carries out all of these, each in an update of its own, in any order.
    pub(crate) fn run_all(&mut self, mut stories: Vec<Story>) -> Outcome<()> {
        let (first, count) = (self.operations, stories.len());
        self.operations += u64::try_from(count)?;
        let mut parts = Vec::new();
        while !stories.is_empty() {
            let rest = stories.len().saturating_sub(count.div_ceil(WRITERS));
            parts.push((first + u64::try_from(rest)?, stories.split_off(rest)));
        }
        let seeder = &*self;
        thread::scope(|scope| {
            let write = |(before, part): (u64, Vec<Story>)| {
                let mut numbered = part.into_iter().zip(before + 1..);
                numbered.try_for_each(|((item, actions), number)| seeder.tell(item, actions, number))
            };
            let writers: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || write(part))).collect();
            writers.into_iter().try_for_each(|writer| writer.join().map_err(|_| "a writer panicked")?)
        })
    }

    fn tell(&self, item: ItemId, actions: Vec<(Party, Action)>, number: u64) -> Outcome<()> {
        let (rules, at) = (Arc::clone(&self.rules), self.at);
        let job = Many { item: item.clone(), actions, rules, at, prefix: format!("seed-{number}") };
        self.journal.update(Update { stream: item.into(), ticket: None, job: Box::new(job) })?;
        Ok(())
    }

    pub(crate) fn open(&mut self, id: &str) -> Outcome<ItemId> {
        let item: ItemId = id.parse()?;
        self.run(&item, vec![opening(id)])?;
        Ok(item)
    }

    /// Items with these names; those that are chosen have an open question.
    pub(crate) fn open_all(
        &mut self,
        names: impl Iterator<Item = String>,
        asks: impl Fn(usize) -> bool,
    ) -> Outcome<()> {
        let engineer: Party = "engineer".parse()?;
        let story = |(place, name): (usize, String)| -> Outcome<Story> {
            let question = asks(place).then(|| (engineer.clone(), ask()));
            Ok((name.parse()?, [opening(&name)].into_iter().chain(question).collect()))
        };
        self.run_all(names.enumerate().map(story).collect::<Outcome<_>>()?)
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

    /// `count` events of sessions that start.
    pub(crate) fn sessions(&mut self, item: &ItemId, count: usize) -> Outcome<()> {
        let engineer: Party = "engineer".parse()?;
        self.run(item, vec![(engineer, Action::StartSession { session: None, process: None }); count])
    }
}

/// A project with so many items, each with open questions of its engineer to its architect. If they are more than one,
/// nobody waits for them.
pub(crate) fn with_open_questions(dir: &Path, items: usize, each: usize) -> Outcome<Vec<QuestionId>> {
    let mut seeder = Seeder::now(&project(dir, 0)?)?;
    let engineer: Party = "engineer".parse()?;
    let (mut ids, mut stories) = (Vec::new(), Vec::new());
    for number in 1..=items {
        let item: ItemId = number.to_string().parse()?;
        let question = || (engineer.clone(), if each == 1 { ask() } else { ask_beside() });
        let questions = std::iter::repeat_with(question).take(each);
        stories.push((item.clone(), [opening(item.as_str())].into_iter().chain(questions).collect()));
        ids.extend((1..=u32::try_from(each)?).map(|number| QuestionId { item: item.clone(), number }));
    }
    seeder.run_all(stories)?;
    Ok(ids)
}

/// A human opens an item in the step of its engineer.
fn opening(id: &str) -> (Party, Action) {
    (Party::HUMAN, Action::OpenItem { title: format!("Item {id}"), workflow: Some("bug".to_owned()), autonomy: None })
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
