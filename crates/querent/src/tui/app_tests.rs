//! The inbox without a terminal: what keys and news do.

use querent_core::{Code, Expected, Refusal, Status};
use serde_json::json;

use super::app::{App, Mode, Notice};
use super::message::{Answered, Drawn, Effect, Key, Message};
use super::samples::{answered, answers, entry, finds, id, press, watching};

fn selected(app: &App) -> String {
    app.current().map(|entry| entry.question.id.to_string()).unwrap_or_default()
}

fn said(app: &App) -> &str {
    match &app.notice {
        Some(Notice::Info(text) | Notice::Bad(text)) => text,
        None => "",
    }
}

#[test]
fn choosing_and_sending_are_two_keys() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);

    // When, then
    assert_eq!(press(&mut app, "2"), []);
    assert_eq!(press(&mut app, "\n"), answers(1, "sql", None));
}

#[test]
fn no_single_key_sends_anything() {
    for key in (' '..='~').chain(['\n', '\t', '\u{1b}']) {
        let mut app = watching(vec![entry(1, "Store")]);
        let effects = press(&mut app, &key.to_string());
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Answer { .. })), "{key:?}");
    }
}

#[test]
fn another_number_chooses_another_option_and_the_same_one_takes_it_back() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);

    // When, then
    assert_eq!(press(&mut app, "12\n"), answers(1, "sql", None));
    let mut app = watching(vec![entry(1, "Store")]);
    assert_eq!(press(&mut app, "22\n"), []);
    assert!(said(&app).starts_with("Nothing is chosen yet"), "{}", said(&app));
    assert_eq!(press(&mut app, "7"), []);
    assert_eq!(said(&app), "It has 2 options. Press i to type an answer.");
}

#[test]
fn several_are_chosen_where_several_may_be() {
    // Given
    let mut several = entry(1, "Store");
    several.question.expected = Expected::MultiChoice;
    let mut app = watching(vec![several]);

    // When
    let effects = press(&mut app, "121\u{1b}1\n");

    // Then
    assert_eq!(effects, answers(1, json!(["redis", "sql"]), None));
}

#[test]
fn yes_and_no_are_options_too() {
    let mut yes_or_no = entry(1, "Store");
    (yes_or_no.question.expected, yes_or_no.question.options) = (Expected::Boolean, Vec::new());
    let mut app = watching(vec![yes_or_no]);

    assert_eq!(press(&mut app, "2\n"), answers(1, "false", None));
}

#[test]
fn an_answer_in_words_is_typed_and_sent_with_its_note() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);

    // When
    press(&mut app, "nbecause\n");
    let effects = press(&mut app, "iIn a fils\u{7f}e, q\n");

    // Then
    assert_eq!(effects, answers(1, "In a file, q", Some("because")));
}

#[test]
fn leaving_the_field_keeps_what_was_typed_and_sends_nothing() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);

    // When
    let effects = press(&mut app, "\tIn a file\u{1b}");

    // Then
    assert_eq!((effects, app.mode), (vec![], Mode::Browse));
    assert_eq!(press(&mut app, "\n"), answers(1, "In a file", None));
}

#[test]
fn an_option_and_a_text_are_not_sent_together() {
    let mut app = watching(vec![entry(1, "Store")]);

    let effects = press(&mut app, "1iIn a file\n");

    assert_eq!(effects, []);
    assert!(said(&app).starts_with("An option is chosen, and something else is typed"));
}

#[test]
fn it_is_sent_once_however_often_enter_is_pressed() {
    let mut app = watching(vec![entry(1, "Store")]);
    assert_eq!(press(&mut app, "1\n\n2\n"), answers(1, "redis", None));
}

#[test]
fn what_was_refused_is_said_with_its_cure_and_what_was_typed_stays() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);
    press(&mut app, "iIn a file\n");

    // When
    let refusal = Some(Refusal::new(Code::QuestionInvalidAnswer, "it is none of the options", "use one of them"));
    app.update(Message::Answered(Box::new(Answered { question: id(1), refusal, entry: Some(entry(1, "Store")) })));

    // Then
    assert_eq!(said(&app), "it is none of the options. use one of them");
    assert_eq!(press(&mut app, "i!\n"), answers(1, "In a file!", None));
}

#[test]
fn who_was_second_is_told_who_was_first() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);
    press(&mut app, "2\n");

    // When
    let entry = Some(answered(entry(1, "Store"), "human:alice", "Redis"));
    let refusal = Some(Refusal::new(Code::QuestionAlreadyAnswered, "it has its answer", "read it"));
    app.update(Message::Answered(Box::new(Answered { question: id(1), refusal, entry })));

    // Then
    assert_eq!(said(&app), "human:alice was first: Redis. Your answer was not taken.");
    assert_eq!(press(&mut app, "1\n"), []);
}

#[test]
fn what_is_answered_elsewhere_stays_while_it_is_looked_at_and_takes_no_answer() {
    // Given
    let mut app = watching(vec![entry(1, "Store"), entry(2, "Colour")]);
    press(&mut app, "ihalf an ans");

    // When
    let effects = finds(&mut app, vec![entry(2, "Colour")]);
    app.update(Message::Looked(Box::new(answered(entry(1, "Store"), "human:alice", "Redis"))));

    // Then
    assert_eq!(effects, [Effect::Look(id(1))]);
    assert_eq!((selected(&app).as_str(), app.mode), ("CLR-42-001", Mode::Browse));
    assert_eq!(app.current().unwrap().question.status, Status::Resolved);
    assert_eq!(said(&app), "CLR-42-001 was answered by human:alice: Redis");
    assert_eq!(press(&mut app, "1\n"), []);
    assert_eq!(said(&app), "It is resolved, and takes no answer any more.");
    press(&mut app, "j");
    assert_eq!((selected(&app).as_str(), app.entries.len()), ("CLR-42-002", 1));
}

#[test]
fn what_was_read_before_an_answer_does_not_bring_the_question_back() {
    // Given
    let mut app = watching(vec![entry(1, "Store")]);
    press(&mut app, "1\n");
    let entry_now = Some(answered(entry(1, "Store"), "human", "Redis"));
    app.update(Message::Answered(Box::new(Answered { question: id(1), refusal: None, entry: entry_now })));

    // When
    finds(&mut app, vec![entry(1, "Store")]);

    // Then
    assert!(!app.current().unwrap().question.status.is_open());
}

#[test]
fn a_new_question_rings_and_takes_nobody_away_from_theirs() {
    // Given
    let mut app = watching(vec![entry(2, "Colour")]);

    // When
    let effects = finds(&mut app, vec![entry(1, "Sto\u{1b}]0;x\u{7}re"), entry(2, "Colour")]);

    // Then
    assert_eq!(effects, [Effect::Ring("Querent: engineer asks about Store".to_owned())]);
    assert_eq!(selected(&app), "CLR-42-002");
    assert_eq!(finds(&mut app, vec![entry(1, "Store"), entry(2, "Colour")]), []);
}

#[test]
fn a_quiet_inbox_rings_for_nobody() {
    let mut app = App::new(super::samples::now(), true);
    finds(&mut app, vec![]);
    assert_eq!(finds(&mut app, vec![entry(1, "Store")]), []);
    assert_eq!(selected(&app), "CLR-42-001");
}

#[test]
fn the_filter_shows_what_fits_and_escape_shows_all() {
    // Given
    let mut app = watching(vec![entry(1, "Store"), entry(2, "Colour")]);

    // When, then
    press(&mut app, "/COL");
    assert_eq!((app.rows().len(), selected(&app).as_str()), (1, "CLR-42-002"));
    assert_eq!(press(&mut app, "\n1\n"), answers(2, "redis", None));
    press(&mut app, "\u{1b}");
    assert_eq!(app.rows().len(), 2);
    press(&mut app, "/nothing like it");
    assert_eq!((app.rows().len(), press(&mut app, "\n1\n")), (0, vec![]));
}

#[test]
fn keys_move_within_the_list_and_the_detail() {
    // Given
    let mut app = watching(vec![entry(1, "A"), entry(2, "B"), entry(3, "C")]);
    app.update(Message::Drawn(Drawn { furthest: 12, page: 8 }));

    // When, then
    press(&mut app, "kjj");
    assert_eq!(selected(&app), "CLR-42-003");
    press(&mut app, "jg");
    assert_eq!(selected(&app), "CLR-42-001");
    app.update(Message::Key(Key::PageDown));
    app.update(Message::Key(Key::PageDown));
    assert_eq!(app.scroll, 12);
    app.update(Message::Key(Key::PageUp));
    assert_eq!(app.scroll, 4);
    press(&mut app, "j");
    assert_eq!(app.scroll, 0);
}

#[test]
fn q_quits_but_not_while_somebody_types() {
    let mut app = watching(vec![entry(1, "Store")]);
    assert_eq!(press(&mut app, "iq?"), []);
    assert_eq!(press(&mut app, "\u{1b}q"), [Effect::Quit]);
    assert_eq!(app.update(Message::Key(Key::Interrupt)), [Effect::Quit]);
}

#[test]
fn what_is_pasted_goes_where_somebody_types_and_nowhere_else() {
    let mut app = watching(vec![entry(1, "Store")]);
    app.update(Message::Paste("1\nq".to_owned()));
    assert!(app.draft().is_none());
    press(&mut app, "i");
    app.update(Message::Paste("two\r\nlines".to_owned()));
    assert_eq!(press(&mut app, "\n"), answers(1, "two\nlines", None));
}
