//! People are notified by a real server, through real requests, whatever crashes.

use std::io::{BufRead, BufReader};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::common::Project;
use crate::common::http::{SECRET, Served};
use crate::common::receiver::{Receiver, Request};

/// A project with a webhook that is tried three times, quickly.
fn hooked(receiver: &Receiver) -> Project {
    let url = &receiver.url;
    Project::new().with_config(&format!(
        "[[notify]]\nchannel = \"webhook\"\nurl = \"{url}/hook\"\nsecret_env = \"TEST_SECRET\"\nretries = 2\nbackoff = \"5ms\"\n"
    ))
}

fn ask(project: &Project, prompt: &str) -> String {
    let data = project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "human",
        "--no-blocking",
        "--topic",
        "Banks",
        "--question",
        prompt,
        "--option",
        "a=Bank A",
        "--option",
        "b=Bank B",
    ]);
    data["question_id"].as_str().unwrap().to_owned()
}

fn deliveries(project: &Project) -> Vec<Value> {
    project.ok(&["deliveries", "--all"])["deliveries"].as_array().unwrap().clone()
}

/// Waits until so many events of this type are recorded.
fn until(project: &Project, kind: &str, count: usize) {
    let mut child = Project::start(&mut project.querent(&["events", "--follow"]));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let found = lines.filter(|line| line.contains(&format!("\"type\":\"{kind}\""))).take(count).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found, count);
}

fn signature(timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    let digits: Vec<String> = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

#[test]
fn a_webhook_is_told_of_a_question_once_and_can_check_who_says_so() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let served = Served::start(&project);
    let id = ask(&project, "Which bank?");

    let Request { path, body, text, .. } = &receiver.take();
    until(&project, "effect_done", 1);

    assert_eq!(
        (path.as_str(), &body["event"], &body["question"]["id"]),
        ("/hook", &json!("question_asked"), &json!(id))
    );
    let base = format!("http://{}", served.address);
    let link = |value: &Value| value.as_str().unwrap().to_owned();
    assert!(link(&body["links"]["open"]).starts_with(&format!("{base}/q/{id}?n=")), "{body}");
    let answers: Vec<&String> = body["links"]["answer"].as_object().unwrap().keys().collect();
    assert_eq!(answers, ["a", "b"]);
    assert!(link(&body["links"]["answer"]["a"]).starts_with(&format!("{base}/a/")), "{body}");
    assert!(!text.contains(SECRET));
    let shown = project.ok(&["show", &id]);
    let delivery = &shown["question"]["deliveries"][0];
    assert_eq!(
        (&delivery["status"], &delivery["attempts"], &delivery["state"]),
        (&json!("delivered"), &json!(1), &json!("asked"))
    );
    assert!(receiver.is_empty(), "once");
}

#[test]
fn the_signature_is_over_the_timestamp_and_the_body() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let _served = Served::start(&project);
    ask(&project, "Which bank? \u{8cea}\u{554f}");

    let request = receiver.take();

    let signed = signature(request.header("Querent-Timestamp"), &request.text);
    assert_eq!(request.header("Querent-Signature"), format!("v1={signed}"));
    assert_eq!(request.header("Querent-Delivery"), "notify:CLR-42-001:1:asked:webhook");
}

#[test]
fn a_receiver_that_fails_is_tried_again_and_knows_that_it_is_the_same() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let _served = Served::start(&project);
    ask(&project, "Which bank?");

    let first = receiver.next();
    first.reply(500, "not today");
    let second = receiver.take();
    until(&project, "effect_done", 1);

    assert_eq!(first.header("Querent-Delivery"), second.header("Querent-Delivery"));
    let delivery = &deliveries(&project)[0];
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("delivered"), &json!(2)));
}

#[test]
fn what_failed_at_every_attempt_is_a_dead_letter_that_is_seen_and_can_be_tried_again() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let _served = Served::start(&project);
    let id = ask(&project, "Which bank?");

    for _ in 0..3 {
        receiver.next().reply(503, "closed");
    }
    until(&project, "effect_done", 1);

    let delivery = &deliveries(&project)[0];
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("failed"), &json!(3)));
    assert_eq!(delivery["error"], "status 503: closed");
    let alerts = project.ok(&["alerts"]);
    assert_eq!(alerts["alerts"][0]["type"], "delivery_failed", "{alerts}");
    assert!(receiver.is_empty(), "it was given up");

    project.ok(&["deliveries", "retry", &id]);
    receiver.take();
    until(&project, "effect_requeued", 1);
}

#[test]
fn a_server_that_is_killed_while_it_sends_loses_nothing_and_repeats_nothing_that_was_done() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let served = Served::start(&project);
    let before = ask(&project, "Which bank?");
    receiver.take();
    until(&project, "effect_done", 1);
    let during = ask(&project, "Which colour?");
    let held = receiver.next();

    served.kill();
    let after = ask(&project, "Which font?");
    let _served = Served::start(&project);

    let told: Vec<String> =
        [receiver.take(), receiver.take()].iter().map(|it| it.header("Querent-Delivery").to_owned()).collect();
    assert!(told.contains(&held.header("Querent-Delivery").to_owned()), "{told:?}");
    assert!(told.contains(&format!("notify:{after}:1:asked:webhook")), "{told:?}");
    assert!(!told.iter().any(|it| it.contains(&before)) && told.iter().any(|it| it.contains(&during)), "{told:?}");
}

#[test]
fn two_servers_on_one_project_notify_once() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let _servers = (Served::start(&project), Served::start(&project));

    let ids: Vec<String> = (0..5).map(|number| ask(&project, &format!("Which bank for {number}?"))).collect();
    let mut told: Vec<String> =
        ids.iter().map(|_| receiver.take().body["question"]["id"].as_str().unwrap().to_owned()).collect();
    told.sort_unstable();

    until(&project, "effect_done", ids.len());

    assert_eq!(told, ids);
    assert!(receiver.is_empty());
    assert!(deliveries(&project).iter().all(|it| it["status"] == "delivered" && it["attempts"] == 1));
}

#[test]
fn a_question_that_was_settled_before_a_server_ran_is_nobodys_news() {
    let receiver = Receiver::start();
    let project = hooked(&receiver);
    let settled = ask(&project, "Which bank?");
    project.ok(&["answer", &settled, "--answer", "a"]);
    let open = ask(&project, "Which colour?");

    let _served = Served::start(&project);

    assert_eq!(receiver.take().body["question"]["id"], open);
    assert!(receiver.is_empty());
}

#[test]
fn a_channel_that_is_added_while_the_server_runs_is_used() {
    let receiver = Receiver::start();
    let project = Project::new();
    let _served = Served::start(&project);
    let id = ask(&project, "Which bank?");

    let url = &receiver.url;
    let _project = project.with_config(&format!("[[notify]]\nchannel = \"ntfy\"\nurl = \"{url}/topic\"\n"));

    let request = receiver.take();
    assert_eq!((request.path.as_str(), &request.body["topic"]), ("/", &json!("topic")));
    assert_eq!(request.body["actions"].as_array().unwrap().len(), 2, "{id}: {}", request.body);
}

#[test]
fn slack_gets_blocks_with_buttons_and_its_address_is_told_to_nobody() {
    let receiver = Receiver::start();
    let url = &receiver.url;
    let config = format!("[[notify]]\nchannel = \"slack\"\nurl = \"{url}/services/T0/B0/hush\"\nretries = 0\n");
    let project = Project::new().with_config(&config);
    let _served = Served::start(&project);
    ask(&project, "Which <!channel> & bank?");

    let request = receiver.next();
    request.reply(404, "no_service");
    until(&project, "effect_done", 1);

    let kinds: Vec<&Value> = request.body["blocks"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["header", "section", "actions", "context"]);
    assert!(request.text.contains("Which &lt;!channel&gt; &amp; bank?"), "{}", request.text);
    let listed = project.run(&["deliveries"]).stdout;
    assert!(listed.contains("status 404: no_service") && !listed.contains("hush"), "{listed}");
}

#[test]
fn what_blocks_nobody_comes_as_one_message_and_what_blocks_by_itself() {
    let receiver = Receiver::start();
    let url = &receiver.url;
    let config = format!("[[notify]]\nchannel = \"ntfy\"\nurl = \"{url}/topic\"\ndigest = \"1ms\"\n");
    let project = Project::new().with_config(&config);
    ask(&project, "Which bank?");
    ask(&project, "Which colour?");
    project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "human",
        "--topic",
        "Font",
        "--question",
        "Which?",
    ]);

    let _served = Served::start(&project);
    let titles = [receiver.take(), receiver.take()].map(|it| it.body["title"].as_str().unwrap().to_owned());
    until(&project, "effect_done", 3);

    assert!(titles.contains(&"2 questions wait for you, none of them urgent".to_owned()), "{titles:?}");
    assert!(titles.contains(&"engineer waits for you: Font".to_owned()), "{titles:?}");
    assert!(receiver.is_empty());
}

#[test]
fn a_channel_tells_of_the_alerts_that_it_carries_once() {
    let receiver = Receiver::start();
    let url = &receiver.url;
    let project = Project::new().with_config(&format!(
        "[[notify]]\nchannel = \"ntfy\"\nurl = \"{url}/topic\"\nkinds = []\nseverities = [\"error\"]\n\n\
         [[notify]]\nchannel = \"slack\"\nurl_env = \"NOT_SET_ANYWHERE\"\nretries = 0\n"
    ));
    let served = Served::start(&project);
    ask(&project, "Which bank?");

    let told = receiver.take();
    served.kill();
    let _served = Served::start(&project);
    ask(&project, "Which colour?");
    until(&project, "effect_done", 2);

    assert_eq!(told.body["title"], "Alert: delivery failed");
    assert!(told.body["message"].as_str().unwrap().contains("NOT_SET_ANYWHERE is not set"), "{}", told.body);
    assert!(receiver.is_empty(), "the same is not said again within half an hour");
}
