//! How long the core takes for a command and for a line. `cargo xtask bench core`.

#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use querent_core::wire;

use querent_bench_core::{Scene, line};

fn commands(bench: &mut Criterion) {
    for settled in [0, 1_000] {
        let scene = Scene::with_settled(settled);
        bench.bench_function(&format!("ask, {settled} settled"), |b| {
            b.iter_batched_ref(|| scene.clone(), |scene| black_box(scene.asks()), BatchSize::SmallInput);
        });
        bench.bench_function(&format!("answer, {settled} settled"), |b| {
            b.iter_batched_ref(|| scene.clone(), |scene| black_box(scene.answers()), BatchSize::SmallInput);
        });
    }
}

fn lines(bench: &mut Criterion) {
    let line = line();
    let decoded = wire::decode(&line).expect("it was just written");
    bench.bench_function("encode a line", |b| {
        let mut out = Vec::with_capacity(2 * line.len());
        b.iter(|| {
            out.clear();
            wire::encode(black_box(&decoded), &mut out)
        });
    });
    bench.bench_function("decode a line", |b| b.iter(|| wire::decode(black_box(&line))));
    bench.bench_function("peek at a line", |b| b.iter(|| wire::peek(black_box(&line))));
}

criterion_group!(benches, commands, lines);
criterion_main!(benches);
