//! A deterministic simulator of Querent: the real core, the hub's logic and the files engine, on a simulated disk and clock.
//!
//! Agents ask and answer, humans answer, late, twice or never; processes crash in the middle of a write, the power fails, the
//! same command comes twice and in another order, the clock jumps. A reference model says what must hold. Everything follows
//! from a seed: the same seed makes the same run, to the byte.

mod acts;
mod cast;
mod clock;
mod disk;
mod faults;
mod log;
mod model;
mod quiet;
mod reads;
mod tally;
mod world;

pub use log::{Log, replay};
pub use model::{Rule, Violation};
pub use querent_core::Faults;
pub use tally::Tally;

/// What a run is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Everything that happens follows from it.
    pub seed: u64,
    /// How much happens before the quiet at the end.
    pub steps: u64,
    /// What the core does wrong on purpose.
    pub faults: Faults,
    /// Whether the disk says that it has synced what it has not.
    pub disk_lies: bool,
}

impl Settings {
    /// A run in which core and disk do nothing wrong on purpose.
    pub fn new(seed: u64, steps: u64) -> Self {
        Self { seed, steps, faults: Faults::default(), disk_lies: false }
    }
}

/// What came of a run.
pub struct Outcome {
    /// How often what happened.
    pub tally: Tally,
    /// What happened, in order.
    pub log: Log,
    /// The rule that did not hold, and at which step.
    pub violation: Option<(u64, Violation)>,
}

/// Runs one simulation.
pub fn run(settings: Settings) -> Outcome {
    world::World::run(settings)
}
