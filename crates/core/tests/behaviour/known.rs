//! Not asking twice: the cooldown of a question, and what is learned from people's answers.

use querent_core::{Autonomy, Blocker, Category, Code, Kind, LearnedStatus, Provenance, Source, Status, Verdict};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Asking, Q1, Q2, alice, architect, engineer, human, on};

/// Items 42 to 45 in the engineer's step.
fn given_items() -> Scenario {
    ["43", "44", "45"].iter().fold(given_implementing(), |it, id| {
        it.and(on(id, human().opens("More"))).and(on(id, human().moves_to("implement")))
    })
}

fn which_tea() -> Asking {
    engineer().asks("human", "Which tea is served?").options([("g", "Green"), ("b", "Black")])
}

fn tabs() -> Asking {
    engineer().asks("human", "Tabs or spaces?").kind(Kind::Preference)
}

fn learned(it: &Scenario, number: u32) -> (LearnedStatus, f64, u32) {
    let it = &it.state.knowledge.learned[&number];
    (it.status, it.confidence, it.uses)
}

/// What the last ask was told: where the answer comes from, if there is one.
fn provenance(it: &Scenario) -> Option<Provenance> {
    let reply: querent_core::reply::AskReply = it.reply().read().unwrap();
    reply.answer.map(|it| it.provenance)
}

#[test]
fn the_same_question_on_the_same_item_has_its_answer_for_a_day() {
    given_implementing()
        .and(which_tea())
        .and(human().answers(Q1, "g"))
        .later("23h")
        .when(engineer().asks("human", "which  TEA is served").options([("g", "Green"), ("b", "Black")]))
        .then_events(["question_reused"])
        .then_reply(&json!({ "question_id": Q1, "status": "resolved", "reused": true, "answer": { "value": "g" } }))
        .then_stage("implement")
        .later("1h")
        .when(which_tea())
        .then_reply(&json!({ "question_id": Q2, "status": "open", "reused": false }));
}

#[test]
fn an_agents_answer_serves_questions_to_agents_and_a_humans_serves_all() {
    given_implementing()
        .and(engineer().asks("architect", "Which tea is served?"))
        .and(architect().answers(Q1, "green"))
        .when(engineer().asks("architect", "Which tea is served?"))
        .then_events(["question_reused"])
        .when(engineer().asks("human", "Which tea is served?"))
        .then_events(["question_asked", "item_paused"])
        .and(human().answers(Q2, "black"))
        .when(engineer().asks("architect", "Which tea is served?"))
        .then_reply(&json!({ "question_id": Q2, "answer": { "value": "black" } }));
}

#[test]
fn what_is_not_the_same_question_is_asked() {
    let others = [
        engineer().asks("human", "Which coffee is served?"),
        which_tea().with(|ask| ask.tags = vec!["party".to_owned()]),
        which_tea().with(|ask| ask.category = Some(Category::ExternalDecision)),
        // The answer would mean something else.
        engineer().asks("human", "Which tea is served?").options([("g", "Black"), ("b", "Green")]),
        engineer().asks("human", "Which tea is served?").options([("w", "White"), ("b", "Black")]),
    ];
    for other in others {
        given_implementing()
            .and(which_tea())
            .and(human().answers(Q1, "g"))
            .when(other)
            .then_reply(&json!({ "question_id": Q2, "status": "open" }));
    }
}

#[test]
fn nothing_is_reused_that_nobody_said_or_that_is_guarded_or_where_all_is_to_be_asked() {
    let expiring = || which_tea().else_takes("g", "there is enough of it");
    given_implementing().and(expiring()).later("15m").when(expiring()).then_reply(&json!({ "question_id": Q2 }));
    let guarded = || which_tea().with(|ask| ask.blocker = Some(Blocker::SecurityDecision));
    given_implementing()
        .and(guarded())
        .and(human().answers(Q1, "g"))
        .when(guarded())
        .then_reply(&json!({ "question_id": Q2, "status": "open" }));
    given_implementing()
        .rules(|rules| rules.config.project.autonomy = Autonomy::AlwaysAsk)
        .and(which_tea())
        .and(human().answers(Q1, "g"))
        .then_shared_events([])
        .when(which_tea())
        .then_reply(&json!({ "question_id": Q2, "status": "open" }));
}

#[test]
fn one_preference_is_learned_and_answers_elsewhere_at_once() {
    given_items()
        .and(tabs())
        .when(alice().answers(Q1, "spaces"))
        .then_shared_events(["answer_learned"])
        .when(on("43", tabs()))
        .then_events(["question_asked", "question_answered", "assumption_recorded"])
        .then_shared_events(["learned_answer_used"])
        .then_reply(&json!({
            "question_id": "CLR-43-001", "status": "resolved", "item_stage": "implement",
            "answer": {
                "value": "spaces", "provenance": "learned", "by": "querent",
                "learned": { "id": "LRN-001", "question_id": Q1 },
            },
        }))
        .then(|it| {
            assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.9, 1));
            let assumed = &it.the_item().assumptions[&1];
            assert_eq!(assumed.source, Source::Learned);
            assert_eq!(assumed.reasoning, "human:alice answered so before (LRN-001, from CLR-42-001)");
            assert!(it.thread("CLR-43-001").contains("spaces (LRN-001, learned from CLR-42-001)"));
        });
}

#[test]
fn the_same_answer_twice_is_learned_and_another_answer_begins_anew() {
    given_items()
        .and(which_tea())
        .when(human().answers(Q1, "g"))
        .then_shared_events(["answer_noted"])
        .and(on("43", which_tea()))
        .when(on("43", human().answers("CLR-43-001", "b")))
        .then_shared_events(["answer_noted"])
        .and(on("44", which_tea()))
        .when(on("44", human().answers("CLR-44-001", "Black")))
        .then_shared_events(["answer_learned"])
        .then(|it| assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.8, 0)))
        // The options have other ids here, and the answer means the same.
        .when(on("45", engineer().asks("human", "Which tea is served?").options([("1", "Black"), ("2", "Green")])))
        .then_reply(&json!({ "answer": { "value": "1", "text": "Black", "provenance": "learned" } }));
}

#[test]
fn what_an_agent_answers_is_not_learned() {
    given_items()
        .and(engineer().asks("architect", "Which tea is served?").kind(Kind::Preference))
        .when(architect().answers(Q1, "green"))
        .then_shared_events([])
        .when(on("43", engineer().asks("architect", "Which tea is served?").kind(Kind::Preference)))
        .then(|it| assert_eq!(provenance(it), None));
}

#[test]
fn security_permission_and_risk_are_neither_learned_nor_answered_by_what_was() {
    let guarded: [fn(Asking) -> Asking; 3] = [
        |ask| ask.with(|ask| ask.blocker = Some(Blocker::SecurityDecision)),
        |ask| ask.with(|ask| ask.category = Some(Category::PermissionOverride)),
        |ask| ask.with(|ask| ask.category = Some(Category::RiskAck)),
    ];
    for guard in guarded {
        given_items()
            .and(guard(tabs()))
            .when(human().answers(Q1, "spaces"))
            .then_shared_events([])
            .when(on("43", guard(tabs())))
            .then(|it| assert_eq!(provenance(it), None));
        given_items()
            .and(tabs())
            .and(human().answers(Q1, "spaces"))
            .when(on("43", guard(tabs())))
            .then(|it| assert_eq!(provenance(it), None));
    }
}

#[test]
fn a_human_who_says_otherwise_lowers_the_confidence_and_the_second_time_retires_it() {
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .and(on("43", tabs()))
        .when(on("43", human().answers("CLR-43-001", "tabs")))
        .then_events(["late_answer_recorded", "assumption_overturned"])
        .then_shared_events(["learned_answer_overruled", "answer_noted"])
        .then_status("CLR-43-001", Status::Resolved)
        .then(|it| {
            assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.6, 1));
            assert!(it.the_item().needs_rework);
            assert_eq!(it.question("CLR-43-001").answer.as_ref().unwrap().provenance, Provenance::Human);
        })
        .and(on("44", tabs()))
        .then(|it| assert_eq!(provenance(it), Some(Provenance::Learned)))
        // What took its place was said twice by now.
        .when(on("44", human().answers("CLR-44-001", "tabs")))
        .then_shared_events(["learned_answer_overruled", "answer_learned"])
        .then(|it| {
            assert_eq!(learned(it, 1), (LearnedStatus::Retired, 0.3, 2));
            assert_eq!(learned(it, 2), (LearnedStatus::Active, 0.9, 0));
        })
        .when(on("45", tabs()))
        .then_reply(&json!({ "answer": { "value": "tabs", "learned": { "id": "LRN-002" } } }));
}

#[test]
fn a_late_answer_that_says_the_same_confirms_what_was_assumed() {
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .and(on("43", tabs()))
        .when(on("43", human().answers("CLR-43-001", "spaces")))
        .then_events(["late_answer_recorded", "assumption_confirmed"])
        .then_shared_events([])
        .then(|it| assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.9, 1)));
}

#[test]
fn overturning_the_assumption_counts_against_what_was_learned() {
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .and(on("43", tabs()))
        .when(on("43", human().reviews("ASM-43-001", Verdict::Overturn)))
        .then_shared_events(["learned_answer_overruled"])
        .then(|it| assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.6, 1)));
}

#[test]
fn a_question_that_is_lost_on_the_reader_teaches_nothing() {
    for kind in [Kind::Educational, Kind::Celebratory] {
        given_implementing()
            .and(engineer().asks("human", "Shall I explain?").kind(kind))
            .when(human().answers(Q1, "yes"))
            .then_shared_events([]);
    }
}

#[test]
fn a_known_answer_comes_before_the_gate() {
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .rules(|rules| rules.config.human_input.enabled = false)
        .when(on("43", tabs()))
        .then(|it| assert_eq!(provenance(it), Some(Provenance::Learned)))
        .when(on("43", which_tea()))
        .then_refused(Code::UnsupportedOperation);
}

#[test]
fn an_item_that_asks_everything_neither_uses_nor_teaches() {
    let always = Some(Autonomy::AlwaysAsk);
    let opens = |id: &str| {
        let open = querent_core::Action::OpenItem { title: "More".to_owned(), workflow: None, autonomy: always };
        on(id, human().does(open))
    };
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .and(opens("46"))
        .and(on("46", human().moves_to("implement")))
        .when(on("46", tabs()))
        .then(|it| assert_eq!(provenance(it), None))
        .when(on("46", human().answers("CLR-46-001", "tabs")))
        .then_shared_events([]);
}

#[test]
fn one_question_counts_once_against_what_was_learned() {
    given_items()
        .and(tabs())
        .and(human().answers(Q1, "spaces"))
        .and(on("43", tabs()))
        .and(on("43", human().reviews("ASM-43-001", Verdict::Overturn)))
        .when(on("43", human().answers("CLR-43-001", "tabs")))
        .then_shared_events(["answer_noted"])
        .then(|it| assert_eq!(learned(it, 1), (LearnedStatus::Active, 0.6, 1)));
}

#[test]
fn what_was_learned_from_people_is_not_an_agents_to_change() {
    given_items()
        .and(engineer().asks("architect", "Tabs or spaces?").kind(Kind::Preference))
        .and(human().answers(Q1, "spaces"))
        .and(on("43", engineer().asks("architect", "Tabs or spaces?")))
        .then(|it| assert_eq!(provenance(it), Some(Provenance::Learned)))
        .when(on("43", architect().answers("CLR-43-001", "tabs")))
        .then_refused(Code::QuestionAlreadyAnswered)
        .when(on("43", human().answers("CLR-43-001", "tabs")))
        .then_events(["late_answer_recorded", "assumption_overturned"]);
}

#[test]
fn a_humans_word_on_an_escalated_question_is_an_answer_like_any_other() {
    given_items()
        .and(engineer().asks("architect", "Which tea is served?"))
        .and(engineer().escalates(Q1))
        .when(human().resolves_saying(Q1, "green"))
        .then_shared_events(["answer_noted"])
        .when(engineer().asks("human", "Which tea is served?"))
        .then_reply(&json!({ "question_id": Q1, "reused": true, "answer": { "text": "green" } }));
}

#[test]
fn of_several_answers_the_last_that_has_a_say_stands() {
    given_implementing()
        .and(engineer().asks("human", "Which tea is served?"))
        .and(human().answers(Q1, "black"))
        .later("25h")
        .and(engineer().asks("architect", "Which tea is served?"))
        .and(architect().answers(Q2, "green"))
        .when(engineer().asks("human", "Which tea is served?"))
        .then_reply(&json!({ "question_id": "CLR-42-003", "status": "open" }))
        .and(human().answers("CLR-42-003", "white"))
        .and(engineer().follows_up(Q2, "Really?"))
        .and(architect().answers(Q2, "green"))
        .when(engineer().asks("human", "Which tea is served?"))
        .then_reply(&json!({ "question_id": "CLR-42-003", "answer": { "value": "white" } }));
}
