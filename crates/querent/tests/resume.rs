use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Output, Project};

/// A program that stands in for Claude: it writes down how it was called, and does what the script says.
fn claude(project: &Project, script: &str) -> PathBuf {
    let file = project.path().join("fake-claude");
    let log = project.path().join("calls");
    let text = format!(
        "#!/bin/sh\nprintf '%s|' \"$PWD\" \"$QUERENT_AGENT\" \"$QUERENT_RESUMES\" \"$@\" >> '{}'\n",
        log.display()
    );
    fs::write(&file, format!("{text}echo >> '{}'\n{script}\n", log.display())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn calls(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.path().join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The engineer's session is parked on CLR-42-001, with a deferred call or at the end of its turn.
fn parked(project: &Project, with_call: bool) {
    let cwd = project.path().display().to_string();
    let mut hook = json!({ "hook_event_name": "Stop", "session_id": "c-1", "cwd": cwd });
    if with_call {
        let arguments = json!({ "topic": "Store", "prompt": "Where do sessions live?", "to": "human" });
        hook = json!({ "hook_event_name": "PreToolUse", "session_id": "c-1", "cwd": cwd, "tool_use_id": "toolu_1",
                       "tool_name": "mcp__querent__question_create", "tool_input": arguments });
    } else {
        project.asks_human();
    }
    let mut command = project.querent(&["hook", "claude", "--agent", "engineer", "--item", "42"]);
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "0").stdin(Stdio::piped());
    let mut child = Project::start(&mut command);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), hook.to_string().as_bytes()).unwrap();
    assert_eq!(Output::of(child.wait_with_output().unwrap()).code, 0);
    assert_eq!(project.ok(&["show", "CLR-42-001"])["parked"]["handle"], "c-1");
}

fn resume(project: &Project, program: &PathBuf, args: &[&str]) -> Output {
    let all = [&["resume"], args].concat();
    Output::of(project.querent(&all).env("QUERENT_CLAUDE", program).output().unwrap())
}

fn answered(project: &Project) {
    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);
}

#[test]
fn with_nothing_to_do_it_does_nothing() {
    let project = Project::new();

    let reply = project.ok(&["resume"]);

    assert_eq!(reply, json!({ "resumed": [], "waiting": [], "claimed": [] }));
}

#[test]
fn a_session_waits_while_its_question_is_open_and_goes_on_once_when_it_is_settled() {
    let project = Project::new();
    let program = claude(&project, "echo done");
    parked(&project, true);
    let waiting = resume(&project, &program, &["--json"]).data();
    assert_eq!((&waiting["waiting"], &waiting["resumed"]), (&json!(["CLR-42-001"]), &json!([])));
    answered(&project);

    let reply = resume(&project, &program, &["--json", "--", "--output-format", "json"]).data();

    let expected = json!({ "question_id": "CLR-42-001", "session": "engineer@42", "handle": "c-1", "exit_code": 0,
                           "output": "done\n", "parked": false });
    assert_eq!(reply["resumed"], json!([expected]));
    let place = project.path().canonicalize().unwrap();
    let call = format!("{}|engineer|CLR-42-001|-p|--resume|c-1|--output-format|json|", place.display());
    assert_eq!(calls(&project), [call]);
    assert_eq!(resume(&project, &program, &["--json"]).data()["resumed"], json!([]));
    assert_eq!(calls(&project).len(), 1, "once");
}

#[test]
fn a_session_that_ended_its_turn_is_given_the_answer_as_a_prompt() {
    let project = Project::new();
    let program = claude(&project, "exit 0");
    parked(&project, false);
    answered(&project);

    resume(&project, &program, &["--json"]).data();

    assert!(
        calls(&project)[0].contains("--resume|c-1|--|CLR-42-001 was answered by human: Redis."),
        "{:?}",
        calls(&project)
    );
}

#[test]
fn a_call_that_is_not_there_any_more_is_made_up_for_by_a_prompt() {
    let project = Project::new();
    let program = claude(&project, "case \"$*\" in *answered*) echo told;; *) exit 1;; esac");
    parked(&project, true);
    answered(&project);

    let reply = resume(&project, &program, &["--json"]).data();

    assert_eq!((&reply["resumed"][0]["exit_code"], &reply["resumed"][0]["output"]), (&json!(0), &json!("told\n")));
    assert_eq!(calls(&project).len(), 2);
}

#[test]
fn a_program_that_fails_is_reported_and_tried_again_by_the_next_call() {
    let project = Project::new();
    let program = claude(&project, "exit 7");
    parked(&project, false);
    answered(&project);

    let failed = resume(&project, &program, &[]);

    assert_eq!(failed.code, 1);
    assert!(failed.stdout.contains("claude ended with 7"), "{}", failed.stdout);
    let program = claude(&project, "exit 0");
    let again = resume(&project, &program, &["CLR-42-001", "--json"]).data();
    assert_eq!(again["resumed"][0]["parked"], false);
}

#[test]
fn what_the_program_says_is_passed_through() {
    let project = Project::new();
    let program = claude(&project, "echo 'It is redis.'");
    parked(&project, true);
    answered(&project);

    let output = resume(&project, &program, &[]);

    assert_eq!((output.code, output.stdout.contains("It is redis.\n")), (0, true), "{}", output.stdout);
}

#[test]
fn without_the_program_nothing_is_claimed_and_the_cure_is_named() {
    let project = Project::new();
    parked(&project, true);
    answered(&project);
    let missing = project.path().join("nowhere/claude");

    let error = resume(&project, &missing, &["--json"]).error("agent_error");

    assert!(error["hint"].as_str().unwrap().contains("QUERENT_CLAUDE"), "{error}");
    assert_eq!(project.ok(&["show", "CLR-42-001"])["parked"]["claimed"], false);
}

#[test]
fn two_that_resume_at_once_resume_once() {
    let project = Project::new();
    // The program goes on when the second caller has had its turn.
    let gate = project.path().join("gate");
    let script = format!("touch '{0}.here'; while [ ! -e '{0}' ]; do sleep 0.05; done", gate.display());
    let program = claude(&project, &script);
    parked(&project, true);
    answered(&project);
    let mut first = Project::start(project.querent(&["resume", "--json"]).env("QUERENT_CLAUDE", &program));
    while !project.path().join("gate.here").exists() {
        std::thread::yield_now();
    }

    let second = resume(&project, &program, &["--json"]).data();
    fs::write(&gate, "").unwrap();

    assert_eq!((&second["resumed"], &second["claimed"]), (&json!([]), &json!(["CLR-42-001"])));
    assert!(first.wait().unwrap().success());
    assert_eq!(calls(&project).len(), 1);
}

#[test]
fn whoever_resumed_and_died_with_its_program_is_made_up_for() {
    let project = Project::new();
    let program = claude(&project, "kill -9 $PPID; sleep 0.2; kill -9 $$");
    parked(&project, true);
    answered(&project);
    resume(&project, &program, &["--json"]);
    let program = claude(&project, "exit 0");

    let reply = loop {
        let reply = resume(&project, &program, &["--json"]).data();
        // Until the program is gone its claim holds.
        if reply["claimed"] == json!([]) {
            break reply;
        }
    };

    assert_eq!(reply["resumed"][0]["exit_code"], 0);
}

#[test]
fn a_question_that_nobody_asked_is_refused() {
    let project = Project::new();

    let error: Value = project.refused(&["resume", "CLR-42-009"], "question_not_found");

    assert!(error["message"].as_str().unwrap().contains("CLR-42-009"));
}
