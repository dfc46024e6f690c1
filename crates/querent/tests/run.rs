use std::process::Command;

use serde_json::Value;

use crate::common::Project;

const SCRIPT: &str = r#"
- when: { agent: architect, question: Storage, round: 1 }
  emit: [{ type: RESULT, result: { answer: not sure } }]
- when: { agent: architect, question: Storage }
  emit: [{ type: RESULT, result: { answer: Postgres, evidence: docs/adr.md, uncertainty: none } }]
- when: { agent: engineer, item: "43" }
  fail: no credit left
- when: { agent: engineer, step: implement, turn: 1 }
  emit:
    - { type: REQUEST, request: { action: ask, topic: Storage, prompt: "Where do sessions live?" } }
    - { type: RESULT, result: { status: done, summary: too early } }
- when: { agent: engineer }
  emit: [{ type: RESULT, result: { status: done, summary: built on Postgres } }]
- when: { agent: reviewer, turn: 1 }
  emit:
    - type: REQUEST
      request:
        action: ask_user_input
        topic: Merge
        prompt: May it be merged?
        options: [{ id: "yes", label: "Yes" }, { id: "no", label: "No" }]
- when: { agent: reviewer }
  emit: [{ type: RESULT, result: { status: done, summary: fine } }]
"#;

/// A project whose agents are scripted, in a git repository with one commit.
fn scripted(script: &str) -> Project {
    let project = Project::new();
    std::fs::write(project.path().join("team.yaml"), script).unwrap();
    let file = project.path().join(".querent/config.toml");
    let config = std::fs::read_to_string(&file).unwrap().replace("\nrank =", "\nprovider = \"script\"\nrank =");
    let provider = "[providers.script]\nkind = \"scripted\"\nscript = \"team.yaml\"\n";
    std::fs::write(&file, format!("{config}\n{provider}")).unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=Zoe", "-c", "user.email=zoe@shop.example"];
        let done = Command::new("git").args(identity).args(args).current_dir(project.path()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "A shop"]);
    project
}

/// The envelope at the end of what `run --json` prints.
fn ended(output: &str) -> Value {
    serde_json::from_str::<Value>(output.lines().last().unwrap()).unwrap()["data"].clone()
}

#[test]
fn an_item_goes_through_its_steps_and_waits_for_people_where_it_must() {
    let project = scripted(SCRIPT);

    // Given a team of which the reviewer asks a person, when it runs as far as it can
    let first = project.run(&["run", "--once", "--json"]);

    // Then the clarification took two rounds, and the item waits in the stage that it goes on in
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(ended(&first.stdout)["ended"], "waiting");
    let question = project.ok(&["show", "CLR-42-001"])["question"].clone();
    assert_eq!((&question["status"], &question["round"]), (&"resolved".into(), &2.into()));
    assert_eq!(question["answer"]["text"], "Postgres");
    let item = project.ok(&["item", "show", "42"])["item"].clone();
    assert_eq!((&item["stage"], &item["resume_stage"]), (&"awaiting_input".into(), &"review".into()));

    // And when the person answers, it is done
    project.ok(&["answer", "CLR-42-002", "--answer", "yes"]);
    let second = project.run(&["run", "--json"]);
    assert_eq!(ended(&second.stdout)["ended"], "done");
    assert_eq!(ended(&second.stdout)["items"][0]["stage"], "ready_to_merge");
    assert!(!project.path().join(".querent/worktrees/42").exists());
}

#[test]
fn what_happens_is_told_as_a_conversation() {
    let project = scripted(SCRIPT);

    let told = project.run(&["run", "--once"]).stdout;

    let clock = |line: &str| line.rfind(" (").map_or(line.to_owned(), |at| line[..at].to_owned());
    let rounds: Vec<String> = told.lines().filter(|line| line.starts_with("[Round")).map(clock).collect();
    assert_eq!(
        rounds,
        [
            "[Round 1] engineer -> architect",
            "[Round 1] architect -> engineer",
            "[Round 2] querent -> architect",
            "[Round 2] architect -> engineer",
            "[Round 1] reviewer -> human",
        ]
    );
    assert!(told.contains("[RESOLVED] CLR-42-001"), "{told}");
    assert!(told.contains("Nothing can go on without waiting."), "{told}");
}

#[test]
fn an_agent_that_fails_twice_blocks_its_item_and_people_are_told() {
    let project = scripted(SCRIPT);
    project.ok(&["item", "add", "43", "--title", "Sign out"]);
    project.ok(&["item", "move", "43", "--to", "implement"]);

    let told = project.run(&["run", "--items", "43"]);

    assert_eq!(told.code, 0, "{}", told.stderr);
    let item = project.ok(&["item", "show", "43"])["item"].clone();
    assert_eq!(item["stage"], "blocked", "{}", told.stdout);
    assert!(item["status_reason"].as_str().unwrap().contains("no credit left"), "{item}");
    assert_eq!(project.ok(&["alerts"])["alerts"][0]["type"], "agent_error");
}

#[test]
fn an_item_that_is_not_there_and_a_provider_that_is_not_there_are_named() {
    let project = scripted(SCRIPT);

    project.refused(&["run", "--items", "41"], "item_not_found");

    let file = project.path().join(".querent/config.toml");
    let config = std::fs::read_to_string(&file).unwrap().replacen("provider = \"script\"", "provider = \"scrpt\"", 1);
    std::fs::write(&file, config).unwrap();
    let output = project.run(&["run", "--json"]);
    assert_eq!(output.code, 3);
    assert!(output.stdout.contains("did you mean `script`?"), "{}", output.stdout);
}

#[test]
fn an_agent_that_is_asked_is_called_by_whoever_waits_for_it() {
    let project = scripted(SCRIPT);
    let question = ["--topic", "Storage", "--question", "Where do sessions live?"];
    let ask = [&["ask", "--item", "42", "--from", "engineer", "--wait", "1m"][..], &question].concat();

    let told = project.run(&ask);

    assert_eq!(told.code, 0, "{}", told.stderr);
    for line in ["[Round 1] engineer -> architect", "architect is called for CLR-42-001", "A: Postgres"] {
        assert!(told.stdout.contains(line), "{line} is not in {}", told.stdout);
    }
    assert_eq!(project.ok(&["show", "CLR-42-001"])["question"]["status"], "answered");
}
