//! A bot asks in a chat, and the answer comes back.

use serde_json::{Value, json};

use crate::common::Project;
use crate::common::http::{SECRET, Served};
use crate::common::receiver::{Receiver, Request};

const CHAT: i64 = -1_001_234;

fn project(api: &Receiver) -> Project {
    let url = &api.url;
    Project::new().with_config(&format!(
        "[[notify]]\nchannel = \"telegram\"\nurl = \"{url}\"\nsecret_env = \"TEST_SECRET\"\nchat = {CHAT}\nbackoff = \"5ms\"\n"
    ))
}

fn ask(project: &Project, expect: &[&str]) {
    let asking =
        ["ask", "--item", "42", "--from", "engineer", "--to", "human", "--topic", "Banks", "--question", "Which?"];
    project.ok(&[&asking[..], expect].concat());
}

/// The next call of this method. News that is asked for before is what `news` says, and then none; all else is taken.
fn call(api: &Receiver, method: &str, news: &Value) -> Request {
    let mut news = news.clone();
    loop {
        let request = api.next();
        let called = request.path.strip_prefix(&format!("/bot{SECRET}/")).unwrap().to_owned();
        if called == method {
            return request;
        }
        let is_news = called == "getUpdates";
        let result = if is_news { std::mem::replace(&mut news, json!([])) } else { json!(true) };
        request.reply(200, &json!({ "ok": true, "result": result }).to_string());
    }
}

/// The message of the bot, sent; the one who asks for news waits.
fn asked(api: &Receiver) -> Request {
    let sent = call(api, "sendMessage", &json!([]));
    sent.reply(200, &json!({ "ok": true, "result": { "message_id": 12 } }).to_string());
    sent
}

fn press(number: i64, chat: i64, data: &Value) -> Value {
    json!({ "update_id": number, "callback_query": {
        "id": "cb", "from": { "id": 5, "is_bot": false, "first_name": "Zoë", "username": "zoe" }, "data": data,
        "message": { "message_id": 12, "chat": { "id": chat, "type": "group" }, "date": 1, "text": "…" },
    } })
}

#[test]
fn a_button_answers_and_the_buttons_go() {
    let api = Receiver::start();
    let project = project(&api);
    let _served = Served::start(&project);
    ask(&project, &["--option", "a=Bank A", "--option", "b=Bank B"]);
    let sent = asked(&api);
    let button = &sent.body["reply_markup"]["inline_keyboard"][1][0];
    assert_eq!((&button["text"], &sent.body["chat_id"]), (&json!("Bank B"), &json!(CHAT.to_string())));
    assert!(button["callback_data"].as_str().unwrap().len() <= 64);
    assert!(sent.body.get("parse_mode").is_none());

    let news = json!([press(6, 99, &button["callback_data"]), press(7, CHAT, &button["callback_data"])]);
    let told = call(&api, "answerCallbackQuery", &news);
    told.reply(200, "{}");
    let cleared = call(&api, "editMessageReplyMarkup", &json!([]));
    cleared.reply(200, "{}");

    assert_eq!(told.body["text"], "CLR-42-001: Bank B");
    assert_eq!(
        (&cleared.body["message_id"], &cleared.body["reply_markup"]["inline_keyboard"]),
        (&json!(12), &json!([]))
    );
    let shown = project.ok(&["show", "CLR-42-001"])["question"].clone();
    assert_eq!((&shown["answer"]["via"], &shown["answer"]["by"]), (&json!("telegram"), &json!("human:zoe")));
    assert_eq!(shown["deliveries"][0]["status"], "answered");
}

#[test]
fn an_update_that_comes_again_answers_once() {
    let api = Receiver::start();
    let project = project(&api);
    let served = Served::start(&project);
    ask(&project, &["--option", "a=Bank A", "--option", "b=Bank B"]);
    let data = asked(&api).body["reply_markup"]["inline_keyboard"][0][0]["callback_data"].clone();
    let told = call(&api, "answerCallbackQuery", &json!([press(7, CHAT, &data)]));
    served.kill();

    let _served = Served::start(&project);
    let again = call(&api, "answerCallbackQuery", &json!([press(7, CHAT, &data)]));

    assert_eq!(again.body["text"], told.body["text"]);
    let thread = project.ok(&["show", "CLR-42-001"])["question"]["thread"].clone();
    assert_eq!(thread.as_array().unwrap().iter().filter(|it| it["type"] == "answer").count(), 1, "{thread}");
}

#[test]
fn a_reply_answers_in_ones_own_words_and_a_button_that_is_not_ours_does_nothing() {
    let api = Receiver::start();
    let project = project(&api);
    let _served = Served::start(&project);
    ask(&project, &[]);
    let sent = asked(&api);
    let reply = json!({ "update_id": 8, "message": {
        "message_id": 13, "chat": { "id": CHAT }, "from": { "id": 5, "first_name": "Zoë" }, "text": "Any bank",
        "reply_to_message": { "message_id": 12, "chat": { "id": CHAT }, "from": { "id": 1, "is_bot": true }, "text": sent.body["text"] },
    } });

    let told = call(&api, "sendMessage", &json!([press(7, CHAT, &json!("CLR-42-001:1:0:AAAAAAAAAAA")), reply]));

    assert_eq!(
        (&told.body["text"], &told.body["reply_parameters"]["message_id"]),
        (&json!("CLR-42-001: Any bank"), &json!(13))
    );
    let answer = project.ok(&["show", "CLR-42-001"])["question"]["answer"].clone();
    assert_eq!((&answer["value"], &answer["by"]), (&json!("Any bank"), &json!("human:Zoë")));
}
