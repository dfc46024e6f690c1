//! The screens, as they are seen.

use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::app::App;
use super::draw::{Look, draw};
use super::message::{Drawn, Message};
use super::samples::{answered, entry, finds, press, watching};

/// What is on a screen of this size, and how far it can be scrolled.
fn screen(app: &App, colour: bool, (width, height): (u16, u16)) -> (TestBackend, Drawn) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let look = Look { colour, zone: TimeZone::UTC };
    let mut drawn = Drawn::default();
    terminal.draw(|frame| drawn = draw(app, &look, frame)).unwrap();
    (terminal.backend().clone(), drawn)
}

fn seen(app: &App, size: (u16, u16)) -> String {
    let (backend, _) = screen(app, false, size);
    let buffer = backend.buffer();
    let row = |y| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..size.1).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_question_with_all_that_belongs_to_it() {
    let mut app = watching(vec![entry(1, "Where sessions are kept"), entry(2, "Colour")]);
    press(&mut app, "2");

    insta::assert_snapshot!("question_80x24", seen(&app, (80, 24)));
    insta::assert_snapshot!("question_40x15", seen(&app, (40, 15)));
    let (_, drawn) = screen(&app, false, (40, 15));
    app.update(Message::Drawn(drawn));
    app.update(Message::Key(super::message::Key::PageDown));
    insta::assert_snapshot!("question_40x15_scrolled", seen(&app, (40, 15)));
}

#[test]
fn an_empty_inbox_says_what_to_do_next() {
    let app = watching(vec![]);

    insta::assert_snapshot!("empty_80x24", seen(&app, (80, 24)));
    insta::assert_snapshot!("empty_40x15", seen(&app, (40, 15)));
}

#[test]
fn somebody_types_and_somebody_else_was_first() {
    let mut app = watching(vec![entry(1, "Store")]);
    press(&mut app, "iIn a file, since that is what all of the others do as well");
    insta::assert_snapshot!("typing_40x15", seen(&app, (40, 15)));

    finds(&mut app, vec![]);
    app.update(Message::Looked(Box::new(answered(entry(1, "Store"), "human:alice", "Redis"))));
    insta::assert_snapshot!("answered_80x24", seen(&app, (80, 24)));
}

#[test]
fn the_keys_are_explained() {
    let mut app = watching(vec![]);
    press(&mut app, "?");
    insta::assert_snapshot!("help_80x24", seen(&app, (80, 24)));
}

#[test]
fn hostile_text_stays_in_its_place() {
    // Given
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}gpj.exe \u{9b}31m日本語\u{0} zalgo";
    let mut hostile = entry(1, evil);
    hostile.question.prompt = format!("{evil}{}\nCLR-42-009  resolved", "\u{301}".repeat(300));
    hostile.question.context = Some("x".repeat(200));
    hostile.question.options[0].label = format!("{evil}\n(x) 2  Another option");
    hostile.question.options[1].description = Some("line\n(x) 3  No option".to_owned());
    hostile.item.title = evil.to_owned();
    hostile.question.thread[0].body = format!("{evil}\n[RESOLVED] by human");
    let mut app = watching(vec![hostile]);
    press(&mut app, "t");

    // When, then
    insta::assert_snapshot!("hostile_80x24", seen(&app, (80, 24)));
    for size in [(80, 24), (40, 15), (24, 8), (200, 60)] {
        let text = seen(&app, size);
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text}");
    }
}

#[test]
fn without_colours_there_are_none_and_no_size_is_too_small_to_draw() {
    let mut app = watching(vec![entry(1, "Store"), answered(entry(2, "Colour"), "human", "Red")]);
    press(&mut app, "1");
    let colours = |colour| {
        let (backend, _) = screen(&app, colour, (80, 24));
        backend.buffer().content().iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(false), 0);
    assert!(colours(true) > 0);
    press(&mut app, "isomething");
    for size in [(1, 1), (10, 3), (24, 8), (30, 9), (72, 8)] {
        screen(&app, true, size);
    }
}
