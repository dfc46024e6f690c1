use std::io::ErrorKind;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::client::{Client, Era};
use crate::common::{Output, Project};

/// Calls the hook as Claude does; returns what Claude is told.
fn hook(project: &Project, attended: &str, input: &Value) -> Value {
    let output = hook_with(project, &["--agent", "engineer", "--item", "42"], attended, &input.to_string());
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{}", output.stdout);
    if output.stdout.is_empty() { Value::Null } else { serde_json::from_str(&output.stdout).unwrap() }
}

fn hook_with(project: &Project, flags: &[&str], attended: &str, input: &str) -> Output {
    let mut command = project.querent(&[&["hook", "claude"], flags].concat());
    command.env("CLAUDE_CODE_SESSION_ATTENDED", attended).env_remove("QUERENT_RESUMES").stdin(Stdio::piped());
    let mut child = Project::start(&mut command);
    let written = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    // One that fails for another reason may have ended before it reads.
    assert!(written.as_ref().map_err(std::io::Error::kind).err().is_none_or(|kind| kind == ErrorKind::BrokenPipe));
    Output::of(child.wait_with_output().unwrap())
}

fn event(name: &str) -> Value {
    json!({ "hook_event_name": name, "session_id": "c-1", "cwd": "/shop", "stop_hook_active": false })
}

fn tool(name: &str, call: &str, arguments: &Value) -> Value {
    let mut input = event("PreToolUse");
    input["tool_name"] = json!(name);
    input["tool_use_id"] = json!(call);
    input["tool_input"] = arguments.clone();
    input
}

fn asks(call: &str) -> Value {
    let arguments = json!({ "topic": "Store", "prompt": "Where do sessions live?", "to": "human", "wait_seconds": 5 });
    tool("mcp__querent__question_create", call, &arguments)
}

fn decision(said: &Value) -> &str {
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none")
}

fn context(said: &Value) -> &str {
    said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("none")
}

fn types(project: &Project) -> Vec<String> {
    let events = project.run(&["events", "--json"]).stdout;
    let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
    events.lines().map(kind).collect()
}

#[test]
fn a_headless_session_that_asks_is_parked_and_goes_on_with_the_answer() {
    let project = Project::new();

    assert_eq!(decision(&hook(&project, "0", &asks("toolu_1"))), "defer");
    let before = types(&project);
    assert_eq!(decision(&hook(&project, "0", &asks("toolu_1"))), "defer", "it is still open");
    assert_eq!(types(&project), before, "nothing happened");
    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);
    assert_eq!(decision(&hook(&project, "0", &asks("toolu_1"))), "allow");

    assert_eq!(types(&project).iter().filter(|it| *it == "question_asked").count(), 1);
    assert_eq!(types(&project).last().unwrap(), "session_woken");
    let parked = &project.ok(&["state"])["sessions"][0]["parked"];
    assert_eq!(*parked, Value::Null, "it went on");
}

#[test]
fn a_parked_session_is_shown_with_its_question() {
    let project = Project::new();
    hook(&project, "0", &asks("toolu_1"));

    let parked = project.ok(&["show", "CLR-42-001"])["parked"].clone();

    assert_eq!((&parked["handle"], &parked["directory"]), (&json!("c-1"), &json!("/shop")));
    assert_eq!(project.ok(&["state"])["sessions"][0]["parked"], parked);
    assert!(project.run(&["show", "CLR-42-001"]).stdout.contains("Parked on CLR-42-001: claude session c-1"));
}

#[test]
fn the_question_is_the_one_that_the_mcp_server_asks_for_the_same_call() {
    let project = Project::new();
    hook(&project, "0", &asks("toolu_1"));

    let mut client = Client::start(&project, &["--agent", "engineer", "--item", "42"], Era::Discover, json!({}));
    let mut arguments = asks("toolu_1")["tool_input"].clone();
    arguments["wait_seconds"] = json!(0);
    let meta = json!({ "claudecode/toolUseId": "toolu_1" });
    let replay = client.call("tools/call", json!({ "name": "question_create", "arguments": arguments, "_meta": meta }));

    assert_eq!(replay["structuredContent"]["question_id"], "CLR-42-001");
    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 1);
}

#[test]
fn where_somebody_sits_the_tool_waits_by_itself() {
    let project = Project::new();

    assert_eq!(decision(&hook(&project, "1", &asks("toolu_1"))), "allow");

    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 0);
}

#[test]
fn what_does_not_block_or_is_refused_is_left_to_the_tool() {
    let project = Project::new();
    let ask = |more: Value| {
        let mut arguments = json!({ "topic": "Store", "prompt": "Where?", "to": "human" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool("mcp__querent__question_create", "toolu_1", &arguments)
    };

    for more in
        [json!({ "blocking": false }), json!({ "kind": "educational" }), json!({ "to": "nobody" }), json!({ "x": 1 })]
    {
        assert_eq!(decision(&hook(&project, "0", &ask(more))), "allow");
    }

    assert_eq!(project.ok(&["questions", "--status", "all"])["count"], 0);
}

#[test]
fn a_second_question_of_a_parked_session_is_left_to_the_tool() {
    let project = Project::new();
    hook(&project, "0", &asks("toolu_1"));
    let arguments = json!({ "topic": "Tokens", "prompt": "How long do they live?", "to": "architect" });

    let said = hook(&project, "0", &tool("mcp__querent__question_create", "toolu_2", &arguments));

    assert_eq!(decision(&said), "allow");
}

#[test]
fn nothing_is_edited_while_the_item_waits_for_a_human() {
    let project = Project::new();
    let edits = |name| hook(&project, "1", &tool(name, "toolu_9", &json!({ "file_path": "/shop/a.rs" })));
    assert_eq!(edits("Edit"), Value::Null);
    project.asks_human();

    for name in ["Edit", "Write", "MultiEdit", "NotebookEdit"] {
        let said = edits(name);
        assert_eq!(decision(&said), "deny", "{name}");
        assert!(said.to_string().contains("CLR-42-001"), "{said}");
    }
    assert_eq!(edits("Bash"), Value::Null);
    assert_eq!(edits("Read"), Value::Null);
    project.ok(&["answer", "CLR-42-001", "--answer", "redis"]);
    assert_eq!(edits("Write"), Value::Null);
}

#[test]
fn news_is_told_once_a_session() {
    let project = Project::new();
    assert_eq!(hook(&project, "1", &event("SessionStart")), Value::Null);
    let id = project.asks_human();
    project.ok(&["answer", &id, "--answer", "redis"]);

    let said = hook(&project, "1", &event("UserPromptSubmit"));
    assert!(context(&said).contains(&id), "{said}");
    assert_eq!(hook(&project, "1", &event("UserPromptSubmit")), Value::Null);

    project.assumes("Tokens live for ever", "high", "low");
    project.ok(&["assumptions", "review", "ASM-42-001", "--overturn"]);
    let said = hook(&project, "1", &event("UserPromptSubmit"));
    assert!(context(&said).contains("ASM-42-001") && !context(&said).contains(&id), "{said}");
    let mut other = event("SessionStart");
    other["session_id"] = json!("c-2");
    let said = hook(&project, "1", &other);
    assert!(context(&said).contains(&id) && context(&said).contains("ASM-42-001"), "a newcomer hears all: {said}");
}

#[test]
fn an_answer_that_a_tool_gave_is_not_told_again() {
    let project = Project::new();
    hook(&project, "1", &event("SessionStart"));
    let id = project.asks_architect();
    project.ok(&["answer", &id, "--by", "architect", "--answer", "a \"good\" hour"]);
    let mut after = tool("mcp__querent__await_answer", "toolu_3", &json!({ "question_id": id }));
    after["hook_event_name"] = json!("PostToolUse");
    after["tool_response"] =
        json!([{ "type": "text", "text": json!({ "question_id": id, "answer": "a \"good\" hour" }).to_string() }]);

    assert_eq!(hook(&project, "1", &after), Value::Null);

    assert_eq!(hook(&project, "1", &event("Stop")), Value::Null);
    assert_eq!(hook(&project, "1", &event("UserPromptSubmit")), Value::Null);
}

#[test]
fn a_session_hears_before_it_stops_what_it_waited_for_and_is_held_once() {
    let project = Project::new();
    hook(&project, "1", &event("SessionStart"));
    let id = project.asks_human();
    assert_eq!(hook(&project, "1", &event("Stop")), Value::Null);
    project.ok(&["answer", &id, "--answer", "redis"]);

    let said = hook(&project, "1", &event("Stop"));

    assert_eq!(said["decision"], "block");
    assert!(said["reason"].as_str().unwrap().contains(&id), "{said}");
    assert_eq!(hook(&project, "1", &event("Stop")), Value::Null);
}

#[test]
fn a_headless_session_that_ends_its_turn_while_it_waits_is_parked() {
    let project = Project::new();
    hook(&project, "0", &event("SessionStart"));
    let id = project.asks_human();

    assert_eq!(hook(&project, "0", &event("Stop")), Value::Null);

    assert_eq!(project.ok(&["show", &id])["parked"]["handle"], "c-1");
}

#[test]
fn a_prompt_that_drops_the_deferred_call_is_told_so_and_parks_again_at_the_end() {
    let project = Project::new();
    hook(&project, "0", &event("SessionStart"));
    hook(&project, "0", &asks("toolu_1"));

    let said = hook(&project, "0", &event("UserPromptSubmit"));

    assert!(context(&said).contains("CLR-42-001"), "{said}");
    assert_eq!(project.ok(&["show", "CLR-42-001"])["parked"], Value::Null);
    hook(&project, "0", &event("Stop"));
    assert_eq!(project.ok(&["show", "CLR-42-001"])["parked"]["handle"], "c-1");
}

#[test]
fn a_form_is_filled_in_only_if_the_question_has_its_answer() {
    let project = Project::new();
    let id = project.asks_human();
    let question = project.ok(&["show", &id])["question"].clone();
    let text = |name: &str| question[name].as_str().unwrap().to_owned();
    let mut form = event("Elicitation");
    form["message"] = json!(format!("{}\n\n{}", text("topic"), text("prompt")));
    assert_eq!(hook(&project, "1", &form), Value::Null);
    project.ok(&["answer", &id, "--answer", "redis"]);

    let said = hook(&project, "1", &form);

    assert_eq!(said["hookSpecificOutput"]["action"], "accept");
    assert_eq!(said["hookSpecificOutput"]["content"]["answer"], "redis");
}

#[test]
fn it_never_holds_a_session_by_failing() {
    let project = Project::new();
    let nowhere = Project::none();
    let start = event("SessionStart").to_string();
    let ask = asks("toolu_1").to_string();
    let cases: [(&Project, &[&str], &str); 6] = [
        (&nowhere, &["--agent", "engineer"], &start),
        (&project, &[], &start),
        (&project, &["--agent", "nobody"], &start),
        (&project, &["--agent", "engineer", "--item", "99"], &start),
        (&project, &["--agent", "engineer"], "no json"),
        (&project, &["--unknown"], &ask),
    ];
    for (project, flags, input) in cases {
        let output = hook_with(project, flags, "0", input);
        assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{flags:?}");
        assert!(!output.stderr.is_empty(), "{flags:?}");
    }
}

#[test]
fn other_hooks_are_silent() {
    let project = Project::new();

    for name in ["Notification", "SessionEnd", "SomethingNew"] {
        assert_eq!(hook(&project, "1", &event(name)), Value::Null, "{name}");
    }
}
