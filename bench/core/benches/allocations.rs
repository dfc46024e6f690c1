//! How many allocations the core makes for a command and for a line, as one line of JSON. `cargo xtask bench --only=core`.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::io::Write;

use allocation_counter::measure;
use querent_core::wire;
use serde_json::{Map, Value, json};

use querent_bench_core::{Scene, line};

fn main() {
    let mut all = Map::new();
    for (age, settled) in [("fresh", 0), ("old", 1_000)] {
        let scene = Scene::with_settled(settled);
        let (mut asks, mut answers) = (scene.clone(), scene.clone());
        all.insert(format!("ask {age}"), counted(|| asks.asks()));
        all.insert(format!("answer {age}"), counted(|| answers.answers()));
    }
    let line = line();
    let decoded = wire::decode(&line).expect("it was just written");
    let mut out = Vec::with_capacity(2 * line.len());
    all.insert("encode question".to_owned(), counted(|| wire::encode(&decoded, &mut out)));
    all.insert("decode question".to_owned(), counted(|| wire::decode(&line)));
    all.insert("peek question".to_owned(), counted(|| wire::peek(&line)));
    writeln!(std::io::stdout(), "{}", Value::Object(all)).expect("somebody listens");
}

/// What is still held in the end counts as well; what grows is counted each time that it does.
fn counted<T>(run: impl FnOnce() -> T) -> Value {
    let mut kept = None;
    let info = measure(|| kept = Some(black_box(run())));
    drop(kept);
    json!({ "count": info.count_total, "bytes": info.bytes_total })
}
