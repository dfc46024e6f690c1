//! What holds whatever happens: random lives of an item, checked after every step.
//!
//! `deeds` makes them up, `world` carries them out as a hub would, `invariants` says what must hold, and `formats` looks
//! at what is read and written. A failure prints the shortest life that shows it. `PROPTEST_CASES=10000` looks harder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod couriers;
mod deadline;
mod deeds;
mod digest;
mod formats;
mod invariants;
mod patterns;
#[path = "../support/project.rs"]
mod project;
mod teams;
mod world;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use querent_core::{Event, State, evolve, evolve_item, evolve_question, fold};

use crate::deeds::{Deed, life};
use crate::invariants::comes_to_rest;
use crate::world::World;

pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn live(deeds: &[Deed]) -> World {
    deeds.iter().fold(World::new(), |mut world, deed| {
        world.take(deed);
        world
    })
}

proptest! {
    #![proptest_config(config())]

    /// The invariants of `invariants` hold before and after every event of every life.
    #[test]
    fn every_step_of_every_life_keeps_the_invariants(deeds in life()) {
        let mut world = World::new();
        for deed in &deeds {
            let before = world.state.clone();
            let place = world.records.len();
            world.take(deed);
            invariants::of_step(&before, &world, &world.records[place..]);
        }
    }

    /// The ledger is the fold of the journal, whichever part of it was up to date before.
    #[test]
    fn a_state_that_lags_anywhere_catches_up(deeds in life(), cuts in any::<[prop::sample::Index; 3]>()) {
        let world = live(&deeds);
        let cut = cuts.map(|cut| cut.index(world.records.len() + 1));
        let item = fold(&world.records[..cut[0]]).item;
        let questions = fold(&world.records[..cut[1]]).questions;
        let mut lagging = State { item, questions, ..fold(&world.records[..cut[2]]) };

        // Everything is seen at least once, and part of it again.
        for record in world.records[cut.into_iter().min().unwrap_or(0)..].iter().chain(&world.records[cut[2]..]) {
            evolve(&mut lagging, record);
        }

        prop_assert_eq!(lagging, world.state);
    }

    /// Whatever happened before, agents are not invoked without end: if turns come to nothing, somebody must look.
    #[test]
    fn a_team_comes_to_rest_however_its_turns_end(deeds in life(), outcomes in prop::collection::vec(teams::outcome(), 1..9)) {
        comes_to_rest(live(&deeds), &outcomes);
    }

    /// A record that the state holds already is passed over.
    #[test]
    fn a_record_that_is_known_changes_nothing(deeds in life(), which in any::<prop::sample::Index>()) {
        let world = live(&deeds);
        let mut state = world.state.clone();
        evolve(&mut state, which.get(&world.records));
        prop_assert_eq!(state, world.state);
    }

    /// The item and each of its questions fold on their own: one file a question is enough.
    #[test]
    fn item_and_questions_fold_apart(deeds in life()) {
        let world = live(&deeds);
        let mut item = None;
        world.records.iter().for_each(|record| evolve_item(&mut item, record));
        prop_assert_eq!(&item, &world.state.item);

        for (id, question) in &world.state.questions {
            let mut alone = None;
            let mut own = world.records.iter().filter(|record| record.event.question() == Some(id));
            own.clone().for_each(|record| evolve_question(&mut alone, record));
            prop_assert_eq!(alone.as_ref(), Some(question));
            prop_assert_eq!(Some(question.version), own.next_back().map(|record| record.version));
        }
    }

    /// An operation that is sent again does nothing and says the same; with other content it is refused.
    #[test]
    fn an_operation_is_answered_identically_for_ever(deeds in life()) {
        let mut world = live(&deeds);
        let state = world.state.clone();
        for (command, operation) in world.operations.clone() {
            prop_assert_eq!(world.send(&operation.id, &command), operation.reply.clone());
            let other = world.send(&operation.id, &deeds::another(&command));
            prop_assert!(other.as_str().contains("operation_conflict"), "{}", other.as_str());
        }
        prop_assert_eq!(world.state, state);
    }
}

/// A property that never meets what it speaks of proves nothing.
#[test]
fn the_lives_that_are_made_up_meet_every_kind_of_event() {
    let mut runner = TestRunner::deterministic();
    let mut met = BTreeSet::new();
    for _ in 0..6_000 {
        if met.len() == Event::TYPES.len() {
            break;
        }
        let deeds = life().new_tree(&mut runner).unwrap().current();
        met.extend(live(&deeds).records.iter().map(|record| record.event.type_name()));
    }
    let missing: Vec<&&str> = Event::TYPES.iter().filter(|kind| !met.contains(**kind)).collect();
    assert!(missing.is_empty(), "never met: {missing:?}");
}
