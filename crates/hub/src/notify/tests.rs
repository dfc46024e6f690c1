//! What each channel is sent, to the letter, also of what agents write to do harm.

use querent_core::{ChannelKind, Moment, Occasion, Question};
use serde_json::{Value, json};

use super::client::Request;
use super::links::Links;
use super::message::{Letter, Message, Sender};
use super::telegram::{Bot, Wish, wish};
use super::{desktop, ntfy, slack, webhook};
use crate::project::Project;

const HOSTILE: &str = "<!channel> *all* & <script>\u{1b}]9;x\u{7} \u{202e}drop";

fn at(text: &str) -> Moment {
    text.parse().unwrap()
}

/// A question as it is stored, with some fields changed.
fn question(changes: &Value) -> Question {
    let mut fields = json!({
        "id": "CLR-42-001", "item": "42", "from": { "agent": "engineer", "session": "engineer@42" }, "to": "human",
        "asked": "human", "kind": "blocking", "category": "clarification", "blocker": "none", "topic": "Sign-in",
        "prompt": "Which bank?", "context": "The contract says both.", "details": null,
        "options": [
            { "id": "a", "label": "Bank A", "recommended": true, "implications": "needs a contract" },
            { "id": "b", "label": "Bank B" },
        ],
        "expected": { "kind": "single_choice" }, "allow_free_text": false, "blocking": true,
        "fallback": { "answer": "a", "reason": "it is cheap", "risk": "low" }, "evidence": null, "tags": [], "round": 1,
        "max_rounds": 5, "status": "open", "created_at": "2026-01-31T10:00:00Z", "stale_at": null, "remind_at": null,
        "expires_at": "2026-01-31T10:15:00Z", "resume_stage": "implement", "answer": null, "thread": [], "version": 3,
    });
    fields.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(fields).unwrap()
}

fn message(question: Question, kind: ChannelKind, state: Occasion) -> Message {
    let dir = tempfile::tempdir().unwrap();
    let (project, _) = Project::init(dir.path(), None, "feature").unwrap();
    // The same key in every run, so that what is sent is the same.
    std::fs::create_dir_all(project.dir().join("run")).unwrap();
    std::fs::write(project.dir().join("run/links.key"), [7; 32]).unwrap();
    let (links, channel) = (Links::open(&project).unwrap(), kind.as_str().parse().unwrap());
    let sender = Sender { links: &links, base: "https://q.example", channel: &channel, kind };
    Message::of(question, state, &sender, at("2026-01-31T10:00:01Z"))
}

fn letter(changes: &Value, kind: ChannelKind) -> Letter {
    Letter::Question(Box::new(message(question(changes), kind, Occasion::Asked)))
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

/// Links are long and say nothing to a reader.
fn readable(request: &Request) -> String {
    let text = serde_json::to_string_pretty(&body(request)).unwrap();
    let shorten = |line: &str| match line.find("https://q.example/") {
        Some(start) => {
            let end = line[start..].find(['"', '\\']).map_or(line.len(), |end| start + end);
            let kept = line[start..end].find("/a/").map_or("https://q.example/q/…", |_| "https://q.example/a/…");
            format!("{}{kept}{}", &line[..start], &line[end..])
        }
        None => line.to_owned(),
    };
    text.lines().map(shorten).collect::<Vec<_>>().join("\n")
}

#[test]
fn slack_is_sent_blocks() {
    insta::assert_snapshot!(readable(&slack::request(
        "https://hooks.example/x",
        &letter(&json!({}), ChannelKind::Slack)
    )));
}

#[test]
fn ntfy_is_sent_a_message_with_a_button_for_each_answer() {
    let request = ntfy::request("https://ntfy.sh/my-topic/", Some("tk"), &letter(&json!({}), ChannelKind::Ntfy));

    assert_eq!(request.url, "https://ntfy.sh/");
    assert_eq!(request.headers, [("Authorization", "Bearer tk".to_owned())]);
    insta::assert_snapshot!(readable(&request));
}

#[test]
fn telegram_is_sent_plain_text_with_a_button_for_each_answer() {
    let bot = Bot { base: "https://api.example/".into(), token: "1:x".into(), chat: "-5".into() };
    let request = bot.send_message(&letter(&json!({}), ChannelKind::Telegram));

    assert_eq!(request.url, "https://api.example/bot1:x/sendMessage");
    insta::assert_snapshot!(readable(&request));
}

#[test]
fn a_webhook_is_sent_the_question_and_its_links() {
    let at = at("2026-01-31T10:00:01.900Z");
    let request = webhook::request("https://x.example/hook", "Jefe", &letter(&json!({}), ChannelKind::Webhook), at);

    let headers: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(headers, ["Querent-Timestamp", "Querent-Signature", "Querent-Delivery"]);
    assert_eq!(request.headers[0].1, "1769853601");
    assert_eq!(request.headers[2].1, "notify:CLR-42-001:1:asked:webhook");
    let body = body(&request);
    assert_eq!((&body["event"], &body["question"]["prompt"]), (&json!("question_asked"), &json!("Which bank?")));
}

#[test]
fn what_an_agent_writes_mentions_nobody_and_steers_no_terminal() {
    let hostile = || {
        json!({ "topic": HOSTILE, "prompt": HOSTILE, "context": HOSTILE,
            "options": [{ "id": "a", "label": HOSTILE }], "fallback": { "answer": HOSTILE, "reason": HOSTILE } })
    };
    let slack = slack::request("https://x.example", &letter(&hostile(), ChannelKind::Slack));
    let section = body(&slack)["blocks"][1]["text"]["text"].as_str().unwrap().to_owned();
    let note = letter(&hostile(), ChannelKind::Desktop).note();
    let sequence = desktop::escape_sequence(&note);
    let arguments = desktop::arguments(&note);
    let shown = arguments.last().unwrap();

    assert!(!section.contains('<') && section.contains("&lt;!channel&gt;"), "{section}");
    assert_eq!(sequence.matches(['\u{1b}', '\u{7}']).count(), 3, "{sequence:?}");
    assert!(!shown.contains("<script>"), "its body is markup: {shown}");
    assert!(!arguments.concat().contains(['\u{1b}', '\u{202e}']), "{arguments:?}");
    for request in [slack, ntfy::request("https://n.example/t", None, &letter(&hostile(), ChannelKind::Ntfy))] {
        assert!(!request.body.contains("\\u001b") && !request.body.contains('\u{202e}'), "{}", request.body);
    }
}

#[test]
fn a_long_question_is_cut_to_what_each_channel_takes() {
    let long = "質<".repeat(1_000);
    let options: Vec<Value> = (0..20).map(|n| json!({ "id": format!("o{n}"), "label": long })).collect();
    let changes = || json!({ "topic": long, "prompt": long, "context": long, "options": options });
    let bot = Bot { base: "https://api.example".into(), token: "1:x".into(), chat: "-5".into() };

    let slack = body(&slack::request("https://x.example", &letter(&changes(), ChannelKind::Slack)));
    let ntfy = body(&ntfy::request("https://n.example/t", None, &letter(&changes(), ChannelKind::Ntfy)));
    let telegram = body(&bot.send_message(&letter(&changes(), ChannelKind::Telegram)));

    let length = |value: &Value| value.as_str().unwrap().chars().count();
    assert!(length(&slack["blocks"][0]["text"]["text"]) <= 150 && length(&slack["blocks"][1]["text"]["text"]) <= 3_000);
    assert_eq!(slack["blocks"][2]["elements"].as_array().unwrap().len(), 21);
    assert!(ntfy["message"].as_str().unwrap().len() <= 4_096);
    assert_eq!(ntfy["actions"].as_array().unwrap().len(), 1, "the page has all answers");
    assert!(length(&telegram["text"]) <= 4_096);
}

#[test]
fn a_reminder_an_escalation_and_a_digest_say_what_they_are() {
    let title = |state| message(question(&json!({})), ChannelKind::Ntfy, state).note().title;
    let digest = Letter::Digest(vec![message(question(&json!({})), ChannelKind::Ntfy, Occasion::Asked); 2]).note();

    assert_eq!(title(Occasion::Asked), "engineer waits for you: Sign-in");
    assert_eq!(title(Occasion::Escalated), "engineer needs your decision: Sign-in");
    assert_eq!(title(Occasion::Reminded(2)), "Reminder: engineer still waits: Sign-in");
    assert_eq!(digest.title, "2 questions wait for you, none of them urgent");
    assert_eq!(digest.body.matches("https://q.example/q/CLR-42-001?n=").count(), 2);
}

#[test]
fn a_link_lasts_as_long_as_its_question_may_be_answered() {
    let open = message(question(&json!({})), ChannelKind::Ntfy, Occasion::Asked).open;
    let dir = tempfile::tempdir().unwrap();
    let (project, _) = Project::init(dir.path(), None, "feature").unwrap();
    std::fs::create_dir_all(project.dir().join("run")).unwrap();
    std::fs::write(project.dir().join("run/links.key"), [7; 32]).unwrap();

    let link = Links::open(&project).unwrap().read(open.split("?n=").nth(1).unwrap(), at("2026-01-31T10:14:59Z"));

    assert_eq!(link.unwrap().expires_at, at("2026-01-31T10:15:00Z"));
}

#[test]
fn of_what_a_bot_hears_only_its_chat_and_replies_to_itself_are_wishes() {
    let update = |value: Value| serde_json::from_value(value).unwrap();
    let said = |chat: i64, reply: Value| {
        let from = json!({ "id": 1, "is_bot": false, "first_name": "A\nB" });
        update(
            json!({ "update_id": 1, "message": { "message_id": 3, "chat": { "id": chat }, "from": from, "text": "yes", "reply_to_message": reply } }),
        )
    };
    let ours = json!({ "message_id": 2, "chat": { "id": 5 }, "from": { "is_bot": true }, "text": "CLR-9-001\n\nCLR-42-001, item 42" });
    let theirs =
        json!({ "message_id": 2, "chat": { "id": 5 }, "from": { "is_bot": false }, "text": "CLR-42-001, item 42" });

    let Some(Wish::Reply { question, by, .. }) = wish(said(5, ours.clone()), "5") else { panic!("it is one") };

    assert_eq!((question.to_string().as_str(), by.to_string().as_str()), ("CLR-42-001", "human:A B"));
    assert_eq!(wish(said(6, ours), "5"), None);
    assert_eq!(wish(said(5, theirs), "5"), None);
    assert_eq!(wish(said(5, Value::Null), "5"), None);
    assert_eq!(wish(update(json!({ "update_id": 2 })), "5"), None);
}
