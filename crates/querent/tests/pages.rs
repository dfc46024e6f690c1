//! The pages, as a browser gets them: what agents wrote is text, and answers are given once.

use serde_json::json;

use crate::common::Project;
use crate::common::http::Served;

const HOSTILE: &str = "<script>alert(1)</script> [x](javascript:alert(2)) \u{202e}gnp.exe <img src=x onerror=alert(3)>";

#[test]
fn what_an_agent_wrote_does_nothing_on_any_page() {
    let project = Project::new();
    let served = Served::start(&project);
    let options = json!([{ "id": "a", "label": HOSTILE, "description": HOSTILE, "implications": HOSTILE }, { "id": "b", "label": "B" }]);
    let ask = json!({
        "item": "42", "from": "engineer", "to": "human", "topic": HOSTILE, "prompt": HOSTILE, "context": HOSTILE, "options": options,
        "details": { "<b>": HOSTILE }, "evidence": { "<i>": HOSTILE }, "fallback": { "answer": "b", "reason": HOSTILE },
    });
    served.post("/questions", ask).data();
    served.post("/assumptions", json!({ "item": "42", "agent": "engineer", "decision": HOSTILE, "reasoning": HOSTILE, "confidence": "low", "risk_if_wrong": { "level": "high", "note": HOSTILE } })).data();

    for path in ["/", "/inbox/cards", "/q/CLR-42-001", "/board", "/waits", "/assumptions", "/digest", "/log"] {
        let page = served.request("GET", path, &[], b"");
        assert_eq!(page.status, 200, "{path}");
        for harm in ["<script>alert", "href=\"javascript", "<img", "\u{202e}", "<b>", "<i>"] {
            assert!(!page.body.contains(harm), "{path} has {harm}: {}", page.body);
        }
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    }
}

#[test]
fn the_first_answer_wins_and_the_second_is_told_who_was_first() {
    let project = Project::new();
    let served = Served::start(&project);
    let id = project.asks_human();
    let send = |headers: &[(&str, &str)], body: &str| {
        let all = [&[("Content-Type", "application/x-www-form-urlencoded")], headers].concat();
        served.request("POST", &format!("/q/{id}/answer"), &all, body.as_bytes())
    };

    let nothing = send(&[("X-Querent-Part", "1")], "note=hm");
    project.ok(&["answer", &id, "--answer", "redis", "--by", "human:bob"]);
    let late = send(&[("X-Querent-Part", "1")], "answer=sql");
    let without_script = send(&[("Accept", "text/html")], "answer=sql");

    assert_eq!(nothing.status, 400);
    assert!(nothing.body.contains("nothing is chosen"), "{}", nothing.body);
    assert_eq!(late.status, 409);
    assert!(late.body.contains("human:bob was first"), "{}", late.body);
    assert!(!late.body.contains("<form"), "the buttons are gone: {}", late.body);
    assert_eq!(without_script.status, 409);
    assert_eq!(project.ok(&["show", &id])["question"]["answer"]["value"], "redis");
}

#[test]
fn an_assumption_is_judged_by_a_form() {
    let project = Project::new();
    let served = Served::start(&project);
    project.ok(&[
        "assume",
        "--item",
        "42",
        "--agent",
        "engineer",
        "--decision",
        "Use UTC",
        "--reasoning",
        "all logs do",
        "--confidence",
        "high",
        "--risk",
        "low",
    ]);

    let reply = served.request(
        "POST",
        "/assumptions/ASM-42-001/review",
        &[("Content-Type", "application/x-www-form-urlencoded")],
        b"answer=overturn&note=local+time",
    );

    assert_eq!(reply.status, 303);
    assert_eq!(project.ok(&["assumptions", "--status", "all"])["assumptions"][0]["status"], "overturned");
}

#[test]
fn an_empty_project_says_what_to_do_next_and_a_wrong_address_too() {
    let project = Project::new();
    let served = Served::start(&project);

    let inbox = served.request("GET", "/", &[], b"");
    let nowhere = served.request("GET", "/nowhere", &[("Accept", "text/html")], b"");

    assert!(inbox.body.contains("Nobody waits for you."), "{}", inbox.body);
    assert!(inbox.body.contains("querent ask --item 42 --from engineer"), "{}", inbox.body);
    assert_eq!(nowhere.status, 404);
    assert!(nowhere.body.contains("Back to the inbox"));
    assert_eq!(served.request("GET", "/q/CLR-42-009", &[], b"").status, 404);
}

#[test]
fn a_link_of_a_notification_asks_first_answers_once_and_cannot_be_forged() {
    let receiver = crate::common::receiver::Receiver::start();
    let project = Project::new().with_config(&format!(
        "[[notify]]\nchannel = \"webhook\"\nurl = \"{}/hook\"\nsecret_env = \"TEST_SECRET\"\n",
        receiver.url
    ));
    let served = Served::start(&project);
    project.ok(&[
        "ask",
        "--item",
        "42",
        "--from",
        "engineer",
        "--to",
        "human",
        "--topic",
        "Banks",
        "--question",
        "Which?",
        "--option",
        "a=Bank A",
        "--option",
        "b=Bank B",
    ]);
    let told = receiver.take();
    let url = told.body["links"]["answer"]["b"].as_str().unwrap().to_owned();
    let path = url.split(&served.address).nth(1).unwrap().to_owned();

    let shown = served.request("GET", &path, &[], b"");
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains("Your answer: <strong>Bank B</strong>"), "{}", shown.body);
    assert_eq!(project.ok(&["show", "CLR-42-001"])["question"]["status"], "open", "looking answers nothing");
    let forged = served.request("POST", &format!("{path}x"), &[], b"");
    assert_eq!(forged.status, 403);
    assert_eq!(served.request("POST", &path, &[("Origin", "https://evil.example")], b"").status, 403);
    let sent = served.request("POST", &path, &[], b"");
    let again = served.request("POST", &path, &[], b"");

    assert_eq!(sent.status, 200, "{}", sent.body);
    assert_eq!(again.status, 409);
    let question = project.ok(&["show", "CLR-42-001"])["question"].clone();
    assert_eq!((&question["answer"]["value"], &question["answer"]["via"]), (&json!("b"), &json!("webhook")));
    assert_eq!(question["deliveries"][0]["status"], "answered");
    let log = served.log();
    assert!(log.contains("turned away with a link: this link was not made by this project"), "{log}");
    assert!(!log.contains(&path), "{log}");
}
