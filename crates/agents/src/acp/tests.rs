//! The agents here are scripts of a few lines: what they hear is kept beside them, what they say is said to the byte.

use std::collections::BTreeMap;
use std::path::PathBuf;

use querent_core::{ProviderKind, Span};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::order::{McpServer, Purpose};
use crate::signal::{Signal, TurnResult, Usage};

/// How every agent hears and says.
const VOICE: &str = r#"
touch begun
say() { printf '%s\n' "$1"; }
hear() {
  read -r line || exit 0; printf '%s\n' "$line" >> heard
  case $line in *'"id":'*'"method":'* | *'"method":'*'"id":'*) id=${line#*'"id":'}; id=${id%%[,\}]*};; esac
}
reply() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
refuse() { say '{"jsonrpc":"2.0","id":'"$id"',"error":'"$1"'}'; }
chunk() { say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}}}'; }
update() { say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":'"$1"'}}'; }
ends() { reply '{"stopReason":"'"$1"'"}'; }
"#;

/// How most agents begin: until they were told what to do.
const OPENING: &str = r#"
hear; reply '{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}'
hear; reply '{"sessionId":"s-1"}'
hear
"#;

struct Scene {
    base: TempDir,
    acp: Acp,
    order: Order,
}

impl Scene {
    fn new(script: &str) -> Self {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir(base.path().join("work")).unwrap();
        std::fs::write(base.path().join("agent.sh"), format!("{VOICE}{script}")).unwrap();
        let order = Order {
            agent: "architect".parse().unwrap(),
            item: "42".parse().unwrap(),
            session: "architect@42".parse().unwrap(),
            purpose: Purpose::Step("design".to_owned()),
            turn: 1,
            prompt: "Do it\nwell".to_owned(),
            directory: base.path().join("work"),
            mcp: None,
            env: BTreeMap::from([("TOLD".to_owned(), "told-secret".to_owned())]),
        };
        let acp = Acp::new(&config(&["sh", "../agent.sh"]), base.path()).unwrap();
        Self { base, acp, order }
    }

    fn opened(script: &str) -> Self {
        Self::new(&format!("{OPENING}{script}"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.base.path().join("work").join(name)
    }

    fn heard(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file("heard")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    async fn turn(&self) -> (Vec<Signal>, Result<(), Failure>) {
        finish(self.acp.start(self.order.clone()).unwrap()).await
    }

    async fn resumed(&self) -> (Vec<Signal>, Result<(), Failure>) {
        finish(self.acp.resume(self.order.clone(), &"s-1".parse().unwrap()).unwrap()).await
    }

    async fn failure(&self) -> Failure {
        self.turn().await.1.unwrap_err()
    }
}

fn config(command: &[&str]) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::Acp,
        profile: None,
        command: command.iter().map(|&it| it.to_owned()).collect(),
        env: vec!["CARGO_PKG_NAME".to_owned()],
        timeout: Span::minutes(10),
        max_output: 1 << 20,
        script: None,
        model: None,
        base_url: None,
        api_key_env: None,
        max_tokens: None,
    }
}

async fn finish(mut run: Run) -> (Vec<Signal>, Result<(), Failure>) {
    run.go();
    let mut signals = Vec::new();
    while let Some(signal) = run.next().await {
        signals.push(signal);
    }
    (signals, run.end().await)
}

fn handle() -> Signal {
    Signal::Handle("s-1".parse().unwrap())
}

fn text(text: &str) -> Signal {
    Signal::Result(TurnResult::Text(text.to_owned()))
}

fn methods(heard: &[Value]) -> Vec<&str> {
    heard.iter().filter_map(|line| line["method"].as_str()).collect()
}

#[tokio::test]
async fn a_turn_is_a_session_and_a_prompt_and_its_text_is_the_result() {
    let mut scene = Scene::opened(
        r#"
        chunk 'Looking'; chunk ' around.'
        update '{"sessionUpdate":"tool_call","toolCallId":"1","title":"Read","kind":"read"}'
        update '{"sessionUpdate":"plan","entries":[{"content":"x","priority":"high","status":"pending"}]}'
        update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}'
        update '{"sessionUpdate":"something_new"}'
        chunk 'Done.'
        reply '{"stopReason":"end_turn","usage":{"totalTokens":10,"inputTokens":5,"cachedReadTokens":2,"outputTokens":3}}'
        "#,
    );
    scene.order.mcp = Some(McpServer { program: "/bin/querent".into(), arguments: vec!["mcp".to_owned()] });
    let (signals, end) = scene.turn().await;
    assert_eq!(end, Ok(()));
    let plan = Signal::Plan(json!({"entries": [{"content": "x", "priority": "high", "status": "pending"}]}));
    let usage = Signal::Usage(Usage { input_tokens: 7, output_tokens: 3 });
    assert_eq!(signals, [handle(), plan, usage, text("Looking around.\nDone.")]);
    let heard = scene.heard();
    assert_eq!(methods(&heard), ["initialize", "session/new", "session/prompt"]);
    assert_eq!(heard[0]["params"]["clientCapabilities"]["terminal"], false);
    let directory = std::fs::canonicalize(&scene.order.directory).unwrap();
    let server = json!({"name": "querent", "command": "/bin/querent", "args": ["mcp"], "env": [{"name": "TOLD", "value": "told-secret"}]});
    assert_eq!(heard[1]["params"], json!({"cwd": directory, "mcpServers": [server]}));
    let prompt = json!({"sessionId": "s-1", "prompt": [{"type": "text", "text": "Do it\nwell"}]});
    assert_eq!(heard[2]["params"], prompt);
}

#[tokio::test]
async fn what_is_not_for_us_changes_nothing() {
    let scene = Scene::new(&format!(
        "say 'Starting up'; say ''\n{OPENING}{}",
        r#"
        say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"no"}}}}'
        say '{"jsonrpc":"2.0","method":"_vendor/hello","params":{}}'; say '{"jsonrpc":"2.0","id":77,"result":{}}'
        chunk 'yes'; ends end_turn
        "#
    ));
    let (signals, end) = scene.turn().await;
    assert_eq!((signals, end), (vec![Signal::Ignored("Starting up".to_owned()), handle(), text("yes")], Ok(())));
}

#[tokio::test]
async fn a_request_for_permission_is_answered_and_put_on_record() {
    let scene = Scene::opened(
        r#"
        ask() { say '{"jsonrpc":"2.0","id":"'"$1"'","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"1","title":"'"$1"'","kind":"edit","locations":[{"path":"'"$2"'"}]},"options":[{"optionId":"yes","name":"Y","kind":"allow_once"},{"optionId":"no","name":"N","kind":"reject_once"}]}}'; hear; }
        ask in "$PWD/new.rs"; ask out "$PWD/../agent.sh"
        say '{"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"command":"rm"}}'; hear
        chunk 'Well.'; ends end_turn
        "#,
    );
    let (signals, end) = scene.turn().await;
    assert_eq!(end, Ok(()));
    let notes = ["allowed once: in", "rejected: out"].map(|note| Signal::Note(note.to_owned()));
    assert_eq!(signals[1..3], notes);
    let heard = scene.heard();
    assert_eq!(
        heard[3],
        json!({"jsonrpc": "2.0", "id": "in", "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}})
    );
    assert_eq!(heard[4]["result"]["outcome"]["optionId"], "no");
    assert_eq!((&heard[5]["id"], &heard[5]["error"]["code"]), (&9.into(), &(-32601).into()));
}

#[tokio::test]
async fn an_agent_that_stops_when_it_may_not_has_not_done_its_work() {
    let ask = r#"say '{"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"1","title":"make"},"options":[]}}'; hear"#;
    let scene = Scene::opened(&format!("chunk 'I run it.'; {ask}; ends end_turn"));
    let failure = Failure::new(FailureKind::Refused, "the agent stopped when this was rejected: make");
    assert_eq!(scene.failure().await, failure);
    let scene = Scene::opened(&format!("{ask}; chunk 'So be it.'; ends end_turn"));
    assert_eq!(scene.turn().await.1, Ok(()));
}

#[tokio::test]
async fn files_are_read_and_written_in_the_directory_only() {
    let scene = Scene::opened(
        r#"
        file() { say '{"jsonrpc":"2.0","id":8,"method":"fs/'"$1"'_text_file","params":{"sessionId":"s-1","path":"'"$2"'"'"$3"'}}'; hear; }
        file write "$PWD/sub/a.txt" ',"content":"1\n2\n"'
        file read "$PWD/sub/a.txt" ',"line":2,"limit":1'
        file read "$PWD/../agent.sh" ''
        file write "$PWD/../agent.sh" ',"content":""'
        file write "$PWD/b.txt" ''
        file read "$PWD/b.txt" ''
        ends end_turn
        "#,
    );
    assert_eq!(scene.turn().await.1, Ok(()));
    let heard = scene.heard();
    assert_eq!((&heard[3]["result"], &heard[4]["result"]), (&json!({}), &json!({"content": "2\n"})));
    let codes: Vec<&Value> = heard[5..8].iter().map(|line| &line["error"]["code"]).collect();
    assert_eq!(codes, [-32603, -32603, -32602]);
    assert_eq!(heard[8]["error"]["code"], -32002);
    assert_eq!(std::fs::read_to_string(scene.file("sub/a.txt")).unwrap(), "1\n2\n");
}

/// An agent that can do `can`, and replies so to the request for its session.
fn resumable(can: &str, session: &str) -> Scene {
    Scene::new(&format!(
        r#"
        hear; reply '{{"protocolVersion":1,"agentCapabilities":{can}}}'
        hear; chunk 'said before'; reply '{session}'
        hear; chunk 'said now'; ends end_turn
        "#
    ))
}

#[tokio::test]
async fn an_agent_that_can_go_on_with_a_session_does() {
    let both = r#"{"loadSession":true,"sessionCapabilities":{"resume":{}}}"#;
    for (can, session, method) in [
        (both, "{}", "session/resume"),
        (r#"{"loadSession":true}"#, "null", "session/load"),
        ("{}", r#"{"sessionId":"s-1"}"#, "session/new"),
    ] {
        let scene = resumable(can, session);
        assert_eq!(scene.resumed().await, (vec![handle(), text("said now")], Ok(())), "{method}");
        let heard = scene.heard();
        assert_eq!(methods(&heard), ["initialize", method, "session/prompt"]);
        let named = heard[1]["params"].get("sessionId").and_then(Value::as_str);
        assert_eq!(named, (method != "session/new").then_some("s-1"));
    }
}

#[tokio::test]
async fn an_agent_that_lost_its_session_begins_anew() {
    let scene = Scene::new(
        r#"
        hear; reply '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'
        hear; refuse '{"code":-32002,"message":"no such session"}'
        hear; reply '{"sessionId":"s-2"}'
        hear; ends end_turn
        "#,
    );
    let (signals, end) = scene.resumed().await;
    assert_eq!(end, Ok(()));
    assert!(matches!(signals[0], Signal::Note(_)));
    assert_eq!(signals[1], Signal::Handle("s-2".parse().unwrap()));
}

#[tokio::test]
async fn a_turn_that_does_not_come_to_its_end_is_a_failure() {
    for (reason, kind) in [
        ("refusal", FailureKind::Refused),
        ("max_tokens", FailureKind::TooMuch),
        ("max_turn_requests", FailureKind::TooMuch),
        ("cancelled", FailureKind::Cancelled),
        ("whim", FailureKind::Unreadable),
    ] {
        let scene = Scene::opened(&format!("chunk 'half'; ends {reason}"));
        let (signals, end) = scene.turn().await;
        assert_eq!((signals, end.unwrap_err().kind), (vec![handle()], kind), "{reason}");
    }
}

#[tokio::test]
async fn what_goes_wrong_is_said_without_secrets() {
    for (script, kind, message) in [
        ("hear; exit 3", FailureKind::Exited, "the agent ended with 3"),
        ("hear; echo \"bad $TOLD\" >&2; echo >&2; exit 1", FailureKind::Exited, "the agent ended with 1: bad ***"),
        ("hear; kill -9 $$", FailureKind::Killed, "the agent was killed"),
        (
            r#"hear; reply '{"protocolVersion":2}'"#,
            FailureKind::Unreadable,
            "the agent's reply to initialize cannot be read: required ACP protocol version 1 but peer negotiated 2; use a matching implementation for the negotiated protocol version",
        ),
        (
            "hear; reply '[]'",
            FailureKind::Unreadable,
            "the agent's reply to initialize cannot be read: initialize.protocolVersion must be a valid ACP protocol version",
        ),
        (
            r#"hear; refuse '{"code":-32603,"message":"told-secret\nis wrong"}'"#,
            FailureKind::Refused,
            "the agent refused initialize: *** is wrong",
        ),
        (
            r#"hear; refuse '{"code":-32000,"message":"Authentication required","data":{"details":"run login"}}'"#,
            FailureKind::Unavailable,
            "the agent wants somebody to log in: Authentication required: run login",
        ),
    ] {
        let mut scene = Scene::new(script);
        scene.acp.grace = Duration::from_mins(10);
        assert_eq!(scene.failure().await, Failure::new(kind, message));
    }
}

#[tokio::test]
async fn an_agent_sees_the_variables_that_it_may_see() {
    let scene = Scene::opened("env > env; ends end_turn");
    assert_eq!(scene.turn().await.1, Ok(()));
    let env = std::fs::read_to_string(scene.file("env")).unwrap();
    let mut names: Vec<&str> = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // The shell's own.
    names.retain(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_" | "HOME" | "LANG" | "TERM"));
    names.sort_unstable();
    // Cargo sets the first; whoever runs the tests without it may not.
    let listed = std::env::var_os("CARGO_PKG_NAME").map(|_| "CARGO_PKG_NAME");
    assert_eq!(names, listed.into_iter().chain(["PATH", "TOLD"]).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_begins_before_the_turn_is_let_go() {
    let scene = Scene::opened("ends end_turn");
    let run = scene.acp.start(scene.order.clone()).unwrap();
    assert!(run.process().is_some());
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    let mut run = scene.acp.start(scene.order.clone()).unwrap();
    run.cancel();
    run.go();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    assert!(!scene.file("begun").exists());
}

#[tokio::test]
async fn an_agent_that_is_told_to_stop_may_come_to_an_end() {
    let mut scene = Scene::opened(
        r#"
        update '{"sessionUpdate":"plan","entries":[]}'
        hear
        say '{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"1"},"options":[]}}'
        hear; ends cancelled
        "#,
    );
    scene.acp.grace = Duration::from_mins(10);
    let mut run = scene.acp.start(scene.order.clone()).unwrap();
    run.go();
    assert_eq!(run.next().await, Some(handle()));
    assert!(matches!(run.next().await, Some(Signal::Plan(_))));
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    let heard = scene.heard();
    assert_eq!(heard[3], json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s-1"}}));
    assert_eq!(heard[4]["result"]["outcome"]["outcome"], "cancelled");
}

/// Resolves when all who hold the pipe of this name open for writing are gone.
fn all_gone(pipe: PathBuf) -> tokio::task::JoinHandle<()> {
    tokio::task::spawn_blocking(move || {
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut std::fs::File::open(pipe).unwrap(), &mut rest).unwrap();
    })
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_killed_with_all_that_it_started() {
    for is_cancelled in [true, false] {
        let end = if is_cancelled { "" } else { "ends end_turn\n" };
        let mut scene = Scene::opened(&format!(
            r#"
            exec 9>pipe
            sleep 600 &
            trap '' TERM HUP
            update '{{"sessionUpdate":"plan","entries":[]}}'
            {end}exec sleep 600
            "#
        ));
        scene.acp.grace = Duration::ZERO;
        let made = std::process::Command::new("mkfifo").arg(scene.file("pipe")).status().unwrap();
        assert!(made.success());
        let gone = all_gone(scene.file("pipe"));
        let mut run = scene.acp.start(scene.order.clone()).unwrap();
        run.go();
        while !matches!(run.next().await, Some(Signal::Plan(_))) {}
        if is_cancelled {
            run.cancel();
        }
        assert_eq!(run.end().await.is_err(), is_cancelled);
        gone.await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_whose_turn_is_dropped_is_killed() {
    let mut scene = Scene::opened("exec 9>pipe\nsleep 600 & exec sleep 600");
    scene.acp.grace = Duration::ZERO;
    assert!(std::process::Command::new("mkfifo").arg(scene.file("pipe")).status().unwrap().success());
    let gone = all_gone(scene.file("pipe"));
    let mut run = scene.acp.start(scene.order.clone()).unwrap();
    run.go();
    assert_eq!(run.next().await, Some(handle()));
    // It opens the pipe before or after this, or never; whoever waits for that is let go.
    let opened = std::fs::OpenOptions::new().write(true).open(scene.file("pipe")).unwrap();
    drop((run, opened));
    gone.await.unwrap();
}

#[tokio::test]
async fn an_agent_that_says_too_much_is_cut_off() {
    let scene = Scene::opened("while :; do chunk 'and more'; done");
    let failure = scene.failure().await;
    assert_eq!(failure, Failure::new(FailureKind::TooMuch, "the agent said more than `max_output` allows"));
    let scene = Scene::new("exec yes no-line-of-ours");
    assert_eq!(scene.failure().await.kind, FailureKind::TooMuch);
    let scene = Scene::new("exec cat /dev/zero");
    assert_eq!(scene.failure().await.kind, FailureKind::TooMuch);
}

#[tokio::test]
async fn an_agent_that_speaks_before_it_listens_is_listened_to() {
    let mut scene = Scene::opened(
        "i=0; while [ $i -lt 3000 ]; do update '{\"sessionUpdate\":\"agent_thought_chunk\"}'; i=$((i + 1)); done; ends end_turn",
    );
    scene.order.prompt = "long ".repeat(200_000);
    assert_eq!(scene.turn().await.1, Ok(()));
    assert_eq!(scene.heard()[2]["params"]["prompt"][0]["text"].as_str().unwrap().len(), 1_000_000);
}

#[tokio::test]
async fn what_a_turn_lacks_is_said_at_once() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Acp::new(&config(&[]), root.path()).unwrap_err().kind, FailureKind::Unavailable);
    let mut scene = Scene::opened("ends end_turn");
    let acp = |command: &str| Acp::new(&config(&[command]), scene.base.path()).unwrap();
    let failure = acp("no-such-agent").start(scene.order.clone()).unwrap_err();
    assert_eq!(failure, Failure::new(FailureKind::Unavailable, "there is no program `no-such-agent`"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scene.base.path().join("agent.sh"), mode).unwrap();
    assert!(acp("./agent.sh").start(scene.order.clone()).is_ok());
    scene.order.directory = scene.file("no-such-directory");
    assert_eq!(scene.acp.start(scene.order.clone()).unwrap_err().kind, FailureKind::Unavailable);
}
