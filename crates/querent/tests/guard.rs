//! Who comes in over the network, and who does not; driven against the real server.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::Project;
use crate::common::http::{Reply, Served};
use crate::serve::tool;

/// Something of everything that is behind the guard.
const GUARDED: [(&str, &str); 17] = [
    ("GET", "/"),
    ("GET", "/inbox/cards"),
    ("GET", "/q/CLR-42-001"),
    ("POST", "/q/CLR-42-001/answer"),
    ("POST", "/q/CLR-42-001/withdraw"),
    ("GET", "/board"),
    ("GET", "/waits"),
    ("GET", "/assumptions"),
    ("GET", "/digest"),
    ("GET", "/log"),
    ("GET", "/events"),
    ("GET", "/metrics"),
    ("GET", "/api/v1/questions"),
    ("POST", "/api/v1/questions"),
    ("POST", "/api/v1/questions/CLR-42-001/answer"),
    ("POST", "/mcp"),
    ("POST", "/mcp/engineer"),
];

fn token(project: &Project, role: &str) -> String {
    let made = project.ok(&["token", "create", "--role", role, "--name", "alice"]);
    format!("Bearer {}", made["token"].as_str().unwrap())
}

fn answer(served: &Served, headers: &[(&str, &str)], id: &str) -> Reply {
    served.post_with(&format!("/questions/{id}/answer"), headers, &json!({ "answer": "an hour" }))
}

/// Logs in with a link; the cookie.
fn log_in(project: &Project, served: &Served, id: &str) -> String {
    let link = project.ok(&["token", "link", id, "--at", &format!("http://{}", served.address)]);
    let path = link["url"].as_str().unwrap().split(&served.address).nth(1).unwrap().to_owned();
    let reply = served.request("GET", &path, &[], b"");
    let cookie = reply.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

/// What a page of ours shows to prove that it is one.
fn csrf(served: &Served, cookie: &str) -> String {
    let page = served.request("GET", "/", &[("Cookie", cookie)], b"");
    assert_eq!(page.status, 200);
    page.body.split("data-csrf=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn from_the_first_token_on_every_route_demands_one() {
    let project = Project::new();
    let served = Served::start(&project);
    assert_eq!(served.get("/questions").status, 200);
    token(&project, "human");
    // The token is of another process: the server hears of it within a tenth of a second, on a slow machine later.
    let patience = Instant::now() + Duration::from_secs(30);
    while served.get("/questions").status == 200 {
        assert!(Instant::now() < patience, "the server never demands the token");
    }

    for (method, path) in GUARDED {
        for headers in [
            &[][..],
            &[("Authorization", "Bearer qrt_wrong")],
            &[("Authorization", "Basic x")],
            &[("Cookie", "querent_session=TOK-001.99999999999999.AAAA")],
        ] {
            let reply = served.request(method, path, headers, b"");
            assert_eq!(reply.status, 401, "{method} {path} {headers:?} {}", reply.body);
            assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"querent\""));
        }
    }
    for path in ["/healthz", "/readyz", "/openapi.json", "/login"] {
        assert_eq!(served.request("GET", path, &[], b"").status, 200, "{path}");
    }
    let log = served.log();
    assert!(log.contains("turned away 401 GET /api/v1/questions from 127.0.0.1: this server demands a token"), "{log}");
    assert!(!log.contains("qrt_wrong") && !log.contains("AAAA"), "{log}");
}

#[test]
fn pages_of_elsewhere_and_other_names_are_turned_away_with_and_without_tokens() {
    let project = Project::new();
    let served = Served::start(&project);
    let check = |bearer: &str| {
        for (method, path) in GUARDED {
            let foreign =
                served.request(method, path, &[("Origin", "https://evil.example"), ("Authorization", bearer)], b"");
            assert_eq!(foreign.status, 403, "{method} {path}");
            let null = served.request(method, path, &[("Origin", "null"), ("Authorization", bearer)], b"");
            assert_eq!(null.status, 403, "{method} {path}");
            let misdirected = served.request_to("evil.example", method, path, &[("Authorization", bearer)], b"");
            assert_eq!(misdirected.status, 421, "{method} {path}");
        }
        assert_eq!(served.request_to("evil.example", "GET", "/healthz", &[], b"").status, 421);
    };

    check("none");
    check(&token(&project, "human"));
    assert!(served.log().contains("turned away 421"), "{}", served.log());
}

#[test]
fn a_token_says_who_speaks_and_what_it_may() {
    let project = Project::new();
    let served = Served::start(&project);
    let (human, observer, engineer) =
        (token(&project, "human"), token(&project, "observer"), token(&project, "agent:engineer"));
    let by = |bearer: &str| [("Authorization", bearer.to_owned())];
    let ask = json!({ "item": "42", "to": "human", "topic": "Tokens", "prompt": "How long?" });
    let post = |bearer: &str, path: &str, body: &serde_json::Value| {
        let headers = by(bearer);
        served.post_with(path, &[(headers[0].0, &headers[0].1)], body)
    };

    let asked = post(&engineer, "/questions", &ask).data();
    assert_eq!(asked["question_id"], "CLR-42-001");
    post(&engineer, "/questions", &json!({ "item": "42", "from": "architect", "topic": "x", "prompt": "y" }))
        .refused(403, "unauthorized");
    post(&observer, "/questions", &ask).refused(403, "unauthorized");
    post(&engineer, "/questions/CLR-42-001/answer", &json!({ "answer": "an hour" })).refused(403, "human_only");
    post(&human, "/questions/CLR-42-001/answer", &json!({ "answer": "an hour", "by": "human:bob" }))
        .refused(403, "unauthorized");
    let answered = post(&human, "/questions/CLR-42-001/answer", &json!({ "answer": "an hour" })).data();

    assert_eq!((&answered["answer"]["by"], &answered["answer"]["via"]), (&json!("human:alice"), &json!("http")));
    let get = |bearer: &str, path: &str| served.request("GET", path, &[("Authorization", bearer)], b"").status;
    assert_eq!(get(&observer, "/api/v1/questions?status=all"), 200);
    assert_eq!(get(&observer, "/"), 200);
    assert_eq!(get(&engineer, "/"), 403);
    assert_eq!(get(&engineer, "/metrics"), 200);
    let mine = tool(
        &served,
        "/mcp",
        &[("Authorization", &engineer)],
        "question_create",
        json!({ "to": "architect", "topic": "API", "prompt": "Which?" }),
    );
    assert_eq!(mine["question_id"], "CLR-42-002");
    assert_eq!(served.request("POST", "/mcp/architect", &[("Authorization", &engineer)], b"").status, 403);
    project.ok(&["token", "revoke", "TOK-003"]);
    assert_eq!(get(&engineer, "/api/v1/questions"), 401);
}

#[test]
fn a_login_link_works_once_and_a_cookie_needs_a_page_of_ours() {
    let project = Project::new();
    let served = Served::start(&project);
    token(&project, "human");
    let id = project.asks_human();
    let link = project.ok(&["token", "link", "TOK-001"]);
    let path = link["url"].as_str().unwrap().split(&served.address).nth(1).unwrap().to_owned();
    assert_eq!(served.request("GET", &path, &[], b"").status, 200);
    let again = served.request("GET", &path, &[], b"");
    assert_eq!(again.status, 401);
    assert!(again.header("set-cookie").is_none());

    let cookie = log_in(&project, &served, "TOK-001");
    let csrf = csrf(&served, &cookie);
    let form = |headers: &[(&str, &str)], body: &str| {
        let all = [&[("Content-Type", "application/x-www-form-urlencoded"), ("Cookie", &cookie)], headers].concat();
        served.request("POST", &format!("/q/{id}/answer"), &all, body.as_bytes()).status
    };
    assert_eq!(form(&[], "answer=redis"), 403);
    assert_eq!(form(&[], "answer=redis&csrf=AAAA"), 403);
    assert_eq!(form(&[("Origin", "http://evil.example")], &format!("answer=redis&csrf={csrf}")), 403);
    assert_eq!(answer(&served, &[("Cookie", &cookie)], &id).status, 403);
    assert_eq!(project.ok(&["show", &id])["question"]["status"], "open");
    assert_eq!(form(&[], &format!("answer=redis&csrf={csrf}")), 303);

    let shown = project.ok(&["show", &id])["question"]["answer"].clone();
    assert_eq!((&shown["by"], &shown["via"]), (&json!("human:alice"), &json!("web")));
    assert!(!served.log().contains(path.split("code=").nth(1).unwrap()), "{}", served.log());
    project.ok(&["token", "revoke", "TOK-001"]);
    token(&project, "observer");
    assert_eq!(served.request("GET", "/", &[("Cookie", &cookie)], b"").status, 401);
}

#[test]
fn a_cookie_outlives_the_server_that_gave_it() {
    let project = Project::new();
    let served = Served::start(&project);
    token(&project, "human");
    let cookie = log_in(&project, &served, "TOK-001");
    served.kill();

    let next = Served::start(&project);

    assert_eq!(next.request("GET", "/", &[("Cookie", &cookie)], b"").status, 200);
}

#[test]
fn a_token_that_calls_too_often_is_told_to_wait() {
    let project = Project::new();
    let served = Served::start(&project);
    let human = token(&project, "human");
    // All of a crowd call before anybody listens, so that they come at once however slow the machine is.
    let crowd = || -> Vec<Reply> {
        let calls = (0..400).map(|_| served.send("GET", "/api/v1/locks", &[("Authorization", &human)], b""));
        calls.collect::<Vec<_>>().into_iter().map(Reply::read).collect()
    };

    let slowed = (0..10).flat_map(|_| crowd()).find(|reply| reply.status != 200).unwrap();

    slowed.refused(429, "rate_limited");
    assert_eq!(slowed.header("retry-after"), Some("1"));
}

#[test]
fn what_is_too_large_changes_nothing() {
    let project = Project::new();
    let served = Served::start(&project);
    let large = "x".repeat(2 << 20);

    let reply = served.post("/questions", json!({ "item": "42", "from": "engineer", "topic": "x", "prompt": large }));

    assert_eq!(reply.status, 413, "{}", reply.body);
    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 0);
}

#[test]
fn whoever_sends_slowly_keeps_nobody_else_waiting() {
    let project = Project::new();
    let served = Served::start(&project);
    let half: Vec<_> = (0..200).map(|_| served.send_half("POST", "/api/v1/questions")).collect();

    let id = project.asks_human();
    let reply = served.post(&format!("/questions/{id}/answer"), json!({ "answer": "redis" }));

    assert_eq!(reply.status, 200, "{}", reply.body);
    drop(half);
}
