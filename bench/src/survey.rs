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
use crate::measure::median;
use crate::process::{alternate, querent, seconds};
use crate::report::{Table, grouped};
use crate::rows::{Measured, Row, rounds, scratch};
use crate::seed::Seeder;

/// How many agents there are, each of which asks the next; and how many sessions wait for each other's files in a circle.
const CIRCLE: u32 = 10;

pub(crate) fn measure(run: &Path, quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let querent = querent()?;
    let rows = large_and_small(run, &querent, rounds(quick))?;
    let counts = if quick { [10, 100, 1_000] } else { [100, 1_000, 10_000] };
    let table = by_questions(run, &querent, counts, rounds(quick) / 3, progress)?;
    Ok((rows, vec![table]).into())
}

fn monitor(querent: &Path, dir: &Path) -> Outcome<f64> {
    seconds(querent, &["monitor", "--dry-run", "--json"], dir)
}

/// Of a project that is twenty times as large.
fn large_and_small(run: &Path, querent: &Path, rounds: usize) -> Outcome<Vec<Row>> {
    let (small, large) = (Place::new(500, 50, 250)?, Place::new(10_000, 1_000, 5_000)?);
    let (pure, of_large, of_small) = alternate(rounds, || Ok(large.survey().0), || Ok(small.survey().0))?;
    let alone = format!("{:.1} ms against {:.2} ms", of_large * 1000.0, of_small * 1000.0);
    let (few, many) = (scratch(run)?, scratch(run)?);
    on_disk(&few, 500, 50, 250)?;
    on_disk(&many, 10_000, 1_000, 5_000)?;
    let (ratio, of_many, of_few) = alternate(rounds / 3, || monitor(querent, &many), || monitor(querent, &few))?;
    let whole = format!("{:.0} ms against {:.1} ms", of_many * 1000.0, of_few * 1000.0);
    Ok(vec![
        Row::at_most("survey, 10,000 items + 1,000 + 5,000 waits / 500 + 50 + 250", pure, 20.0, alone),
        Row::at_most("monitor --dry-run of the same, whole process", ratio, 20.0, whole),
    ])
}

/// By the number of open questions, each on an item of its own on which a session is at work.
fn by_questions(
    run: &Path,
    querent: &Path,
    counts: [u32; 3],
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> Outcome<Table> {
    let mut places = Vec::new();
    for count in counts {
        progress(&format!("survey: {} open questions", grouped(usize::try_from(count)?)));
        let dir = scratch(run)?;
        on_disk(&dir, count, count, 0)?;
        places.push((count, Place::new(count, count, 0)?, dir, Vec::new(), Vec::new()));
    }
    for _ in 0..rounds {
        for (_, place, dir, pure, whole) in &mut places {
            pure.push(place.survey().0);
            whole.push(monitor(querent, dir)?);
        }
    }
    let about = "What the monitor finds where each question is on an item of its own, with a session at work: the pure function, and \
                 `querent monitor --dry-run --json` as a whole process. Medians of the rounds.";
    let head = ["open questions", "found", "survey, ms", "a question, µs", "whole process, ms", "a question, µs"];
    let mut table = Table::new("Survey", about, &head);
    for (count, place, _, pure, whole) in places {
        let [pure, whole] = [pure, whole].map(|it| median(it) * 1e6);
        table.line([
            grouped(usize::try_from(count)?),
            grouped(place.survey().1),
            format!("{:.3}", pure / 1e3),
            format!("{:.2}", pure / f64::from(count)),
            format!("{:.1}", whole / 1e3),
            format!("{:.1}", whole / f64::from(count)),
        ]);
    }
    Ok(table)
}

/// What a survey looks at.
struct Place {
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
    fn new(items: u32, questions: u32, waits: u32) -> Outcome<Self> {
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
    fn survey(&self) -> (f64, usize) {
        let alerts = Alerts::default();
        let (items, questions) = (&self.items, &self.questions);
        let scene = Scene { items, questions, resources: &self.resources, alerts: &alerts, signs: &self.signs };
        let start = Instant::now();
        let findings = black_box(survey(black_box(&scene), &self.rules, self.now));
        (start.elapsed().as_secs_f64(), findings.len())
    }
}

/// The same on disk, for the whole command.
fn on_disk(dir: &Path, items: u32, questions: u32, waits: u32) -> Outcome<()> {
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
    let story = |number: u32| Ok((number.to_string().parse()?, wishes(number, questions)?));
    seeder.run_all((1..=items).map(story).collect::<Outcome<_>>()?)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_of_few_questions_has_its_lines() {
        let run = tempfile::tempdir().unwrap();

        // The harness is tried, not the binary: a program that succeeds at anything stands in for it.
        let table = by_questions(run.path(), Path::new("true"), [1, 10, 20], 1, &mut |_| ()).unwrap();

        let text = table.text();
        let line = |count: &str| text.lines().find_map(|line| line.strip_prefix(count)?.split_whitespace().next());
        assert_eq!(line("1 "), Some("0"), "{text}");
        assert_ne!(line("20 "), Some("0"), "ten agents wait for each other: {text}");
    }
}
