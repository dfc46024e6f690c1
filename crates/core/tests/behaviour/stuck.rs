use querent_core::{Cause, Status};

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Q2, architect, engineer, human};

/// The engineer asks, the architect answers; then again and again, in these words.
fn given_rounds(rounds: &[(&str, &str)]) -> Scenario {
    let (first, answer) = rounds[0];
    let start = given_implementing().and(engineer().asks("architect", first)).and(architect().answers(Q1, answer));
    rounds[1..].iter().fold(start, |it, (prompt, answer)| {
        it.and(engineer().follows_up(Q1, prompt)).and(architect().answers(Q1, *answer))
    })
}

#[test]
fn a_round_that_repeats_an_earlier_one_is_stuck_in_any_script() {
    for (rounds, evidence) in [
        (&[("Which database is it?", "The usual one"), ("Which  DATABASE is it", "See the ADR")][..], "round 2 asks"),
        (&[("Which database?", "It is in the ADR"), ("Where is the ADR?", "It is in the ADR.")][..], "round 2 answers"),
        (&[("どのデータベースですか", "標準のもの"), ("どのデータベースですか？", "別のもの")][..], "round 2 asks"),
        (&[("Какая база?", "Обычная база"), ("И где она?", "На сервере"), ("КАКАЯ БАЗА", "Та же")][..], "round 3 asks"),
    ] {
        given_rounds(rounds)
            .when_monitored()
            .then_findings([("stuck", Q1)])
            .then_events(["question_escalated", "item_paused"])
            .then_status(Q1, Status::Escalated)
            .then(|it| {
                assert!(it.findings[0].evidence[0].contains(evidence), "{:?}", it.findings[0].evidence);
                assert_eq!(it.question(Q1).cause, Some(Cause::Stuck));
            })
            .when_monitored()
            .then_findings([]);
    }
}

#[test]
fn another_question_is_another_question_and_a_single_one_is_never_stuck() {
    for rounds in [
        &[("Shall we use postgres for sessions?", "No, not that"), ("Shall we use mysql for sessions?", "Yes, use it")]
            [..],
        &[("Is it 5 or 6?", "Five it is"), ("Is it 6 or 5?", "As I said")],
        &[("Is the first one fine?", "yes"), ("Is the second one fine?", "yes")],
        &[("Which bank?", "Any bank")],
    ] {
        given_rounds(rounds).when_monitored().then_findings([]);
    }
}

#[test]
fn two_agents_that_ask_each_other_about_the_same_are_stuck() {
    let it = given_implementing().workflow(|it| it.steps[1].can_clarify = vec!["engineer".parse().unwrap()]);
    let it = it.and(engineer().asks("architect", "How long do tokens live?").with(|it| it.topic = "Tokens".to_owned()));
    let back = |topic: &str| {
        let topic = topic.to_owned();
        architect().asks("engineer", "What do you need?").with(|it| {
            it.topic = topic;
            it.blocking = Some(false);
        })
    };

    it.and(back("tokens"))
        .when_monitored()
        .then_findings([("stuck", Q1)])
        .then_status(Q1, Status::Escalated)
        .then_status(Q2, Status::Open);
}

#[test]
fn about_something_else_or_when_one_has_its_answer_they_are_not() {
    let given = || {
        given_implementing()
            .workflow(|it| it.steps[1].can_clarify = vec!["engineer".parse().unwrap()])
            .and(engineer().asks("architect", "How long do tokens live?").with(|it| it.topic = "Tokens".to_owned()))
    };
    let back = |topic: &str| {
        let topic = topic.to_owned();
        architect().asks("engineer", "What do you need?").with(|it| {
            it.topic = topic;
            it.blocking = Some(false);
        })
    };

    given().and(back("Cookies")).when_monitored().then_findings([]);
    given().and(architect().answers(Q1, "an hour")).and(back("Tokens")).when_monitored().then_findings([]);
    given().and(human().answers(Q1, "an hour")).and(back("Tokens")).when_monitored().then_findings([]);
}
