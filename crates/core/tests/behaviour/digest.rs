//! The metrics of a period, of stories that were played by the rules.

use querent_core::view::{Digest, DigestBuilder, Percentiles};
use querent_core::{Category, Outcome};

use crate::scenario::{Scenario, given, given_implementing};
use crate::speech::{Q1, Q2, Q3, alice, architect, engineer, human};

impl Scenario {
    /// The digest of the time since `begin` after ten o'clock.
    fn digest_since(&self, begin: &str) -> Digest {
        let mut builder = DigestBuilder::new(self.at(begin), self.now);
        self.records.iter().for_each(|record| builder.add(record));
        builder.finish()
    }

    fn digest(&self) -> Digest {
        self.digest_since("0s")
    }
}

fn took(p50: u64, p90: u64) -> Percentiles {
    Percentiles { p50_seconds: Some(p50), p90_seconds: Some(p90) }
}

#[test]
fn where_nothing_was_asked_there_are_no_rates() {
    given().item("42").then(|it| {
        let digest = it.digest();
        assert_eq!((digest.total, digest.settled, digest.open), (0, 0, 0));
        assert_eq!((digest.auto_resolution_rate, digest.escalation_rate, digest.average_rounds), (None, None, None));
        assert_eq!(digest.time_to_answer.agent, Percentiles::default());
        assert_eq!((digest.since, digest.until), (it.at("0s"), it.now));
    });
}

#[test]
fn an_answered_question_is_open_until_its_asker_settles_it() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .later("12m")
        .and(architect().answers(Q1, "15 minutes"))
        .then(|it| {
            assert_eq!((it.digest().settled, it.digest().open), (0, 1));
            assert_eq!(it.digest().time_to_answer.agent, took(720, 720));
        })
        .when(engineer().resolves(Q1))
        .then(|it| {
            assert_eq!((it.digest().settled, it.digest().open), (1, 0));
            assert_eq!(it.digest().auto_resolution_rate, Some(1.0));
        });
}

#[test]
fn the_end_of_an_item_settles_what_was_answered_and_what_was_not() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .and(architect().answers(Q1, "15 minutes"))
        .and(engineer().asks("architect", "And then?"))
        .when(human().ends_as(Outcome::Merged))
        .then(|it| {
            assert_eq!((it.digest().settled, it.digest().open), (2, 0));
            assert_eq!(it.digest().auto_resolution_rate, Some(0.5), "a withdrawn question was not resolved");
        });
}

#[test]
fn an_escalated_question_is_a_humans_and_counts_under_its_first_pair() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .later("1h")
        .and(engineer().escalates(Q1))
        .later("5m")
        .when(alice().answers(Q1, "15 minutes"))
        .then(|it| {
            let digest = it.digest();
            assert_eq!((digest.auto_resolution_rate, digest.escalation_rate), (Some(0.0), Some(1.0)));
            assert_eq!(digest.time_to_answer.human, took(300, 300), "since a human has it");
            assert_eq!(digest.time_to_answer.agent, Percentiles::default());
            assert_eq!(digest.by_pair.len(), 1);
            assert_eq!((digest.by_pair[0].to.to_string().as_str(), digest.by_pair[0].count), ("architect", 1));
        });
}

#[test]
fn a_humans_note_on_an_escalated_question_is_its_answer() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .and(engineer().escalates(Q1))
        .later("2m")
        .when(human().resolves_saying(Q1, "an hour"))
        .then(|it| assert_eq!(it.digest().time_to_answer.human, took(120, 120)));
}

#[test]
fn each_round_has_its_own_time() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .later("1m")
        .and(architect().answers(Q1, "15 minutes"))
        .later("20m")
        .and(engineer().follows_up(Q1, "Also for admins?"))
        .later("3m")
        .and(architect().answers(Q1, "5 minutes"))
        .when(engineer().resolves(Q1))
        .then(|it| {
            assert_eq!(it.digest().average_rounds, Some(2.0));
            assert_eq!(it.digest().time_to_answer.agent, took(60, 180));
        });
}

#[test]
fn a_fallback_settles_a_question_but_does_not_answer_it() {
    given_implementing()
        .and(engineer().asks("human", "Where?").else_takes("redis", "easily undone").expires_in("5m"))
        .later("6m")
        .when_looked_at()
        .then(|it| {
            let digest = it.digest();
            assert_eq!((digest.settled, digest.fallbacks_used), (1, 1));
            assert_eq!(digest.auto_resolution_rate, Some(0.0));
            assert_eq!(digest.time_to_answer.human, Percentiles::default());
        });
}

#[test]
fn an_expiry_without_a_fallback_uses_none() {
    given_implementing()
        .and(engineer().asks("human", "Where?").without_blocking().expires_in("5m"))
        .later("6m")
        .when_looked_at()
        .then(|it| assert_eq!((it.digest().settled, it.digest().fallbacks_used), (1, 0)));
}

#[test]
fn an_agent_that_lets_its_time_pass_is_counted() {
    given_implementing()
        .and(engineer().asks("architect", "How long?"))
        .later("31m")
        .when_looked_at()
        .then(|it| assert_eq!((it.digest().stale, it.digest().open), (1, 1)));
}

#[test]
fn a_question_settles_in_the_period_of_its_end_and_was_asked_in_that_of_its_beginning() {
    given_implementing()
        .and(engineer().asks("human", "Where?"))
        .later("2h")
        .and(human().answers(Q1, "here"))
        .and(engineer().asks("human", "Since when?"))
        .then(|it| {
            let digest = it.digest_since("1h");
            assert_eq!((digest.total, digest.settled, digest.open), (1, 1, 1));
            assert_eq!(digest.time_to_answer.human, took(7_200, 7_200));
        });
}

#[test]
fn what_comes_after_the_period_is_not_in_it() {
    given_implementing().and(engineer().asks("human", "Where?")).later("2h").and(human().answers(Q1, "here")).then(
        |it| {
            let mut builder = DigestBuilder::new(it.at("0s"), it.at("1h"));
            it.records.iter().for_each(|record| builder.add(record));
            let digest = builder.finish();
            assert_eq!((digest.total, digest.settled, digest.open), (1, 0, 1));
        },
    );
}

#[test]
fn pairs_categories_and_topics_begin_with_the_most_frequent() {
    let about = |topic: &'static str| move |ask: &mut querent_core::Ask| ask.topic = topic.to_owned();
    given_implementing()
        .and(engineer().asks("human", "May I?").without_blocking().category(Category::RiskAck).with(about("Risk")))
        .and(engineer().asks("architect", "One?").without_blocking().with(about("Store")))
        .and(engineer().asks("architect", "Two?").without_blocking().with(about("Store")))
        .then(|it| {
            assert_eq!(it.question(Q2).topic, it.question(Q3).topic);
            let digest = it.digest();
            let pairs: Vec<_> = digest.by_pair.iter().map(|it| (it.to.to_string(), it.count)).collect();
            assert_eq!(pairs, [("architect".to_owned(), 2), ("human".to_owned(), 1)]);
            let categories: Vec<_> = digest.by_category.iter().map(|it| (it.category, it.count)).collect();
            assert_eq!(categories, [(Category::Clarification, 2), (Category::RiskAck, 1)]);
            let topics: Vec<_> = digest.topics.iter().map(|it| (it.topic.as_str(), it.count)).collect();
            assert_eq!(topics, [("Store", 2), ("Risk", 1)]);
        });
}
