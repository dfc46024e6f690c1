use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use querent_core::{ProviderConfig, ProviderKind};
use tokio::sync::oneshot;

use super::stub::{Act, Stub, reply, stream};
use super::*;
use crate::order::Purpose;
use crate::signal::TurnResult;
use crate::{anthropic, openai};

const KEY: &str = "sk-very-secret";

const START: &str = r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Use é"}}"#;
const USAGE: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const OVERLOADED: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

/// A provider, the server that it speaks to, and the pauses that it made.
struct Scene {
    stub: Stub,
    api: Api,
    pauses: Arc<Mutex<Vec<u64>>>,
}

/// How a turn went.
struct Went {
    signals: Vec<Signal>,
    end: Result<(), Failure>,
}

fn config(base_url: &str) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::Anthropic,
        profile: None,
        command: Vec::new(),
        env: Vec::new(),
        timeout: querent_core::Span::minutes(10),
        max_output: 1 << 20,
        script: None,
        model: Some("model-1".to_owned()),
        base_url: Some(base_url.to_owned()),
        api_key_env: None,
        max_tokens: None,
    }
}

fn order() -> Order {
    Order {
        agent: "architect".parse().unwrap(),
        item: "42".parse().unwrap(),
        session: "architect@42".parse().unwrap(),
        purpose: Purpose::Step("design".to_owned()),
        turn: 1,
        prompt: "Which database?".to_owned(),
        directory: "work".into(),
        mcp: None,
        env: BTreeMap::new(),
    }
}

impl Scene {
    async fn new(acts: Vec<Act>) -> Self {
        Self::with(&anthropic::VENDOR, acts, |_| ()).await
    }

    async fn with(vendor: &'static Vendor, acts: Vec<Act>, change: impl FnOnce(&mut ProviderConfig)) -> Self {
        let stub = Stub::new(acts).await;
        let pauses = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&pauses);
        let world = World {
            variable: Arc::new(move |name| (name == vendor.key_env || name == "OTHER_KEY").then(|| format!("{KEY}\n"))),
            now: Arc::new(|| "2026-11-06T08:49:37Z".parse().unwrap()),
            pause: Arc::new(move |delay| {
                kept.lock().unwrap().push(delay.as_secs());
                Box::pin(async {})
            }),
        };
        let mut config = config(&stub.url);
        change(&mut config);
        let api = Api::new(vendor, &config, world).unwrap();
        Self { stub, api, pauses }
    }

    async fn turn(&self) -> Went {
        let mut run = self.api.start(order()).unwrap();
        run.go();
        let mut signals = Vec::new();
        while let Some(signal) = run.next().await {
            signals.push(signal);
        }
        Went { signals, end: run.end().await }
    }

    async fn failure(&self) -> Failure {
        let failure = self.turn().await.end.unwrap_err();
        let shown = format!("{failure} {failure:?} {:?}", self.api);
        assert!(!shown.contains(KEY) && !shown.contains("/v1") && !shown.contains("http"), "{shown}");
        failure
    }

    fn pauses(&self) -> Vec<u64> {
        self.pauses.lock().unwrap().clone()
    }
}

fn whole() -> Act {
    Act::Send(vec![stream(&[START, TEXT, USAGE, STOP])])
}

fn text(text: &str) -> Signal {
    Signal::Result(TurnResult::Text(text.to_owned()))
}

fn usage(input_tokens: u64, output_tokens: u64) -> Signal {
    Signal::Usage(Usage { input_tokens, output_tokens })
}

#[tokio::test]
async fn a_turn_is_one_request_and_its_text_is_the_result() {
    let scene = Scene::new(vec![whole()]).await;
    let went = scene.turn().await;
    assert_eq!(went.end, Ok(()));
    assert_eq!(went.signals, [usage(10, 1), usage(10, 15), text("Use é")]);
    let told = &scene.stub.told()[0];
    let (head, body) = told.split_once("\r\n\r\n").unwrap();
    for line in ["POST /v1/messages HTTP/1.1", "x-api-key: sk-very-secret", "anthropic-version: 2023-06-01"] {
        assert!(head.lines().any(|it| it == line), "{head}");
    }
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["messages"], serde_json::json!([{"role": "user", "content": "Which database?"}]));
    assert_eq!(
        (&body["model"], &body["stream"], &body["max_tokens"]),
        (&"model-1".into(), &true.into(), &16_000.into())
    );
    assert!(body["system"].as_str().unwrap().contains("`architect`"));
}

#[tokio::test]
async fn openai_is_spoken_to_in_its_own_way() {
    let events = [
        r#"{"type":"response.output_text.delta","delta":"Post"}"#,
        r#"{"type":"response.output_text.delta","delta":"gres"}"#,
        r#"{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":4}}}"#,
    ];
    let change = |config: &mut ProviderConfig| {
        config.max_tokens = Some(99);
        config.api_key_env = Some("OTHER_KEY".to_owned());
        config.base_url = config.base_url.take().map(|url| format!("{url}/proxy/v1/"));
    };
    let scene = Scene::with(&openai::VENDOR, vec![Act::Send(vec![stream(&events)])], change).await;
    let went = scene.turn().await;
    assert_eq!((went.end, went.signals), (Ok(()), vec![usage(3, 4), text("Postgres")]));
    let told = &scene.stub.told()[0];
    let (head, body) = told.split_once("\r\n\r\n").unwrap();
    for line in ["POST /proxy/v1/responses HTTP/1.1", "authorization: Bearer sk-very-secret"] {
        assert!(head.lines().any(|it| it == line), "{head}");
    }
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["input"], &body["max_output_tokens"]), (&"Which database?".into(), &99.into()));
    assert_eq!((&body["store"], &body["stream"]), (&false.into(), &true.into()));
}

#[tokio::test]
async fn how_the_network_cuts_the_stream_makes_no_difference() {
    for size in [1, 2, 3, 7, 50] {
        let pieces = stream(&[START, TEXT, USAGE, STOP]).chunks(size).map(<[u8]>::to_vec).collect();
        let went = Scene::new(vec![Act::Send(pieces)]).await.turn().await;
        assert_eq!(went.signals.last(), Some(&text("Use é")), "{size}");
    }
}

#[tokio::test]
async fn a_server_that_says_when_is_asked_again_then() {
    let scene = Scene::new(vec![
        Act::Send(vec![reply(429, "retry-after: 17\r\n", "{}")]),
        Act::Send(vec![reply(429, "retry-after: Fri, 06 Nov 2026 08:50:07 GMT\r\n", "{}")]),
        Act::Send(vec![reply(529, "", "{}")]),
        whole(),
    ])
    .await;
    assert_eq!(scene.turn().await.end, Ok(()));
    assert_eq!(scene.pauses(), [17, 30, 4]);
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone_for_an_hour_is() {
    let scene = Scene::new(vec![Act::Send(vec![reply(429, "retry-after: 3600\r\n", "{}")])]).await;
    assert_eq!(scene.failure().await.message, "127.0.0.1: refused with 429");
    assert_eq!(scene.pauses(), [0; 0]);
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_if_it_said_nothing_yet() {
    let scene = Scene::new(vec![Act::Send(vec![stream(&[START, OVERLOADED])]), whole()]).await;
    assert_eq!(scene.turn().await.end, Ok(()));
    assert_eq!(scene.pauses(), [1]);
    let scene = Scene::new(vec![Act::Send(vec![stream(&[START, TEXT, OVERLOADED])])]).await;
    let failure = scene.failure().await;
    assert_eq!(failure, Failure::new(FailureKind::Refused, "127.0.0.1: Overloaded (overloaded_error)"));
    assert_eq!(scene.pauses(), [0; 0]);
}

#[tokio::test]
async fn a_server_that_fails_five_times_has_failed() {
    let acts = (0..5).map(|_| Act::Send(vec![reply(500, "", "<html>")])).collect();
    let scene = Scene::new(acts).await;
    let failure = scene.failure().await;
    assert_eq!(failure, Failure::new(FailureKind::Refused, "127.0.0.1: refused with 500, at attempt 5"));
    assert_eq!((scene.pauses(), scene.stub.told().len()), (vec![1, 2, 4, 8], 5));
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_tried_again() {
    let scene = Scene::new(vec![Act::Close, Act::Close, whole()]).await;
    assert_eq!(scene.turn().await.end, Ok(()));
    assert_eq!(scene.pauses(), [1, 2]);
}

#[tokio::test]
async fn nobody_at_the_address_is_a_failure_that_names_the_host() {
    let scene = Scene::new(Vec::new()).await;
    // The stub has no acts, so its task has ended and nobody listens there, at the latest when it is tried again.
    let failure = scene.failure().await;
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(failure.message.starts_with("127.0.0.1: ") && failure.message.ends_with(", at attempt 5"), "{failure}");
}

#[tokio::test]
async fn what_the_server_says_is_passed_on_without_secrets() {
    let words = format!("bad key {KEY}\\nat \\u001b[1m");
    let body = format!(r#"{{"type":"error","error":{{"type":"authentication_error","message":"{words}"}}}}"#);
    let scene = Scene::new(vec![Act::Send(vec![reply(401, "", &body)])]).await;
    assert_eq!(scene.failure().await.message, "127.0.0.1: refused with 401: bad key *** at [1m");
    let body = r#"{"error":{"message":"POST /gate/k3y/v1/messages has no such model"}}"#;
    let change =
        |config: &mut ProviderConfig| config.base_url = config.base_url.take().map(|url| format!("{url}/gate/k3y"));
    let scene = Scene::with(&anthropic::VENDOR, vec![Act::Send(vec![reply(404, "", body)])], change).await;
    let message = scene.turn().await.end.unwrap_err().message;
    assert_eq!(message, "127.0.0.1: refused with 404: POST ***/v1/messages has no such model");
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "long ".repeat(1000));
    let scene = Scene::new(vec![Act::Send(vec![reply(400, "", &long)])]).await;
    assert!(scene.failure().await.message.len() < 400);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let scene = Scene::new(vec![Act::Send(vec![reply(307, "location: http://127.0.0.1:1/\r\n", "")])]).await;
    assert_eq!(scene.failure().await.message, "127.0.0.1: refused with 307");
}

#[tokio::test]
async fn a_connection_that_is_cut_is_made_again_if_nothing_was_said() {
    let scene = Scene::new(vec![Act::Send(vec![stream(&[START])]), whole()]).await;
    assert_eq!(scene.turn().await.end, Ok(()));
    assert_eq!(scene.pauses(), [1]);
}

#[tokio::test]
async fn a_connection_that_is_cut_in_the_middle_of_the_text_is_a_failure() {
    let cut = "transfer-encoding: chunked\r\n";
    let event = format!("data: {TEXT}\n\n");
    let chunked = format!("{:x}\r\n{event}\r\nffff\r\nda", event.len());
    for act in [stream(&[START, TEXT]), reply(200, cut, &chunked)] {
        let scene = Scene::new(vec![Act::Send(vec![act])]).await;
        let went = scene.turn().await;
        assert_eq!(went.end.unwrap_err().kind, FailureKind::Refused);
        assert!(!went.signals.iter().any(|signal| matches!(signal, Signal::Result(_))));
        assert_eq!(scene.pauses(), [0; 0]);
    }
}

#[tokio::test]
async fn what_is_no_stream_or_a_broken_one_is_unreadable() {
    for act in [reply(200, "", r#"{"id":"msg_1"}"#), reply(200, "", "<html>"), stream(&[START, "{\"type\":"])] {
        let scene = Scene::new(vec![Act::Send(vec![act])]).await;
        assert_eq!(scene.failure().await.kind, FailureKind::Unreadable);
        assert_eq!(scene.pauses(), [0; 0]);
    }
}

#[tokio::test]
async fn a_stream_without_end_is_cut_off() {
    let pings = || b"data: {\"type\":\"ping\"}\n\n".to_vec();
    let texts = || format!("data: {TEXT}\n\n").into_bytes();
    let no_event = || b"data: x\n".to_vec();
    for more in [pings(), texts(), no_event()] {
        let scene = Scene::new(vec![Act::Endless(stream(&[START]), more)]).await;
        let failure = scene.failure().await;
        assert_eq!(failure.message, "127.0.0.1: the reply is larger than max_output = 1048576");
        assert_eq!(failure.kind, FailureKind::TooMuch);
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_turn_is_let_go() {
    let scene = Scene::new(vec![whole()]).await;
    let run = scene.api.start(order()).unwrap();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    let mut run = scene.api.resume(order(), &"handle".parse().unwrap()).unwrap();
    run.cancel();
    run.go();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(scene.stub.told(), [""; 0]);
}

#[tokio::test]
async fn a_turn_that_is_stopped_in_the_middle_hangs_up() {
    let (sent, was_sent) = oneshot::channel();
    let (gone, is_gone) = oneshot::channel();
    let scene = Scene::new(vec![Act::Hold(stream(&[START, TEXT]), sent, gone)]).await;
    let mut run = scene.api.start(order()).unwrap();
    run.go();
    was_sent.await.unwrap();
    assert_eq!(run.next().await, Some(usage(10, 1)));
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    is_gone.await.unwrap();
}

#[tokio::test]
async fn a_turn_can_be_stopped_while_it_waits_to_try_again() {
    let mut scene = Scene::new(vec![Act::Send(vec![reply(429, "", "{}")])]).await;
    let (pausing, paused) = oneshot::channel();
    let pausing = Mutex::new(Some(pausing));
    scene.api.world.pause = Arc::new(move |_: Duration| {
        pausing.lock().unwrap().take().unwrap().send(()).unwrap();
        Box::pin(std::future::pending())
    });
    let mut run = scene.api.start(order()).unwrap();
    run.go();
    paused.await.unwrap();
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
}

#[tokio::test]
async fn a_turn_whose_holder_is_gone_hangs_up() {
    let (sent, was_sent) = oneshot::channel();
    let (gone, is_gone) = oneshot::channel();
    let scene = Scene::new(vec![Act::Hold(stream(&[START]), sent, gone)]).await;
    let mut run = scene.api.start(order()).unwrap();
    run.go();
    was_sent.await.unwrap();
    drop(run);
    is_gone.await.unwrap();
}

#[test]
fn what_a_provider_lacks_is_said_at_once() {
    let world = || World { variable: Arc::new(|_| None), ..World::real() };
    let new = |change: fn(&mut ProviderConfig)| {
        let mut config = config("https://models.example");
        change(&mut config);
        Api::new(&anthropic::VENDOR, &config, world())
    };
    let lacks = |change| new(change).unwrap_err().message;
    assert_eq!(lacks(|config| config.model = None), "the provider names no `model`");
    for wrong in ["models.example", "https://models.example?key=secret", "file:///x", ""] {
        let mut config = config("");
        config.base_url = Some(wrong.to_owned());
        let failure = Api::new(&anthropic::VENDOR, &config, world()).unwrap_err();
        assert_eq!(failure.message, "the provider's `base_url` is no address like https://host/path");
    }
    let failure = new(|_| ()).unwrap().start(order()).unwrap_err();
    assert_eq!(failure, Failure::new(FailureKind::Unavailable, "the variable ANTHROPIC_API_KEY holds no key"));
    let vendors = new(|config| config.base_url = None).unwrap();
    assert_eq!(vendors.address.host(), "api.anthropic.com");
}
