use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::common::{Project, keys};

/// Those of a list that have this id.
fn find<'a>(list: &'a Value, id: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|it| it["id"] == id).unwrap()
}

/// A question in a few words.
fn short(question: &Value) -> Value {
    let answer = &question["answer"];
    json!([question["id"], question["status"], question["round"], answer["value"], answer["by"], answer["provenance"]])
}

#[test]
fn the_demo_does_the_same_every_time() {
    let project = Project::none();

    let first = project.ok(&["demo", "--fast", "--dir", "first"]);
    let second = project.ok(&["demo", "--fast", "--dir", "second"]);

    assert_eq!(keys(&first), ["alerts", "assumptions", "digest", "dir", "items", "questions"]);
    for reply in [&first, &second] {
        let items: Vec<Value> = reply["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| json!([it["id"], it["stage"], it["needs_rework"]]))
            .collect();
        assert_eq!(
            items,
            [
                json!(["checkout", "ready_to_merge", false]),
                json!(["export", "ready_to_merge", true]),
                json!(["launch", "ready_to_merge", false]),
                json!(["sign-in", "ready_to_merge", false]),
            ]
        );
        let questions: Vec<Value> = reply["questions"].as_array().unwrap().iter().map(short).collect();
        let forty = "Forty characters: \"The shop is open, come in and look round\"";
        assert_eq!(
            questions,
            [
                json!(["CLR-checkout-001", "expired", 1, "account", "querent", "fallback"]),
                json!(["CLR-export-001", "resolved", 1, "allow", "human:demo", "human"]),
                json!(["CLR-export-002", "expired", 1, "semicolon", "human:demo", "human"]),
                json!(["CLR-launch-001", "resolved", 1, "Forty.", "designer", "agent"]),
                json!([
                    "CLR-launch-002",
                    "resolved",
                    1,
                    "On a phone: forty characters are two lines there.",
                    "tester",
                    "agent"
                ]),
                json!(["CLR-launch-003", "resolved", 1, forty, "human:demo", "human"]),
                json!(["CLR-sign-in-001", "resolved", 2, "Yes: only the latest link is valid.", "architect", "agent"]),
            ]
        );
    }
}

#[test]
fn the_demo_shows_what_it_promises() {
    let project = Project::none();

    let reply = project.ok(&["demo", "--fast", "--dir", "shop"]);

    // What nobody could settle went to a person, and its fallback was taken.
    let guests = find(&reply["questions"], "CLR-checkout-001");
    assert_eq!((&guests["asked"], &guests["to"]), (&json!("product-manager"), &json!("human")));
    // Permission was asked for, and given by a person.
    assert_eq!(find(&reply["questions"], "CLR-export-001")["category"], "permission_override");
    // The ring was found and broken.
    let broken = find(&reply["questions"], "CLR-launch-003");
    assert_eq!((&broken["asked"], &broken["to"]), (&json!("writer"), &json!("human")));
    let alerts = reply["alerts"].as_array().unwrap();
    assert_eq!(alerts.iter().map(|it| it["type"].as_str().unwrap()).collect::<Vec<_>>(), ["deadlock"]);
    // The late answer overturned what was assumed, and nothing else.
    let assumed = |id: &str| {
        let all = reply["assumptions"].as_array().unwrap();
        all.iter().find(|it| it["question_id"] == id).unwrap()["status"].clone()
    };
    assert_eq!((assumed("CLR-export-002"), assumed("CLR-checkout-001")), (json!("overturned"), json!("standing")));
    let digest = &reply["digest"];
    assert_eq!(
        (&digest["total"], &digest["deadlocks"], &digest["assumptions_overturned"]),
        (&json!(7), &json!(1), &json!(1))
    );
}

#[test]
fn the_demo_tells_the_whole_story() {
    let project = Project::none();

    let told = project.run(&["demo", "--fast", "--dir", "shop"]);

    assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{}", told.stdout);
    for part in [
        "[Round 2] engineer -> architect",
        "[RESOLVED] CLR-sign-in-001 15 minutes, once, the latest only",
        "[ESCALATED] CLR-checkout-001 engineer and product-manager did not agree in 1 round\n",
        "[EXPIRED] CLR-checkout-001 nobody answered; the fallback is taken: No, an account comes first",
        "Silence never gives permission.",
        "[Round 1] human:demo -> engineer",
        "[ESCALATED] CLR-launch-003 a deadlock:",
        "is overturned by human:demo",
        "export     needs rework",
        "overturned     1 assumptions",
        "Try next:",
    ] {
        assert!(told.stdout.contains(part), "{part} is missing in {}", told.stdout);
    }
}

#[test]
fn what_the_demo_says_to_try_next_works() {
    let project = Project::none();
    project.ok(&["demo", "--fast", "--dir", "shop"]);

    project.ok(&["item", "move", "export", "--to", "implement", "--project", "shop"]);
    project.run(&["run", "--project", "shop"]);

    let item = project.ok(&["item", "show", "export", "--project", "shop"]);
    assert_eq!(item["item"]["stage"], "ready_to_merge", "{item}");
}

#[test]
fn without_git_the_demo_works_in_one_directory() {
    let project = Project::none();

    let reply = Project::start(project.querent(&["demo", "--fast", "--json", "--dir", "shop"]).env("PATH", ""));
    let reply = reply.wait_with_output().unwrap();

    let reply: Value = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!(find(&reply["data"]["items"], "sign-in")["stage"], "ready_to_merge", "{reply}");
    assert!(!project.path().join("shop/.git").exists());
}

#[test]
fn the_demo_can_be_seen_in_the_inbox_until_it_is_stopped() {
    let project = Project::none();
    let mut child = Project::start(&mut project.querent(&["demo", "--fast", "--serve", "--dir", "shop"]));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);

    let address = lines.next().unwrap().strip_prefix("listening on http://").unwrap().to_owned();
    assert!(lines.any(|line| line.contains("until you press Ctrl-C")));
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET /api/v1/questions?status=all HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());

    assert!(child.wait().unwrap().success());
    assert!(page.contains("CLR-launch-003"), "{page}");
}

#[test]
fn the_demo_never_touches_what_is_there() {
    let project = Project::new();
    std::fs::create_dir(project.path().join("full")).unwrap();
    std::fs::write(project.path().join("full/file"), "mine").unwrap();
    let before = project.files();

    project.refused(&["demo", "--dir", "."], "conflict");
    project.refused(&["demo", "--dir", "full"], "conflict");

    assert_eq!(project.files(), before);
}
