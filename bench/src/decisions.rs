//! The core alone: what a decision and a line of the log cost without a disk.
//!
//! Rates are measured here. Allocations and instructions are counted by programs of their own, which `cargo xtask bench` runs before:
//! `QUERENT_BENCH_CORE` names the file with what they said.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use querent_bench_core::{Scene, line};
use querent_core::wire;
use serde::Deserialize;

use crate::Outcome;
use crate::measure::median;
use crate::report::{Table, grouped};
use crate::rows::Measured;

/// How many are timed at once: what is timed takes microseconds.
const BATCH: usize = 200;

/// What is measured: the name that all three ways of measuring have for it, the one for people, and what does it a batch's times.
type Subject = (&'static str, &'static str, Box<dyn Fn() -> Outcome<f64>>);

/// What was counted.
#[derive(Deserialize)]
struct Counted {
    allocations: BTreeMap<String, Allocations>,
    instructions: BTreeMap<String, u64>,
    /// What the instructions are held against.
    baseline: BTreeMap<String, u64>,
    /// Whether the same compiler made the baseline.
    comparable: bool,
}

#[derive(Deserialize)]
struct Allocations {
    count: usize,
    bytes: usize,
}

pub(crate) fn measure(_: &Path, quick: bool, _: &mut dyn FnMut(&str)) -> Outcome<Measured> {
    let file = std::env::var_os("QUERENT_BENCH_CORE")
        .ok_or("allocations and instructions are counted by `cargo xtask bench`")?;
    let counted: Counted = serde_json::from_slice(&fs::read(file)?)?;
    Ok((Vec::new(), vec![table(if quick { 15 } else { 101 }, &counted)?]).into())
}

fn table(rounds: usize, counted: &Counted) -> Outcome<Table> {
    let about = "One thread, no disk. A command is made, decided, taken into the state of its item, and its reply is read; fresh and old are \
                 items with nothing and with 1,000 questions settled. A line is that of a question. Allocations are those of one, with each \
                 growth; instructions are counted by callgrind and held against `bench/core/instructions.json`.";
    let head = ["", "a second", "allocations", "bytes", "instructions", "against the baseline"];
    let mut table = Table::new("The core", about, &head);
    let subjects = subjects();
    let mut rates = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for ((_, _, run), rates) in subjects.iter().zip(&mut rates) {
            rates.push(run()?);
        }
    }
    for ((key, name, _), rates) in subjects.iter().zip(rates) {
        let allocations = counted.allocations.get(*key).ok_or_else(|| format!("no allocations of {key}"))?;
        let instructions = *counted.instructions.get(*key).ok_or_else(|| format!("no instructions of {key}"))?;
        table.line([
            (*name).to_owned(),
            format!("{:.0}", median(rates)),
            grouped(allocations.count),
            grouped(allocations.bytes),
            grouped(usize::try_from(instructions)?),
            difference(instructions, counted.baseline.get(*key).copied(), counted.comparable),
        ]);
    }
    Ok(table)
}

fn difference(now: u64, before: Option<u64>, comparable: bool) -> String {
    let Some(before) = before else { return "not in it".to_owned() };
    #[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
    let percent = (now as f64 / before as f64 - 1.0) * 100.0;
    format!("{percent:+.1} %{}", if comparable { "" } else { ", of another compiler" })
}

fn subjects() -> Vec<Subject> {
    let [fresh, old] = [0, 1_000].map(Scene::with_settled);
    let line = line();
    let of_scene = |scene: &Scene, command: fn(&mut Scene)| -> Box<dyn Fn() -> Outcome<f64>> {
        let scene = scene.clone();
        Box::new(move || {
            let mut scenes = vec![scene.clone(); BATCH];
            Ok(rate(|place| command(&mut scenes[place])))
        })
    };
    let asks = |scene: &mut Scene| drop(black_box(scene.asks()));
    let answers = |scene: &mut Scene| drop(black_box(scene.answers()));
    let (to_encode, to_decode) = (line.clone(), line.clone());
    vec![
        ("ask fresh", "ask, fresh", of_scene(&fresh, asks)),
        ("ask old", "ask, old", of_scene(&old, asks)),
        ("answer fresh", "answer, fresh", of_scene(&fresh, answers)),
        ("answer old", "answer, old", of_scene(&old, answers)),
        (
            "encode question",
            "encode a line",
            Box::new(move || {
                let decoded = wire::decode(&to_encode).map_err(|damage| format!("{damage:?}"))?;
                let mut out = Vec::with_capacity(2 * to_encode.len());
                Ok(rate(|_| {
                    out.clear();
                    black_box(wire::encode(black_box(&decoded), &mut out));
                }))
            }),
        ),
        (
            "decode question",
            "decode a line",
            Box::new(move || Ok(rate(|_| drop(black_box(wire::decode(black_box(&to_decode))))))),
        ),
        (
            "peek question",
            "peek at a line",
            Box::new(move || Ok(rate(|_| drop(black_box(wire::peek(black_box(&line))))))),
        ),
    ]
}

/// How many a second, of one batch.
fn rate(mut one: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    (0..BATCH).for_each(&mut one);
    crate::measure::rate(BATCH, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_has_a_line_for_everything_that_is_counted() {
        let keys: Vec<&str> = subjects().iter().map(|(key, ..)| *key).collect();
        let baseline = include_str!("../core/instructions.json");
        let baseline: serde_json::Value = serde_json::from_str(baseline).unwrap();
        let baseline: BTreeMap<String, u64> = serde_json::from_value(baseline["instructions"].clone()).unwrap();
        assert_eq!(baseline.keys().map(String::as_str).collect::<Vec<_>>(), {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted
        });
        let allocations = keys.iter().map(|key| ((*key).to_owned(), Allocations { count: 40, bytes: 4_000 })).collect();
        let counted = Counted { allocations, instructions: baseline.clone(), baseline, comparable: true };

        let text = table(1, &counted).unwrap().text();

        assert_eq!(text.matches("+0.0 %").count(), keys.len(), "{text}");
    }

    #[test]
    fn a_difference_says_whether_it_counts() {
        assert_eq!(difference(110, Some(100), true), "+10.0 %");
        assert_eq!(difference(99, Some(100), false), "-1.0 %, of another compiler");
        assert_eq!(difference(99, None, true), "not in it");
    }
}
