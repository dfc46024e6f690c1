//! A link answers one round of one question, once, and says through which channel.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use querent_core::{Channel, ChannelKind, Code, Party};
use querent_hub::{Link, Links};
use serde_json::{Value, json};
use support::{Scene, to_human};

fn given() -> (Scene, Links, Link) {
    let scene = Scene::in_files();
    scene.item("42");
    let question = scene.hub.question(&scene.asks("42", to_human())).unwrap();
    let links = Links::open(&scene.project).unwrap();
    let channel: Channel = serde_json::from_value(json!({ "channel": "slack" })).unwrap();
    let link = Link::to(&question, &channel.name(), ChannelKind::Slack, scene.hub.now());
    (scene, links, link)
}

#[test]
fn a_link_that_is_followed_and_confirmed_answers_once() {
    let (scene, links, link) = given();
    let url = links.url("http://here", &link.answering(json!("any")));
    let read = links.read(url.strip_prefix("http://here/a/").unwrap(), scene.hub.now()).unwrap();

    let first = scene.hub.answer_by_link(&read, Party::HUMAN, None).read::<Value>().unwrap();
    let second = scene.hub.answer_by_link(&read, Party::HUMAN, None).read::<Value>().unwrap_err();

    assert_eq!((&first["status"], &first["answer"]["via"]), (&json!("resolved"), &json!("slack")));
    assert_eq!(second.code, Code::QuestionAlreadyAnswered);
}

#[test]
fn a_link_that_only_opens_a_question_answers_nothing() {
    let (scene, _, link) = given();

    let refused = scene.hub.answer_by_link(&link, Party::HUMAN, None).read::<Value>().unwrap_err();

    assert_eq!(refused.code, Code::InvalidInput);
    // Nothing was delivered through this channel; whoever opens the page need not care.
    scene.hub.see(&link, Party::HUMAN).unwrap();
}

#[test]
fn a_link_is_of_no_use_after_seven_days() {
    let (scene, links, link) = given();
    let url = links.url("http://here", &link.answering(json!("any")));
    let signed = url.strip_prefix("http://here/a/").unwrap().to_owned();

    scene.pass("6d");
    links.read(&signed, scene.hub.now()).unwrap();
    scene.pass("1d");

    assert_eq!(links.read(&signed, scene.hub.now()).unwrap_err().code, Code::Unauthorized);
}
