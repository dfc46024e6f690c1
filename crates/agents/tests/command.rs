//! Programs as they are: real processes that flood, hang, fail and leave others behind.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed, as it should")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use querent_agents::{Failure, FailureKind, Order, Provider, Purpose, Run, Signal, TurnResult, provider};
use querent_core::ProviderConfig;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory to work in, and what is started there.
struct Scene {
    dir: TempDir,
    config: Value,
}

impl Scene {
    /// A shell that runs this script.
    fn new(script: &str) -> Self {
        let config = json!({"kind": "command", "profile": "generic", "command": ["sh", "-c", script]});
        Self { dir: tempfile::tempdir().unwrap(), config }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config[key] = value.into();
        self
    }

    fn provider(&self) -> Arc<dyn Provider> {
        let config: ProviderConfig = serde_json::from_value(self.config.clone()).unwrap();
        provider(&config, self.dir.path(), 1.0).unwrap()
    }

    fn order(&self) -> Order {
        order(self.dir.path())
    }

    fn start(&self) -> Run {
        self.provider().start(self.order()).unwrap()
    }

    /// A whole turn: what it said, and how it ended.
    async fn play(&self) -> (Vec<Signal>, Result<(), Failure>) {
        let mut run = self.start();
        run.go();
        heard(run).await
    }
}

fn order(directory: &Path) -> Order {
    Order {
        agent: "engineer".parse().unwrap(),
        item: "42".parse().unwrap(),
        session: "s".parse().unwrap(),
        purpose: Purpose::Step("implement".to_owned()),
        turn: 1,
        prompt: "Do it,\nplease: \"$HOME\"".to_owned(),
        directory: directory.to_owned(),
        mcp: None,
        env: BTreeMap::new(),
    }
}

async fn heard(mut run: Run) -> (Vec<Signal>, Result<(), Failure>) {
    let mut signals = Vec::new();
    while let Some(signal) = run.next().await {
        signals.push(signal);
    }
    (signals, run.end().await)
}

fn text(said: &str) -> Signal {
    Signal::Result(TurnResult::Text(said.to_owned()))
}

async fn note(run: &mut Run) -> String {
    match run.next().await {
        Some(Signal::Note(text)) => text,
        other => panic!("no note: {other:?}"),
    }
}

/// Prints a shell's expression as a note.
fn say(what: &str) -> String {
    format!(r#"printf '{{"type":"NOTE","text":"%s"}}\n' "{what}""#)
}

fn pid(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Waits until a process is no more.
async fn gone(process: Pid) {
    let waited = tokio::task::spawn_blocking(move || match pidfd_open(process, PidfdFlags::empty()) {
        Err(Errno::SRCH) => Ok(0),
        Err(error) => Err(error),
        Ok(fd) => poll(&mut [PollFd::new(&fd, PollFlags::IN)], None),
    });
    waited.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_prompt_is_told_on_standard_input_in_the_order_s_directory() {
    let scene = Scene::new("cat; echo; ls");
    std::fs::write(scene.dir.path().join("here"), "").unwrap();
    assert_eq!(scene.play().await, (vec![text("Do it,\nplease: \"$HOME\"\nhere")], Ok(())));
}

#[tokio::test]
async fn nothing_begins_before_the_run_is_let_go_nor_ever_if_it_is_not() {
    let scene = Scene::new("touch begun; cat");

    let given_up = scene.start();
    let process = Pid::from_raw(given_up.process().unwrap().cast_signed()).unwrap();
    assert_eq!(given_up.end().await.unwrap_err().kind, FailureKind::Cancelled);
    gone(process).await;
    let dropped = scene.start();
    let process = Pid::from_raw(dropped.process().unwrap().cast_signed()).unwrap();
    drop(dropped);
    gone(process).await;

    assert!(!scene.dir.path().join("begun").exists());
    assert_eq!(scene.play().await.1, Ok(()));
    assert!(scene.dir.path().join("begun").exists());
}

#[tokio::test]
async fn the_process_is_known_and_leads_a_group_of_its_own() {
    let mut run = Scene::new(&format!("{}; {}", say("$$"), say("$(ps -o pgid= -p $$ | tr -d ' ')"))).start();
    let process = run.process().unwrap().to_string();
    run.go();
    assert_eq!((note(&mut run).await, note(&mut run).await), (process.clone(), process));
    assert_eq!(run.end().await, Ok(()));
}

#[tokio::test]
async fn a_gigabyte_is_cut_off_on_either_output() {
    for redirect in ["", ">&2"] {
        let flood = format!("head -c 1073741824 /dev/zero {redirect}; touch survived");
        let scene = Scene::new(&flood).with("max_output", 5_000_000);

        let (signals, end) = scene.play().await;

        let wanted = "sh printed more than 5000000 bytes and was ended";
        assert_eq!((signals, end), (vec![], Err(Failure::new(FailureKind::TooMuch, wanted))));
        assert!(!scene.dir.path().join("survived").exists());
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_left_out_and_the_rest_is_heard() {
    let flood = "head -c 10000000 /dev/zero; echo; echo done";
    let (signals, end) = Scene::new(flood).play().await;
    assert!(matches!(&signals[..], [Signal::Ignored(_), last] if *last == text("done")), "{signals:?}");
    assert_eq!(end, Ok(()));
}

#[tokio::test]
async fn broken_lines_and_bytes_that_are_no_text_do_no_harm() {
    let script = r#"printf '{"type":"NOTE",\n\377\376 ok\n{"type":"NOTE","text":"n"}\nno end'"#;
    let (signals, end) = Scene::new(script).play().await;

    let wanted = [Signal::Note("n".to_owned()), text("\u{fffd}\u{fffd} ok\nno end")];
    assert!(matches!(&signals[..], [Signal::Ignored(_), rest @ ..] if *rest == wanted), "{signals:?}");
    assert_eq!(end, Ok(()));
}

#[tokio::test]
async fn a_status_and_a_signal_are_told_apart_and_come_with_the_last_complaint() {
    for (script, kind, message) in [
        ("echo no luck >&2; exit 3", FailureKind::Exited, "sh ended with status 3: no luck"),
        ("exit 137", FailureKind::Killed, "sh was killed by signal 9"),
        ("kill -9 $$", FailureKind::Killed, "sh was killed by signal 9"),
    ] {
        assert_eq!(Scene::new(script).play().await, (vec![], Err(Failure::new(kind, message))));
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    for (command, named) in [
        (json!(["no-such-agent", "-p"]), "there is no program `no-such-agent`"),
        (json!([]), "the provider names no program: give it a `command`"),
    ] {
        let scene = Scene::new("").with("command", command);
        let config: ProviderConfig = serde_json::from_value(scene.config.clone()).unwrap();
        let started = provider(&config, scene.dir.path(), 1.0).and_then(|it| it.start(scene.order()));
        assert_eq!(started.unwrap_err(), Failure::new(FailureKind::Unavailable, named));
    }
    let scene = Scene::new("true");
    let nowhere = scene.provider().start(order(&scene.dir.path().join("gone"))).unwrap_err();
    assert_eq!(nowhere.kind, FailureKind::Unavailable);
    assert!(nowhere.message.contains("there is no directory"), "{nowhere}");
}

#[tokio::test]
async fn a_program_below_the_project_is_found_from_there() {
    let scene = Scene::new("").with("command", json!(["bin/agent"]));
    let file = scene.dir.path().join("bin/agent");
    std::fs::create_dir(scene.dir.path().join("bin")).unwrap();
    std::fs::copy("/bin/echo", &file).unwrap();
    std::fs::create_dir(scene.dir.path().join("tree")).unwrap();

    let mut run = scene.provider().start(order(&scene.dir.path().join("tree"))).unwrap();
    run.go();

    assert_eq!(heard(run).await, (vec![text("")], Ok(())));
}

#[tokio::test]
async fn children_that_are_left_behind_are_gone_at_the_end() {
    let mut run = Scene::new(&format!("sleep 600 & {}", say("$!"))).start();
    run.go();
    let child = pid(&note(&mut run).await);
    assert_eq!(run.end().await, Ok(()));
    gone(child).await;
}

#[tokio::test]
async fn who_gets_away_and_holds_the_pipe_is_not_waited_for() {
    let mut run = Scene::new(&format!("setsid sleep 600 & {}; echo done", say("$!"))).start();
    run.go();
    let child = pid(&note(&mut run).await);

    assert_eq!(heard(run).await, (vec![text("done")], Ok(())));

    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    gone(child).await;
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_with_its_children() {
    let mut run = Scene::new(&format!("sleep 600 & {}; wait", say("$!"))).start();
    run.go();
    let child = pid(&note(&mut run).await);
    run.cancel();
    let end = run.end().await;
    assert_eq!(end, Err(Failure::new(FailureKind::Cancelled, "sh was stopped")));
    gone(child).await;
}

#[tokio::test]
async fn a_program_may_tidy_up_when_it_is_asked_to_end() {
    let scene =
        Scene::new(&format!("trap 'echo > tidied; exit 0' TERM; {}; while :; do sleep 0.01; done", say("ready")));
    let mut run = scene.start();
    run.go();
    note(&mut run).await;
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    assert!(scene.dir.path().join("tidied").exists());
}

// The clock stands still and leaps to what is awaited, so that nobody waits for the grace.
#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_listen_is_made_to_end() {
    let script = format!("trap '' TERM; sleep 600 & {}; yes", say("$!"));
    let mut run = Scene::new(&script).start();
    let process = Pid::from_raw(run.process().unwrap().cast_signed()).unwrap();
    run.go();
    let child = pid(&note(&mut run).await);
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    gone(process).await;
    gone(child).await;
}

#[tokio::test]
async fn a_run_that_is_dropped_on_its_way_is_ended() {
    let mut run = Scene::new(&format!("{}; sleep 600", say("$$"))).start();
    run.go();
    let process = pid(&note(&mut run).await);
    drop(run);
    gone(process).await;
}

#[tokio::test]
async fn an_agent_that_says_more_than_is_read_waits_and_can_still_be_ended() {
    let mut run = Scene::new(&format!("while :; do {}; done", say("$$"))).start();
    run.go();
    let process = pid(&note(&mut run).await);
    run.cancel();
    assert_eq!(run.end().await.unwrap_err().kind, FailureKind::Cancelled);
    gone(process).await;
}

#[tokio::test]
async fn only_what_is_allowed_is_passed_on() {
    // Cargo sets these for every test.
    let scene = Scene::new("env").with("env", json!(["CARGO_PKG_NAME", "NOT_THERE"]));
    let mut order = scene.order();
    order.env.insert("QUERENT_ITEM".to_owned(), "42".to_owned());
    let mut run = scene.provider().start(order).unwrap();
    run.go();

    let (signals, _) = heard(run).await;

    let [Signal::Result(TurnResult::Text(env))] = &signals[..] else { panic!("{signals:?}") };
    let mut names: Vec<&str> = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // These are the shell's own.
    names.retain(|name| !["_", "PWD", "OLDPWD", "SHLVL", "LANG", "TERM", "HOME"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["CARGO_PKG_NAME", "PATH", "QUERENT_ITEM"]);
    assert!(env.contains("CARGO_PKG_NAME=querent-agents") && std::env::var_os("CARGO_MANIFEST_DIR").is_some());
}

#[tokio::test]
async fn no_secret_is_in_a_message() {
    let scene = Scene::new("echo \"refused: $CARGO_PKG_NAME, $API_TOKEN, $SHORT\" >&2; exit 1")
        .with("env", json!(["CARGO_PKG_NAME"]));
    let mut order = scene.order();
    order.env = BTreeMap::from([("API_TOKEN", "t0psecret"), ("SHORT", "x")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    let mut run = scene.provider().start(order).unwrap();
    run.go();
    let end = heard(run).await.1.unwrap_err();
    assert_eq!(end.message, "sh ended with status 1: refused: ***, ***, x");
}

#[tokio::test]
async fn what_a_program_says_of_its_failure_is_masked_and_then_cut() {
    let script =
        r#"printf '{"type":"result","is_error":true,"result":"%s%s"}' "$(printf '%04960d' 0)" "$API_TOKEN"; exit 1"#;
    let scene = Scene::new(script).with("profile", "claude").with("command", json!(["sh", "-c", script]));
    let mut order = scene.order();
    order.env.insert("API_TOKEN".to_owned(), "t0psecret".repeat(20));
    let mut run = scene.provider().start(order).unwrap();
    run.go();
    let end = heard(run).await.1.unwrap_err();
    assert!(end.message.ends_with("000***") && end.message.len() > 4_960, "{end}");
}
