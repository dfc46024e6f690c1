//! Where nobody is to be asked, the fallback is taken at once, and is as visible as any other.

use querent_core::{Action, Autonomy, Blocker, Category, Code, Command, Provenance, Source, Status};
use serde_json::json;

use crate::scenario::{Scenario, given, given_implementing};
use crate::speech::{Asking, Q1, architect, engineer, human};

fn given_never_ask() -> Scenario {
    given_implementing().rules(|rules| rules.config.project.autonomy = Autonomy::NeverAsk)
}

fn which_auth() -> Asking {
    let options = [("jwt", "JSON Web Tokens"), ("cookie", "Cookie")];
    engineer().asks("human", "Which auth?").options(options).else_takes("jwt", "it is stateless")
}

#[test]
fn the_fallback_is_taken_at_once_and_nothing_waits() {
    given_never_ask()
        .when(which_auth())
        .then_events(["question_asked", "question_expired", "assumption_recorded"])
        .then_reply(&json!({
            "question_id": Q1, "status": "expired", "item_stage": "implement", "resume_stage": null,
            "answer": { "value": "jwt", "provenance": "fallback" },
        }))
        .then_stage("implement")
        .then(|it| {
            assert_eq!(it.the_item().assumptions[&1].source, Source::Autonomy);
            assert!(it.the_item().open.is_empty());
        })
        .later("30d")
        .when_looked_at()
        .then_events([]);
}

#[test]
fn a_person_may_still_say_otherwise() {
    given_never_ask()
        .and(which_auth())
        .when(human().answers(Q1, "cookie"))
        .then_events(["late_answer_recorded", "assumption_overturned"])
        .then_status(Q1, Status::Expired)
        .then(|it| assert_eq!(it.question(Q1).answer.as_ref().unwrap().provenance, Provenance::Human));
}

#[test]
fn without_a_fallback_it_is_refused_with_advice() {
    for ask in [engineer().asks("human", "Which bank?"), engineer().asks("human", "Which bank?").without_blocking()] {
        given_never_ask()
            .when(ask)
            .then_refused(Code::ConditionsNotMet)
            .then_hint("querent assume --item 42 --agent engineer")
            .then_details(&json!({ "conditions": [{
                "condition": "fallback", "met": false, "needs": "a fallback, with the reason why it is safe",
            }] }))
            .then_events([]);
    }
}

#[test]
fn agents_are_asked_as_ever_and_so_are_humans_about_what_only_they_may_settle() {
    given_never_ask()
        .and(engineer().asks("architect", "Which auth?"))
        .then_status(Q1, Status::Open)
        .when(architect().answers(Q1, "jwt"))
        .then_accepted();
    for ask in [
        which_auth().blocker(Blocker::SecurityDecision),
        which_auth().category(Category::PermissionOverride),
        which_auth().category(Category::RiskAck),
    ] {
        given_never_ask().and(ask).then_status(Q1, Status::Open).then_stage("awaiting_input");
    }
}

#[test]
fn an_item_may_differ_from_its_project() {
    let opened = |autonomy| {
        let action = Action::OpenItem { title: "Log in".to_owned(), workflow: None, autonomy: Some(autonomy) };
        Command { item: "42".parse().unwrap(), ..human().does(action) }
    };
    given()
        .and(opened(Autonomy::NeverAsk))
        .and(human().moves_to("implement"))
        .and(which_auth())
        .then_status(Q1, Status::Expired);
    given()
        .rules(|rules| rules.config.project.autonomy = Autonomy::NeverAsk)
        .and(opened(Autonomy::AlwaysAsk))
        .and(human().moves_to("implement"))
        .and(which_auth())
        .then_status(Q1, Status::Open);
}
