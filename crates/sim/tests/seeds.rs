//! Two hundred runs in which nothing may be lost, and some in which the simulator must notice that something is.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use querent_sim::{Faults, Outcome, Rule, Settings, replay, run};

/// How much happens in each.
const STEPS: u64 = 80;

/// Runs these seeds on all cores, until `stop` says that this is enough; what came of each, in order of the seeds.
fn outcomes(make: impl Fn(u64) -> Settings + Sync, stop: impl Fn(&Outcome) -> bool + Sync) -> Vec<(u64, Outcome)> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = |first: usize| {
        let mut done = Vec::new();
        for seed in (1..=200).skip(first).step_by(cores) {
            let outcome = run(make(seed));
            let enough = stop(&outcome);
            done.push((seed, outcome));
            if enough {
                break;
            }
        }
        done
    };
    let mut all: Vec<(u64, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|first| scope.spawn(move || work(first))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all
}

/// The first rule that was seen broken.
fn caught(make: impl Fn(u64) -> Settings + Sync) -> (Rule, Outcome) {
    let all = outcomes(make, |outcome| outcome.violation.is_some());
    let (_, outcome) = all.into_iter().find(|(_, outcome)| outcome.violation.is_some()).expect("nothing was noticed");
    (outcome.violation.as_ref().unwrap().1.rule, outcome)
}

#[test]
fn two_hundred_seeds_break_no_rule() {
    let all = outcomes(|seed| Settings::new(seed, STEPS), |_| false);

    assert_eq!(all.len(), 200);
    for (seed, outcome) in &all {
        assert_eq!(outcome.violation, None, "seed {seed}");
    }
    let count = |what: &str| all.iter().map(|(_, outcome)| outcome.tally.of(what)).sum::<u64>();
    for what in ["asks", "answers of humans", "replays", "crashes", "power cuts", "torn writes", "disk full"] {
        assert!(count(what) > 100, "{what} happened {} times", count(what));
    }
}

#[test]
fn the_same_seed_makes_the_same_run_to_the_byte() {
    for seed in [1, 7, 42] {
        let [one, other] = [(); 2].map(|()| run(Settings::new(seed, 3 * STEPS)));

        assert_eq!(one.log.text(), other.log.text(), "seed {seed}");
        assert_eq!(one.tally, other.tally, "seed {seed}");
    }
}

#[test]
fn a_core_that_drops_resumes_is_caught_and_its_log_can_be_stepped_through() {
    let faults = Faults { drop_resume: true };

    let (rule, outcome) = caught(|seed| Settings { faults, ..Settings::new(seed, STEPS) });

    assert_eq!(rule, Rule::NobodyForgotten);
    let told = replay(&outcome.log.text(), None).unwrap();
    assert!(told.contains("item_paused") && told.contains("VIOLATION"), "{told}");
}

#[test]
fn a_disk_that_lies_about_its_syncs_is_caught() {
    let (rule, _) = caught(|seed| Settings { disk_lies: true, ..Settings::new(seed, STEPS) });

    // What is lost is missed, or leaves a hole in the log.
    assert!(matches!(rule, Rule::Kept | Rule::Read), "{rule:?}");
}
