//! Items and sessions: how they begin, move and end.

use querent_core::{Action, Code, Outcome, SessionStatus, Status};
use serde_json::json;

use crate::scenario::{given, given_implementing};
use crate::speech::{Q1, Q2, agent, architect, engineer, human, product_manager, querent};

#[test]
fn a_new_item_stands_in_the_first_step_of_its_workflow() {
    given().when(human().opens("Log in")).then_events(["item_opened"]).then_reply(&json!({
        "item": {
            "id": "42", "title": "Log in", "workflow": "feature", "stage": "requirements", "resume_stage": null,
            "open_question_id": null, "open_question_count": 0, "awaiting_since": null, "needs_rework": false,
            "status_reason": null,
        },
    }));
}

#[test]
fn an_item_is_added_once() {
    given()
        .item("42")
        .when(human().opens("Again"))
        .then_refused(Code::Conflict)
        .then_message("item `42` exists already: Log in with a bank account")
        .then_events([]);
}

#[test]
fn a_title_has_1_to_200_characters() {
    given().when(human().opens("")).then_refused(Code::InvalidInput).then_details(&json!({ "field": "title" }));
    given().when(human().opens(&"t".repeat(201))).then_refused(Code::InvalidInput);
    given().when(human().opens(&"é".repeat(200))).then_accepted();
}

#[test]
fn an_unknown_workflow_names_the_nearest_one() {
    let open = |workflow: &str| {
        human().does(Action::OpenItem { title: "t".into(), workflow: Some(workflow.into()), autonomy: None })
    };
    given()
        .when(open("featur"))
        .then_refused(Code::InvalidInput)
        .then_hint("did you mean `feature`?")
        .then_details(&json!({ "field": "workflow", "known": ["feature"] }));
}

#[test]
fn nothing_happens_to_an_item_that_does_not_exist() {
    for command in [
        engineer().starts(),
        engineer().finishes(),
        human().moves_to("implement"),
        human().ends_as(Outcome::Merged),
        human().answers(Q1, "yes"),
    ] {
        given().when(command).then_refused(Code::ItemNotFound).then_events([]);
    }
}

#[test]
fn a_session_that_starts_works_and_moves_nothing() {
    given_implementing().when(engineer().starts()).then_events(["session_started"]).then_reply(&json!({
        "session": { "agent": "engineer", "session": "engineer@42", "item": "42", "status": "working" },
        "item": { "stage": "implement" },
    }));
}

#[test]
fn a_session_that_is_started_again_is_the_same_session() {
    given_implementing()
        .and(engineer().starts())
        .and(engineer().finishes_but_keeps_the_step())
        .and(engineer().starts())
        .then(|it| {
            assert_eq!(it.the_item().sessions.len(), 1);
            assert_eq!(it.session("engineer@42").status, SessionStatus::Working);
        });
}

#[test]
fn sessions_are_of_agents() {
    given_implementing()
        .when(human().starts())
        .then_refused(Code::InvalidInput)
        .when(agent("enginer").starts())
        .then_refused(Code::UnknownAgent);
}

#[test]
fn no_work_starts_on_an_item_that_is_blocked_or_has_ended() {
    given_implementing()
        .and(human().moves_to("blocked"))
        .when(engineer().starts())
        .then_refused(Code::ItemNotRunnable)
        .then_details(&json!({ "item_stage": "blocked", "question_id": null }))
        .then_hint("querent item move 42")
        .and(human().ends_as(Outcome::Failed))
        .when(engineer().starts())
        .then_refused(Code::ItemNotRunnable)
        .then_hint("open a new one");
}

#[test]
fn finishing_the_own_step_moves_the_item_to_the_next() {
    given_implementing()
        .when(engineer().finishes())
        .then_events(["session_finished", "item_moved"])
        .then_reply(&json!({ "session": { "status": "done" }, "item": { "stage": "review" } }))
        .when(agent("reviewer").finishes())
        .then_stage("ready_to_merge");
}

#[test]
fn finishing_with_keep_or_in_another_agents_step_moves_nothing() {
    given_implementing()
        .when(engineer().finishes_but_keeps_the_step())
        .then_events(["session_finished"])
        .when(architect().finishes())
        .then_events(["session_finished"])
        .then_stage("implement");
}

#[test]
fn finishing_while_a_blocking_question_is_open_moves_nothing() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .when(engineer().finishes())
        .then_events(["session_finished"])
        .and(architect().answers(Q1, "JWT"))
        .when(engineer().finishes())
        .then_events(["session_finished", "item_moved"]);
}

#[test]
fn finishing_while_a_non_blocking_question_is_open_goes_on() {
    given_implementing()
        .and(engineer().asks("architect", "Tabs?").without_blocking())
        .when(engineer().finishes())
        .then_events(["session_finished", "item_moved"])
        .then_status(Q1, Status::Open);
}

#[test]
fn a_person_moves_an_item_to_any_step_blocked_or_ready_to_merge() {
    ["review", "requirements", "blocked", "ready_to_merge"].into_iter().fold(given_implementing(), |scenario, to| {
        scenario.when(human().moves_to(to)).then_events(["item_moved"]).then_stage(to)
    });
}

#[test]
fn an_unknown_stage_names_the_nearest_one() {
    given_implementing()
        .when(human().moves_to("reviw"))
        .then_refused(Code::InvalidInput)
        .then_hint("did you mean `review`?")
        .then_details(&json!({ "field": "to" }));
}

#[test]
fn no_item_is_moved_to_where_it_stands_to_an_end_or_into_waiting() {
    for (to, hint) in
        [("implement", "another stage"), ("merged", "querent item end 42 --as merged"), ("awaiting_input", "ask")]
    {
        given_implementing().when(human().moves_to(to)).then_refused(Code::InvalidTransition).then_hint(hint);
    }
}

#[test]
fn agents_neither_move_nor_end_an_item() {
    given_implementing()
        .when(engineer().moves_to("review"))
        .then_refused(Code::HumanOnly)
        .when(engineer().ends_as(Outcome::Merged))
        .then_refused(Code::HumanOnly);
}

#[test]
fn the_end_of_an_item_withdraws_what_is_open_and_keeps_it() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(engineer().asks("product-manager", "Which users?"))
        .and(product_manager().answers(Q2, "banks"))
        .when(human().ends_as(Outcome::Merged))
        .then_events(["question_withdrawn", "item_ended"])
        .then_reply(&json!({ "item": { "id": "42", "stage": "merged", "open_question_count": 0 } }))
        .then_status(Q1, Status::Withdrawn)
        .then_status(Q2, Status::Answered)
        .then(|it| {
            let entry = it.question(Q1).thread.last().unwrap();
            assert_eq!((entry.kind.as_str(), entry.body.as_str()), ("withdrawal", "item `42` ended as merged"));
            assert!(!it.the_item().has_active_questions());
            assert_eq!(it.session("engineer@42").status, SessionStatus::Done);
        });
}

#[test]
fn an_item_ends_once() {
    given_implementing()
        .and(human().ends_as(Outcome::Merged))
        .when(human().ends_as(Outcome::Failed))
        .then_refused(Code::InvalidTransition)
        .when(human().moves_to("implement"))
        .then_refused(Code::ItemNotRunnable)
        .then_stage("merged");
}

#[test]
fn nobody_acts_as_querent() {
    for command in [querent().starts(), querent().answers(Q1, "yes"), querent().ends_as(Outcome::Merged)] {
        given_implementing().when(command).then_refused(Code::InvalidInput).then_details(&json!({ "field": "by" }));
    }
}

#[test]
fn the_workflow_of_an_item_that_names_none_is_the_projects_own() {
    given()
        .rules(|rules| {
            let mut bug = rules.workflows["feature"].clone();
            bug.name = "bug".to_owned();
            rules.workflows.insert("bug".to_owned(), bug);
            rules.config.project.workflow = Some("bug".to_owned());
        })
        .when(human().opens("It crashes"))
        .then_reply(&json!({ "item": { "workflow": "bug" } }));
}
