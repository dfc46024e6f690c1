//! What a question and its answer cost as a project grows: by the number of its items, and by what is settled on the item.

use std::path::{Path, PathBuf};
use std::time::Instant;

use querent_core::reply::{AnswerReply, AskReply};
use querent_core::{Action, Party};
use querent_hub::{Handle, Project};
use serde_json::{Value, json};

use crate::Outcome;
use crate::commands::{accepted, ask, project};
use crate::measure::median;
use crate::process::{querent, seconds};
use crate::report::{Chart, Table, grouped};
use crate::rows::{Measured, Row, scratch};
use crate::seed::Seeder;

/// How large the projects are, and how often each of them has a turn.
struct Plan {
    items: [usize; 3],
    settled: [u32; 2],
    /// Rounds of whole processes, and of a process that stays.
    rounds: [usize; 2],
}

/// A place where questions are asked.
struct Place {
    /// What there is much of, and how much.
    of: &'static str,
    count: usize,
    dir: PathBuf,
    item: &'static str,
    /// The number of the last question of the item.
    asked: u32,
    /// Seconds of a question and its answer, in each round.
    outside: Vec<f64>,
    inside: Vec<f64>,
}

pub(crate) fn measure(run: &Path, quick: bool, progress: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let (most, rounds) = if quick { (10_000, [15, 50]) } else { (100_000, [51, 500]) };
    let plan = Plan { items: [10, 1_000, most], settled: [10, 10_000], rounds };
    let places = played(run, &plan, &querent()?, progress)?;
    let [.., young, old] = places.as_slice() else { return Err("there is nothing to compare".into()) };
    let [of_old, of_young] = [old, young].map(|it| median(it.outside.clone()) * 1000.0);
    let seen = format!("{of_old:.1} ms against {of_young:.1} ms");
    let ratio = over(&old.outside, &young.outside);
    let row = Row::at_most("ask + answer, 10,000 settled / 10 settled", ratio, 2.0, seen);
    Ok((vec![row], vec![table(&places)]).into())
}

/// Makes the projects and gives each its turns.
fn played(run: &Path, plan: &Plan, querent: &Path, progress: &mut dyn FnMut(&str)) -> Outcome<Vec<Place>> {
    let mut places = Vec::new();
    for count in plan.items {
        progress(&format!("growth: {} items", grouped(count)));
        let dir = scratch(run)?;
        Seeder::new(&project(&dir, 0)?)?.open_all((1..=count).map(|number| number.to_string()), |_| false)?;
        places.push(Place::new("items", count, dir, "1"));
    }
    let dir = scratch(run)?;
    let mut seeder = Seeder::new(&project(&dir, 0)?)?;
    for (name, count) in ["young", "old"].into_iter().zip(plan.settled) {
        progress(&format!("growth: {} settled questions", grouped(usize::try_from(count)?)));
        let item = seeder.open(name)?;
        seeder.settled(&item, count)?;
        let mut place = Place::new("settled on the item", usize::try_from(count)?, dir.clone(), name);
        place.asked = count;
        places.push(place);
    }
    drop(seeder);
    progress("growth: whole processes");
    let [processes, pairs] = plan.rounds;
    // The first round is to warm up.
    for round in 0..=processes {
        for place in &mut places {
            let seconds = place.outside(querent)?;
            place.outside.extend((round > 0).then_some(seconds));
        }
    }
    progress("growth: a process that stays");
    let hubs: Vec<Handle> = places
        .iter()
        .map(|place| Outcome::Ok(Handle::stay(&Project::find(&place.dir)?, "bench")?))
        .collect::<Outcome<_>>()?;
    for round in 0..=pairs {
        for (place, hub) in places.iter_mut().zip(&hubs) {
            let seconds = place.inside(hub)?;
            place.inside.extend((round > 0).then_some(seconds));
        }
    }
    Ok(places)
}

impl Place {
    fn new(of: &'static str, count: usize, dir: PathBuf, item: &'static str) -> Self {
        Self { of, count, dir, item, asked: 0, outside: Vec::new(), inside: Vec::new() }
    }

    fn name(&self) -> String {
        format!("{} {}", grouped(self.count), self.of)
    }

    /// A process asks and another answers. A third resolves it, which is not timed: what is open must not become more.
    fn outside(&mut self, querent: &Path) -> Outcome<f64> {
        self.asked += 1;
        let id = format!("CLR-{}-{:03}", self.item, self.asked);
        let which = format!("Which of {}?", self.asked);
        let asked = ["ask", "--item", self.item, "--from", "engineer", "--topic", "t", "--question", &which, "--json"];
        let answered = ["answer", &id, "--by", "architect", "--answer", "this", "--json"];
        let resolved = ["resolve", &id, "--by", "engineer", "--json"];
        let pair = seconds(querent, &asked, &self.dir)? + seconds(querent, &answered, &self.dir)?;
        seconds(querent, &resolved, &self.dir)?;
        Ok(pair)
    }

    /// The same in a process that stays.
    fn inside(&self, hub: &Handle) -> Outcome<f64> {
        let (engineer, architect): (Party, Party) = ("engineer".parse()?, "architect".parse()?);
        let (question, answer) = (ask(), json!("Postgres, as in the ADR"));
        let start = Instant::now();
        let asked: AskReply = accepted(hub, self.item, engineer.clone(), question)?;
        let question = asked.question_id;
        let answer = Action::Answer { question: question.clone(), answer, note: None };
        accepted::<AnswerReply>(hub, self.item, architect, answer)?;
        let pair = start.elapsed().as_secs_f64();
        accepted::<Value>(hub, self.item, engineer, Action::Resolve { question, note: None })?;
        Ok(pair)
    }
}

/// The median of the rounds' ratios.
fn over(ours: &[f64], theirs: &[f64]) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
}

fn table(places: &[Place]) -> Table {
    let about = "A question and its answer, durable, on one item of the project: by two whole processes, and by a process that stays. \
                 The places have their turns in each round; the ratios are the medians of the rounds' ratios to the smallest of its kind.";
    let head = ["the project has", "processes, ms", "/ the smallest", "in process, ms", "/ the smallest"];
    let mut table = Table::new("Growth", about, &head);
    let mut chart = Chart::new("A question and its answer as a project grows", "microseconds");
    for place in places {
        let Some(smallest) = places.iter().find(|it| it.of == place.of) else { continue };
        let [outside, inside] = [&place.outside, &place.inside].map(|it| median(it.clone()) * 1000.0);
        table.line([
            place.name(),
            format!("{outside:.2}"),
            format!("{:.2}", over(&place.outside, &smallest.outside)),
            format!("{inside:.3}"),
            format!("{:.2}", over(&place.inside, &smallest.inside)),
        ]);
    }
    for (way, times) in [("processes", (|it| &it.outside) as fn(&Place) -> &Vec<f64>), ("in process", |it| &it.inside)]
    {
        for place in places {
            let of = if place.of == "items" { "items" } else { "settled" };
            let micros = median(times(place).clone()) * 1e6;
            chart.bar(&format!("{way}, {} {of}", grouped(place.count)), micros, true);
        }
    }
    table.chart = Some(chart);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_turns_and_its_line() {
        let run = tempfile::tempdir().unwrap();
        let plan = Plan { items: [2, 3, 70], settled: [1, 2], rounds: [1, 2] };

        // The harness is tried, not the binary: a program that succeeds at anything stands in for it.
        let places = played(run.path(), &plan, Path::new("true"), &mut |_| ()).unwrap();

        assert!(places.iter().all(|it| it.outside.len() == 1 && it.inside.len() == 2));
        let items = |place: &Place| Handle::open(&Project::find(&place.dir).unwrap(), "test").unwrap().items().unwrap();
        assert_eq!(places.iter().map(|it| items(it).len()).collect::<Vec<_>>(), [2, 3, 70, 2, 2]);
        let text = table(&places).text();
        assert!(text.contains("\n70 items ") && text.contains("\n2 settled on the item "), "{text}");
    }
}
