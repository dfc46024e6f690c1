//! The real programs: how each is called, and what it printed with a model of ours behind it. See `tests/transcripts`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::profile::{Call, Exit, call, reader};
use crate::order::{McpServer, Order, Purpose};
use crate::run::{Failure, FailureKind};
use crate::signal::{Signal, TurnResult, Usage};
use querent_core::{Profile, ProgramHandle};

macro_rules! transcript {
    ($name:literal) => {
        include_str!(concat!("../../tests/transcripts/", $name))
    };
}

fn order(with_tools: bool) -> Order {
    let arguments = ["mcp", "--agent", "a \"b\""].map(str::to_owned).to_vec();
    Order {
        agent: "engineer".parse().unwrap(),
        item: "42".parse().unwrap(),
        session: "s".parse().unwrap(),
        purpose: Purpose::Step("implement".to_owned()),
        turn: 1,
        prompt: "Do it.".to_owned(),
        directory: PathBuf::new(),
        mcp: with_tools.then(|| McpServer { program: PathBuf::from("bin/querent"), arguments }),
        env: BTreeMap::new(),
    }
}

fn called(profile: Profile, given: &str, resume: Option<&str>) -> String {
    let given: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
    let resume: Option<ProgramHandle> = resume.map(|handle| handle.parse().unwrap());
    call(profile, &given, &order(false), resume.as_ref()).arguments.join(" ")
}

fn tools(profile: Profile) -> Call {
    let bare = call(profile, &[], &order(false), None);
    let mut full = call(profile, &[], &order(true), None);
    full.arguments.retain(|argument| !bare.arguments.contains(argument));
    full
}

fn exit(code: i32, complaints: &str) -> Exit {
    Exit { program: "agent".to_owned(), code: Some(code), signal: None, complaints: complaints.trim().to_owned() }
}

fn read(profile: Profile, transcript: &str, exit: &Exit) -> (Vec<Signal>, Result<(), Failure>) {
    let mut reader = reader(profile);
    let mut signals: Vec<Signal> = transcript.lines().flat_map(|line| reader.line(line)).collect();
    let end = reader.finish(exit).map(|last| signals.extend(last));
    (signals, end)
}

fn well(profile: Profile, transcript: &str) -> Vec<Signal> {
    let (signals, end) = read(profile, transcript, &exit(0, "a warning"));
    assert_eq!(end, Ok(()));
    signals
}

fn failed(profile: Profile, transcript: &str, exit: &Exit) -> String {
    let (signals, end) = read(profile, transcript, exit);
    assert!(!signals.iter().any(|signal| matches!(signal, Signal::Result(_))), "{signals:?}");
    let failure = end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Exited);
    failure.message
}

fn handle(name: &str) -> Signal {
    Signal::Handle(name.parse().unwrap())
}

fn usage(input_tokens: u64, output_tokens: u64) -> Signal {
    Signal::Usage(Usage { input_tokens, output_tokens })
}

/// What the model said last in every transcript that ends well.
fn answer() -> Signal {
    let (answer, evidence) = (Value::from("cookie"), Some("docs/adr.md".to_owned()));
    Signal::Result(TurnResult::Answer { answer, evidence, uncertainty: None })
}

const FIRST: &str = "00000000-0000-4000-8000-000000000001";

#[test]
fn claude_is_called_with_what_the_config_lacks() {
    for (given, resume, wanted) in [
        ("", None, "-p --output-format stream-json --verbose"),
        ("-p", Some("c-1"), "-p --output-format stream-json --verbose --resume c-1"),
        ("--print --output-format json", None, "--print --output-format json"),
        ("-p --output-format=stream-json --model m", None, "-p --output-format=stream-json --model m --verbose"),
    ] {
        assert_eq!(called(Profile::Claude, given, resume), wanted);
    }
    let Call { arguments, env } = tools(Profile::Claude);
    let server = json!({"command": "bin/querent", "args": ["mcp", "--agent", "a \"b\""], "alwaysLoad": true});
    let config = json!({"mcpServers": {"querent": server}}).to_string();
    assert_eq!(
        (arguments, env),
        (vec!["--mcp-config".into(), config, "--allowedTools".into(), "mcp__querent".into()], vec![])
    );
}

#[test]
fn claude_says_its_session_its_cost_and_its_answer() {
    let claude = |transcript| well(Profile::Claude, transcript);
    assert_eq!(claude(transcript!("claude/start.jsonl")), [handle(FIRST), usage(11, 7), answer()]);
    assert_eq!(claude(transcript!("claude/resume.jsonl")), [handle(FIRST), usage(22, 14), answer()]);
    for whole in [transcript!("claude/json.json"), transcript!("claude/verbose.json")] {
        assert!(matches!(&claude(whole)[..], [Signal::Handle(_), Signal::Usage(_), last] if *last == answer()));
    }
    assert_eq!(claude("It is done.\n"), [Signal::Result(TurnResult::Text("It is done.".to_owned()))]);
}

#[test]
fn claude_that_put_off_a_call_has_come_to_nothing_yet() {
    let signals = well(Profile::Claude, transcript!("claude/deferred.jsonl"));
    assert!(matches!(&signals[..], [Signal::Handle(_), Signal::Usage(_)]), "{signals:?}");
}

#[test]
fn claude_says_why_it_failed() {
    let error = failed(Profile::Claude, transcript!("claude/error.jsonl"), &exit(1, ""));
    assert_eq!(error, "agent ended with status 1: Invalid API key - Fix external API key");
    let gone = failed(Profile::Claude, transcript!("claude/gone.jsonl"), &exit(1, "other"));
    assert!(gone.contains("No conversation found with session ID"), "{gone}");
    assert_eq!(read(Profile::Claude, "", &exit(0, "")).1.unwrap_err().kind, FailureKind::Unreadable);
}

#[test]
fn codex_is_called_with_what_the_config_lacks() {
    for (given, resume, wanted) in [
        ("", None, "exec --json --skip-git-repo-check -"),
        ("exec --json -", None, "exec --json --skip-git-repo-check -"),
        ("exec --sandbox read-only", Some("t-1"), "exec --sandbox read-only resume t-1 --json --skip-git-repo-check -"),
    ] {
        assert_eq!(called(Profile::Codex, given, resume), wanted);
    }
    let wanted = [
        "-c",
        "mcp_servers.querent.command=\"bin/querent\"",
        "-c",
        "mcp_servers.querent.args=[\"mcp\",\"--agent\",\"a \\\"b\\\"\"]",
        "-c",
        "mcp_servers.querent.default_tools_approval_mode=\"approve\"",
    ];
    assert_eq!(tools(Profile::Codex).arguments, wanted);
}

#[test]
fn codex_says_its_thread_its_cost_and_its_answer() {
    let codex = |transcript| well(Profile::Codex, transcript);
    assert_eq!(codex(transcript!("codex/start.jsonl")), [handle(FIRST), usage(11, 7), answer()]);
    assert_eq!(codex(transcript!("codex/resume.jsonl")), [handle(FIRST), usage(33, 21), answer()]);
}

#[test]
fn codex_says_why_it_failed() {
    let error = failed(Profile::Codex, transcript!("codex/error.jsonl"), &exit(1, "a warning"));
    assert!(error.starts_with("agent ended with status 1: unexpected status 401 Unauthorized"), "{error}");
    let gone = failed(Profile::Codex, "", &exit(1, transcript!("codex/gone.err")));
    assert!(gone.contains("no rollout found for thread id"), "{gone}");
}

#[test]
fn opencode_is_called_with_what_the_config_lacks() {
    for (given, resume, wanted) in [
        ("", None, "run --format json"),
        ("run --model a/b --format=json", Some("ses_1"), "run --model a/b --format=json --session ses_1"),
    ] {
        assert_eq!(called(Profile::Opencode, given, resume), wanted);
    }
    let Call { arguments, env } = tools(Profile::Opencode);
    let command = ["bin/querent", "mcp", "--agent", "a \"b\""];
    let settings = json!({"mcp": {"querent": {"type": "local", "command": command, "enabled": true}}}).to_string();
    assert_eq!((arguments, env), (vec![], vec![("OPENCODE_CONFIG_CONTENT".to_owned(), settings)]));
}

#[test]
fn opencode_says_its_session_its_cost_and_its_answer() {
    let opencode = |transcript| well(Profile::Opencode, transcript);
    let session = handle("ses_000000000000000000000001");
    assert_eq!(opencode(transcript!("opencode/start.jsonl")), [session.clone(), usage(11, 7), answer()]);
    let resumed = [session, usage(11, 7), usage(22, 14), answer()];
    assert_eq!(opencode(transcript!("opencode/resume.jsonl")), resumed);
}

#[test]
fn opencode_says_why_it_failed() {
    let error = failed(Profile::Opencode, transcript!("opencode/error.jsonl"), &exit(1, ""));
    assert_eq!(error, "agent ended with status 1: invalid x-api-key");
    let gone = failed(Profile::Opencode, "", &exit(1, transcript!("opencode/gone.err")));
    assert_eq!(gone, "agent ended with status 1: Error: Session not found");
}

#[test]
fn gemini_is_called_with_what_the_config_lacks() {
    for (given, resume, wanted) in
        [("", None, "--output-format stream-json"), ("-m m -o json", Some("g-1"), "-m m -o json --resume g-1")]
    {
        assert_eq!(called(Profile::Gemini, given, resume), wanted);
    }
    assert_eq!(tools(Profile::Gemini), Call::default());
}

#[test]
fn gemini_says_its_session_its_cost_and_its_answer() {
    let gemini = |transcript| well(Profile::Gemini, transcript);
    assert_eq!(gemini(transcript!("gemini/start.jsonl")), [handle(FIRST), usage(11, 7), answer()]);
    assert_eq!(gemini(transcript!("gemini/resume.jsonl")), [handle(FIRST), usage(11, 7), answer()]);
    let asked = gemini(transcript!("gemini/tool.jsonl"));
    assert!(
        matches!(&asked[..], [Signal::Handle(_), cost, last] if *cost == usage(22, 14) && *last == answer()),
        "{asked:?}"
    );
    let whole = gemini(transcript!("gemini/json.json"));
    assert!(
        matches!(&whole[..], [Signal::Handle(_), cost, last] if *cost == usage(11, 7) && *last == answer()),
        "{whole:?}"
    );
}

#[test]
fn gemini_says_why_it_failed() {
    // Its status is that of the API, cut to eight bits; it is no signal.
    let error = failed(Profile::Gemini, transcript!("gemini/error.jsonl"), &exit(145, ""));
    assert!(error.starts_with("agent ended with status 145: [API Error: "), "{error}");
    for (code, complaints, named) in [
        (42, transcript!("gemini/gone.err"), "Invalid session identifier"),
        (55, transcript!("gemini/untrusted.err"), "not running in a trusted directory"),
    ] {
        let failure = failed(Profile::Gemini, "", &exit(code, complaints));
        assert!(failure.contains(named), "{failure}");
    }
}

proptest::proptest! {
    #[test]
    fn no_output_breaks_a_reader(lines in proptest::collection::vec("\\PC*|\\{\"type\":\"(result|text|message|init|error)\".{0,40}\\}", 0..8)) {
        for profile in Profile::ALL {
            let _ = read(*profile, &lines.join("\n"), &exit(0, ""));
        }
    }
}
