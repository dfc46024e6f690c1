//! A project full of open questions and waits, for the monitor to look at.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use querent_core::monitor::{Scene, Signs, survey};
use querent_core::{
    Action, Alerts, Ask, Command, Item, Lock, Moment, Party, ProjectPath, Question, Refusal, Resources, Rules,
    SessionId, Span, State, Ticket, Via, Wait, apply,
};
use querent_hub::Project;
use serde_json::json;

use crate::Outcome;
use crate::seed::Seeder;

/// How many agents there are, each of which asks the next; and how many sessions wait for each other's files in a circle.
const CIRCLE: u32 = 10;

/// What a survey looks at.
pub(crate) struct Place {
    rules: Rules,
    items: Vec<Item>,
    questions: Vec<Question>,
    resources: Resources,
    signs: Signs,
    now: Moment,
}

impl Place {
    /// Items with a session at work on each; the first of them have a question each, by a team of ten agents in which each asks
    /// the next; and sessions that wait for each other's files, in circles of ten.
    pub(crate) fn new(items: u32, questions: u32, waits: u32) -> Outcome<Self> {
        let now = Moment::from_millis(1_769_853_600_000);
        let mut place = Self {
            rules: rules()?,
            items: Vec::new(),
            questions: Vec::new(),
            resources: Resources::default(),
            signs: Signs::default(),
            now,
        };
        for number in 1..=items {
            place.item(number, questions)?;
        }
        for number in 1..=waits {
            place.wait(number)?;
        }
        Ok(place)
    }

    fn item(&mut self, number: u32, questions: u32) -> Outcome<()> {
        let mut state = State::default();
        let id = number.to_string();
        for (place, (by, action)) in wishes(number, questions)?.into_iter().enumerate() {
            let command = Command { item: id.parse()?, by, via: Via::Library, action };
            let ticket = Ticket::fresh(format!("op-{id}-{place}").parse()?, &command);
            apply(&mut state, &command, &ticket, &self.rules, self.now).reply.read::<serde_json::Value>()?;
        }
        self.items.extend(state.item);
        self.questions.extend(state.questions.into_values());
        Ok(())
    }

    /// A session has a file and waits for the next one's.
    fn wait(&mut self, number: u32) -> Outcome<()> {
        let session: SessionId = format!("waiter-{number:05}").parse()?;
        let (agent, item): (querent_core::AgentName, querent_core::ItemId) = ("worker".parse()?, "1".parse()?);
        let (since, expires_at) = (self.now, self.now.plus(Span::minutes(30)));
        let lock = Lock { session: session.clone(), agent: agent.clone(), item: item.clone(), since, expires_at };
        self.resources.locks.insert(path(number)?, lock);
        self.resources.waits.insert(session.clone(), Wait { paths: [path(after(number))?].into(), agent, item, since });
        self.signs.waits.insert(session, self.now);
        Ok(())
    }

    /// How long one survey takes, in seconds, and how much it finds.
    pub(crate) fn survey(&self) -> (f64, usize) {
        let alerts = Alerts::default();
        let (items, questions) = (&self.items, &self.questions);
        let scene = Scene { items, questions, resources: &self.resources, alerts: &alerts, signs: &self.signs };
        let start = Instant::now();
        let findings = black_box(survey(black_box(&scene), &self.rules, self.now));
        (start.elapsed().as_secs_f64(), findings.len())
    }
}

/// The same on disk, for the whole command.
pub(crate) fn on_disk(dir: &Path, items: u32, questions: u32, waits: u32) -> Outcome<()> {
    let (project, _) = Project::init(dir, None, "feature")?;
    let mut config = "[project]\nname = \"bench\"\n[agents.worker]\n".to_owned();
    let mut workflow = "name = \"feature\"\n".to_owned();
    for number in 1..=CIRCLE {
        writeln!(config, "[agents.agent-{number}]\nrank = {number}")?;
        let asks = format!("can_clarify = [\"agent-{}\"]", after(number));
        writeln!(workflow, "[[steps]]\nname = \"of-{number}\"\nagent = \"agent-{number}\"\n{asks}")?;
    }
    for shipped in project.dir().join("workflows").read_dir()? {
        std::fs::remove_file(shipped?.path())?;
    }
    std::fs::write(project.dir().join("config.toml"), config)?;
    std::fs::write(project.dir().join("workflows/feature.toml"), workflow)?;
    let mut seeder = Seeder::now(&project)?;
    for number in 1..=items {
        seeder.run(&number.to_string().parse()?, wishes(number, questions)?)?;
    }
    let mut contention = Vec::new();
    for number in 1..=waits {
        let (session, worker): (SessionId, Party) = (format!("waiter-{number:05}").parse()?, "worker".parse()?);
        contention.push((worker, Action::StartSession { session: Some(session), process: None }));
    }
    for (wait, file) in [(false, (|number| number) as fn(u32) -> u32), (true, after)] {
        for number in 1..=waits {
            let (session, paths) = (format!("waiter-{number:05}").parse()?, [path(file(number))?].into());
            contention.push(("worker".parse()?, Action::Lock { session, paths, ttl: Span::minutes(24 * 60), wait }));
        }
    }
    seeder.run(&"1".parse()?, contention)?;
    (1..=waits).try_for_each(|number| seeder.waits(&format!("waiter-{number:05}")))
}

/// The next one in the circle.
fn after(number: u32) -> u32 {
    if number.is_multiple_of(CIRCLE) { number + 1 - CIRCLE } else { number + 1 }
}

fn path(number: u32) -> Result<ProjectPath, Refusal> {
    format!("src/part-{:02}/file-{number:05}.rs", number / 100).parse()
}

/// What happens on an item: a session is at work, and perhaps asks the next one.
fn wishes(number: u32, questions: u32) -> Outcome<Vec<(Party, Action)>> {
    let asks = number <= questions;
    let agent = (number - 1) % CIRCLE + 1;
    let who: Party = if asks { format!("agent-{agent}").parse()? } else { "worker".parse()? };
    let open = Action::OpenItem { title: format!("Item {number}"), workflow: None, autonomy: None };
    let start = Action::StartSession { session: None, process: None };
    let mut wishes = vec![(Party::HUMAN, open), (who.clone(), start)];
    if asks {
        let ask = Ask {
            to: Some(format!("agent-{}", after(agent)).parse()?),
            topic: format!("Storage of {number}"),
            prompt: "The ADR says Postgres, the ticket says Redis. Which?".to_owned(),
            ..Ask::default()
        };
        wishes.push((who, Action::Ask(Box::new(ask))));
    }
    Ok(wishes)
}

fn rules() -> Outcome<Rules> {
    let names: Vec<String> = (1..=CIRCLE).map(|number| format!("agent-{number}")).collect();
    let agents: BTreeMap<&str, _> = names
        .iter()
        .map(String::as_str)
        .chain(["worker"])
        .zip(1..)
        .map(|(name, rank)| (name, json!({ "rank": rank })))
        .collect();
    let step = |(name, number): (&String, u32)| json!({ "name": format!("of-{name}"), "agent": name, "can_clarify": [format!("agent-{}", after(number))] });
    let steps: Vec<_> = names.iter().zip(1..).map(step).collect();
    let workflow = serde_json::from_value(json!({ "name": "feature", "steps": steps }))?;
    let config = serde_json::from_value(json!({ "project": { "name": "bench" }, "agents": agents }))?;
    Ok(Rules { config, workflows: [("feature".to_owned(), workflow)].into() })
}
