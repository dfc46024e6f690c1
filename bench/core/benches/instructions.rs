//! How many instructions the core takes for a command and for a line, by callgrind. `cargo xtask bench instructions`.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]
#![expect(missing_docs, reason = "gungraun makes modules of its own")]

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use querent_core::Applied;
use querent_core::wire::{self, Damage, Head, Line};

use querent_bench_core::{Scene, line};

#[library_benchmark]
#[bench::fresh(Scene::with_settled(0))]
#[bench::old(Scene::with_settled(1_000))]
fn ask(mut scene: Scene) -> (Applied, Scene) {
    (black_box(scene.asks()), scene)
}

#[library_benchmark]
#[bench::fresh(Scene::with_settled(0))]
#[bench::old(Scene::with_settled(1_000))]
fn answer(mut scene: Scene) -> (Applied, Scene) {
    (black_box(scene.answers()), scene)
}

#[library_benchmark]
#[bench::question((wire::decode(&line()).expect("it was just written"), Vec::with_capacity(4_096)))]
fn encode((line, mut out): (Line, Vec<u8>)) -> (u32, Line, Vec<u8>) {
    (black_box(wire::encode(&line, &mut out)), line, out)
}

#[library_benchmark]
#[bench::question(line())]
fn decode(line: Vec<u8>) -> (Result<Line, Damage>, Vec<u8>) {
    (black_box(wire::decode(&line)), line)
}

#[library_benchmark]
#[bench::question(line())]
fn peek(line: Vec<u8>) -> (Result<Head, Damage>, Vec<u8>) {
    (black_box(wire::peek(&line)), line)
}

library_benchmark_group!(name = core, benchmarks = [ask, answer, encode, decode, peek]);
main!(library_benchmark_groups = core);
