//! What people and agents tell the agents of an item. It answers no question, and is heard in the next turn that is not in vain.

use querent_core::event::TurnOutcome::{self, Asked, Done, Failed, Rejected, Stopped};
use querent_core::{Code, Outcome, Party, Purpose, Status, Work};
use serde_json::json;

use crate::speech::{Q1, alice, engineer, human};
use crate::team::{begins, given_listener, given_team, step};

#[test]
fn a_message_is_heard_by_the_next_turn_that_is_not_in_vain() {
    let heard = |outcome: TurnOutcome| {
        let it = given_team().when(alice().sends("Use Postgres")).then_events(["message_sent"]);
        it.and_turn()
            .then(|it| assert_eq!(it.unheard("engineer"), ["Use Postgres"]))
            .when_ended(outcome)
            .unheard("engineer")
    };

    for outcome in [Done, Asked, Rejected] {
        assert_eq!(heard(outcome), [""; 0], "{outcome}");
    }
    for outcome in [Failed, Stopped] {
        assert_eq!(heard(outcome), ["Use Postgres"], "{outcome}");
    }
}

#[test]
fn a_message_that_comes_during_a_turn_is_heard_by_the_next() {
    given_team()
        .and(human().sends("First"))
        .and_turn()
        .and(human().sends("Second"))
        .when_ended(Rejected)
        .then(|it| assert_eq!(it.unheard("engineer"), ["Second"]))
        .and_ended(Rejected)
        .then(|it| assert_eq!(it.unheard("engineer"), [""; 0]));
}

#[test]
fn a_turn_that_was_taken_over_hears_what_came_before_it_was() {
    let it = given_team().and_turn().and(human().sends("Use Postgres"));
    let over = it.driven().1;

    it.and(begins("engineer", step("implement"), 2, Some(over)))
        .when_ended(Rejected)
        .then(|it| assert_eq!(it.unheard("engineer"), [""; 0]));
}

#[test]
fn a_message_to_one_agent_is_heard_by_that_one() {
    given_team()
        .and(human().sends_to("reviewer", "Look at the tests"))
        .and(human().sends("Be quick"))
        .then(|it| {
            assert_eq!(it.unheard("engineer"), ["Be quick"]);
            assert_eq!(it.unheard("reviewer"), ["Look at the tests", "Be quick"]);
        })
        .and_ended(Done)
        .then(|it| assert_eq!(it.unheard("reviewer").len(), 2, "each session hears for itself"))
        .when(human().sends_to("nobody", "Hello"))
        .then_refused(Code::UnknownAgent);
}

#[test]
fn a_message_answers_no_question_and_may_be_sent_while_one_waits() {
    given_team()
        .and(engineer().asks("human", "Which bank?"))
        .when(human().sends("Any bank"))
        .then_events(["message_sent"])
        .then_status(Q1, Status::Open)
        .then_stage("awaiting_input")
        .and(human().answers(Q1, "ours"))
        .and(human().moves_to("blocked"))
        .when(human().sends("Wait"))
        .then_accepted();
}

#[test]
fn nothing_is_sent_on_an_item_that_has_ended() {
    given_team().and(human().ends_as(Outcome::Failed)).when(human().sends("Hello")).then_refused(Code::ItemNotRunnable);
}

#[test]
fn a_message_has_some_words_and_not_too_many() {
    for text in ["", &"x".repeat(4_001)] {
        given_team()
            .when(human().sends(text))
            .then_refused(Code::InvalidInput)
            .then_details(&json!({ "field": "message" }));
    }
    given_team().when(human().sends(&"x".repeat(4_000))).then_accepted();
}

#[test]
fn whoever_listens_to_people_is_invoked_for_their_messages() {
    given_listener(&["user.message"])
        .when(alice().sends("What about mobile?"))
        .then_events(["message_sent", "event_emitted"])
        .then(|it| {
            let happening = it.happening(1).unwrap();
            assert_eq!((happening.event.as_str(), happening.data.clone()), ("user.message", json!({ "message": 1 })));
            assert_eq!(happening.by, Party::Human(Some("alice".to_owned())));
        })
        .then_next("bystander", Purpose::Happening(1))
        .and_turn()
        .then(|it| assert_eq!(it.unheard("bystander"), ["What about mobile?"]))
        .when_ended(Done)
        .then_next("engineer", step("implement"));
}

#[test]
fn nobody_is_invoked_for_the_messages_of_agents_and_for_those_to_somebody_else() {
    given_listener(&["user.message"])
        .when(engineer().sends("Done with the parser"))
        .then_events(["message_sent"])
        .then(|it| assert_eq!(it.unheard("reviewer"), ["Done with the parser"]))
        .when(human().sends_to("engineer", "Good"))
        .then_events(["message_sent"])
        .then_next("engineer", step("implement"));
}

#[test]
fn a_step_may_wait_for_the_word_of_a_person() {
    given_team()
        .waits_for(2, "user.message")
        .and(engineer().sends("May I?"))
        .then_work(&Work::WaitsFor("user.message".parse().unwrap()))
        .when(human().sends("You may"))
        .then_events(["message_sent", "event_emitted"])
        .then_next("engineer", step("implement"));
}

#[test]
fn an_item_keeps_its_last_messages() {
    let it = (1..=40).fold(given_team(), |it, number| it.and(human().sends(&format!("message {number}"))));

    let unheard = it.unheard("engineer");
    assert_eq!((unheard.len(), unheard[0].as_str(), unheard[31].as_str()), (32, "message 9", "message 40"));
    assert_eq!(it.the_item().team.sent, 40);
}
