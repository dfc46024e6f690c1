//! A digest counts every question once, wherever the period begins.

use proptest::prelude::*;
use querent_core::Moment;
use querent_core::view::{Digest, DigestBuilder, Percentiles, StatusFilter};

use crate::deeds::life;
use crate::world::World;
use crate::{config, live};

fn digest(world: &World, since: Moment, until: Moment) -> Digest {
    let mut builder = DigestBuilder::new(since, until);
    world.records.iter().for_each(|record| builder.add(record));
    builder.finish()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_was_asked_is_settled_or_open(deeds in life()) {
        let world = live(&deeds);
        let whole = digest(&world, world.records[0].at, world.now);

        prop_assert_eq!(whole.total as usize, world.state.questions.len());
        prop_assert_eq!(whole.total, whole.settled + whole.open);
        let ended = world.state.item.as_ref().is_some_and(querent_core::Item::has_ended);
        let active = world.state.questions.values().filter(|it| !ended && StatusFilter::Active.shows(it));
        prop_assert_eq!(whole.open as usize, active.count());
    }

    #[test]
    fn two_periods_count_what_both_together_count(deeds in life(), cut in any::<prop::sample::Index>()) {
        let world = live(&deeds);
        let (begin, middle) = (world.records[0].at, cut.get(&world.records).at);
        let before = digest(&world, begin, Moment::from_millis(middle.millis() - 1));
        let after = digest(&world, middle, world.now);
        let whole = digest(&world, begin, world.now);

        prop_assert_eq!(before.total + after.total, whole.total);
        prop_assert_eq!(before.settled + after.settled, whole.settled);
        prop_assert_eq!(before.open + after.total, after.settled + after.open);
        prop_assert_eq!(before.stale + after.stale, whole.stale);
        prop_assert_eq!(before.fallbacks_used + after.fallbacks_used, whole.fallbacks_used);
        prop_assert_eq!(after.open, whole.open);
    }

    #[test]
    fn lists_add_up_and_rates_are_shares(deeds in life(), cut in any::<prop::sample::Index>()) {
        let world = live(&deeds);
        let it = digest(&world, cut.get(&world.records).at, world.now);

        prop_assert_eq!(it.by_pair.iter().map(|it| it.count).sum::<u32>(), it.total);
        prop_assert_eq!(it.by_category.iter().map(|it| it.count).sum::<u32>(), it.total);
        prop_assert_eq!(it.topics.iter().map(|it| it.count).sum::<u32>(), it.total);
        for rate in [it.auto_resolution_rate, it.escalation_rate] {
            prop_assert_eq!(rate.is_none(), it.settled == 0);
            prop_assert!(rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)));
        }
        prop_assert!(it.average_rounds.is_none_or(|rounds| rounds >= 1.0));
        for Percentiles { p50_seconds, p90_seconds } in [it.time_to_answer.agent, it.time_to_answer.human] {
            prop_assert!(p50_seconds <= p90_seconds && p50_seconds.is_none() == p90_seconds.is_none());
        }
    }
}
