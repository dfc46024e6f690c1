//! The first answer wins; a wrong one hears what would be accepted.

use querent_core::{Code, Expected, Outcome, Status};
use serde_json::{Value, json};

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, Q2, alice, architect, engineer, human, product_manager};

/// A blocking question to a human with two options.
fn choice() -> Scenario {
    given_implementing().and(
        engineer()
            .asks("human", "Which auth?")
            .options([("jwt", "JSON Web Tokens"), ("cookie", "Signed cookie")])
            .with(|ask| ask.options[0].description = Some("stateless".into())),
    )
}

#[test]
fn an_option_is_given_by_id_label_or_text_in_any_case() {
    for given in ["jwt", "JWT", "json web tokens", " Stateless "] {
        choice().when(human().answers(Q1, given)).then_reply(&json!({
            "answer": { "value": "jwt", "text": "JSON Web Tokens", "free_text": false },
        }));
    }
}

#[test]
fn a_wrong_option_lists_what_is_accepted_and_the_question_stays_open() {
    choice()
        .when(human().answers(Q1, "saml"))
        .then_refused(Code::QuestionInvalidAnswer)
        .then_message("`saml`")
        .then_hint("jwt (JSON Web Tokens), cookie (Signed cookie)")
        .then_events([])
        .then_status(Q1, Status::Open);
}

#[test]
fn free_text_is_taken_where_it_is_allowed_and_marked() {
    let free = engineer().asks("human", "Which auth?").options([("jwt", "JWT")]).with(|ask| ask.allow_free_text = true);
    given_implementing()
        .and(free)
        .when(human().answers(Q1, "ask the bank"))
        .then_reply(&json!({ "answer": { "value": "ask the bank", "free_text": true } }));
}

#[test]
fn each_expectation_reads_an_answer_in_its_own_way() {
    let schema = json!({ "type": "object", "required": ["port"] });
    let cases: [(Expected, Value, Value); 5] = [
        (Expected::Text, json!(" words "), json!("words")),
        (Expected::Boolean, json!("YES"), json!(true)),
        (Expected::Number, json!("1.5"), json!(1.5)),
        (Expected::Json { schema: schema.clone() }, json!("{\"port\":80}"), json!({ "port": 80 })),
        (Expected::Json { schema }, json!({ "port": 81 }), json!({ "port": 81 })),
    ];
    for (expected, given, value) in cases {
        given_implementing()
            .and(engineer().asks("human", "Well?").expecting(expected))
            .when(human().answers(Q1, given))
            .then_reply(&json!({ "answer": { "value": value } }));
    }
}

#[test]
fn several_options_come_with_commas_or_as_an_array() {
    let ask = || {
        let asking = engineer().asks("human", "Which?").options([("a", "Alpha"), ("b", "Beta"), ("c", "Gamma")]);
        given_implementing().and(asking.expecting(Expected::MultiChoice))
    };
    ask().when(human().answers(Q1, "alpha, c")).then_reply(&json!({ "answer": { "value": ["a", "c"] } }));
    ask().when(human().answers(Q1, json!(["b"]))).then_reply(&json!({ "answer": { "value": ["b"] } }));
}

#[test]
fn json_that_does_not_fit_the_schema_hears_where_it_does_not() {
    let schema = json!({ "type": "object", "properties": { "port": { "type": "integer" } } });
    given_implementing()
        .and(engineer().asks("human", "Where?").expecting(Expected::Json { schema: schema.clone() }))
        .when(human().answers(Q1, "{\"port\":\"http\"}"))
        .then_refused(Code::QuestionInvalidAnswer)
        .then_message("/port")
        .then_details(&json!({ "accepted": { "schema": schema } }));
}

#[test]
fn the_first_answer_wins() {
    choice()
        .and(alice().answers(Q1, "jwt"))
        .when(human().answers(Q1, "cookie"))
        .then_refused(Code::QuestionAlreadyAnswered)
        .then_message("answered by human:alice at 2026-01-31T10:00:00.000Z: JSON Web Tokens")
        .then_details(&json!({ "question_id": Q1, "status": "resolved", "answer": { "value": "jwt" } }));
}

#[test]
fn an_answer_that_waits_for_its_asker_is_final_too() {
    given_implementing()
        .and(engineer().asks("architect", "Which auth?"))
        .and(architect().answers(Q1, "JWT"))
        .when(architect().answers(Q1, "cookies"))
        .then_refused(Code::QuestionAlreadyAnswered)
        .when(human().answers(Q1, "cookies"))
        .then_refused(Code::QuestionAlreadyAnswered)
        .and(engineer().resolves(Q1))
        .when(human().answers(Q1, "cookies"))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn a_second_answer_is_refused_as_such_even_if_it_is_malformed() {
    choice()
        .and(human().answers(Q1, "jwt"))
        .when(human().answers(Q1, "saml"))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn no_answer_is_taken_after_the_item_ended() {
    choice()
        .and(human().ends_as(Outcome::Merged))
        .when(human().answers(Q1, "jwt"))
        .then_refused(Code::QuestionAnswerNotAllowedInTerminalState)
        .then_message("item `42` has ended (merged)")
        .then_details(&json!({ "question_id": Q1, "status": "withdrawn", "item_stage": "merged" }));
}

#[test]
fn an_answered_question_stays_answered_after_its_item_ended() {
    choice()
        .and(human().answers(Q1, "jwt"))
        .and(human().ends_as(Outcome::Merged))
        .when(human().answers(Q1, "cookie"))
        .then_refused(Code::QuestionAlreadyAnswered);
}

#[test]
fn a_withdrawn_question_takes_no_answer() {
    choice()
        .and(engineer().withdraws(Q1))
        .when(human().answers(Q1, "jwt"))
        .then_refused(Code::InvalidTransition)
        .then_message("CLR-42-001 is withdrawn");
}

#[test]
fn no_agent_answers_for_a_human() {
    for agent in [engineer(), architect(), product_manager()] {
        choice()
            .when(agent.answers(Q1, "jwt"))
            .then_refused(Code::HumanOnly)
            .then_message("addressed to a human")
            .then_details(&json!({ "question_id": Q1, "to": "human" }))
            .then_status(Q1, Status::Open);
    }
}

#[test]
fn a_question_that_does_not_exist_is_not_found() {
    choice()
        .when(human().answers(Q2, "jwt"))
        .then_refused(Code::QuestionNotFound)
        .then_message("there is no question `CLR-42-002`")
        .then_details(&json!({ "question_id": Q2 }));
}

#[test]
fn a_humans_answer_is_one_entry_of_the_thread() {
    choice().and(alice().answers(Q1, "JWT")).then(|it| {
        let thread = &it.question(Q1).thread;
        let types: Vec<&str> = thread.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(types, ["question", "answer"]);
        assert_eq!((thread[1].seq, thread[1].from.to_string()), (2, "human:alice".to_owned()));
        assert_eq!((thread[1].body.as_str(), &thread[1].value), ("JSON Web Tokens", &Some(json!("jwt"))));
    });
}
