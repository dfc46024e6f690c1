use serde_json::json;

use crate::common::{Output, Project, keys};

/// Engineer, architect and product manager wait for each other on three items.
fn deadlocked() -> Project {
    let project = Project::new();
    let file = project.path().join(".querent/workflows/feature.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let own = "agent = \"product-manager\"";
    std::fs::write(&file, text.replace(own, &format!("{own}\ncan_clarify = [\"engineer\"]"))).unwrap();
    for item in ["43", "44"] {
        project.ok(&["item", "add", item, "--title", "More"]);
    }
    for (item, from, to) in [("42", "engineer", "architect"), ("43", "architect", "product-manager")] {
        ask(&project, item, from, to);
    }
    ask(&project, "44", "product-manager", "engineer");
    project
}

fn ask(project: &Project, item: &str, from: &str, to: &str) {
    project.ok(&["ask", "--item", item, "--from", from, "--to", to, "--topic", item, "--question", "What now?"]);
}

#[test]
fn a_deadlock_is_found_and_its_most_downstream_question_goes_to_a_human() {
    let project = deadlocked();

    let reply = project.ok(&["monitor"]);

    let finding = &reply["findings"][0];
    assert_eq!(
        keys(finding),
        ["actions", "cycle", "evidence", "item", "question_id", "severity", "source", "type"],
        "{finding}"
    );
    assert_eq!((&finding["type"], &finding["question_id"]), (&json!("deadlock"), &json!("CLR-42-001")));
    assert_eq!(finding["cycle"], json!(["engineer", "architect", "product-manager", "engineer"]));
    assert_eq!(finding["actions"], json!([{ "action": "escalate", "on": "CLR-42-001" }]));
    assert_eq!(project.ok(&["questions", "--status", "stuck"])["questions"][0]["id"], "CLR-42-001");
    assert_eq!(project.ok(&["questions", "--status", "open"])["count"], 2);
    assert_eq!(project.ok(&["alerts"])["alerts"][0]["type"], "deadlock");
    assert_eq!(project.ok(&["digest"])["deadlocks"], 1);
    let thread = project.run(&["show", "CLR-42-001"]).stdout;
    assert!(thread.contains("engineer → architect → product-manager → engineer"), "{thread}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let project = deadlocked();
    let (events, files) = (project.run(&["events"]).stdout, project.files());

    let text = project.run(&["monitor", "--dry-run"]).stdout;

    assert!(text.contains("would: escalate CLR-42-001 to a human"), "{text}");
    assert_eq!((project.run(&["events"]).stdout, project.files()), (events, files));
}

#[test]
fn of_many_monitors_at_once_one_acts() {
    let project = deadlocked();
    let lines = [&["monitor"][..], &["questions"], &["ready"], &["monitor"], &["monitor"], &["questions"]];

    let started: Vec<_> = lines.iter().map(|line| Project::start(&mut project.querent(line))).collect();
    for child in started {
        let output = Output::of(child.wait_with_output().unwrap());
        assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    }

    let events = project.run(&["events"]).stdout;
    let count = |kind: &str| events.matches(&format!("\"type\":\"{kind}\"")).count();
    assert_eq!((count("question_escalated"), count("alert_raised"), count("item_paused")), (1, 1, 1), "{events}");
    assert_eq!(project.ok(&["doctor"])["healthy"], true);
}

#[test]
fn the_other_commands_that_look_at_everything_run_it_too() {
    for line in [
        &["ready"][..],
        &["questions"],
        &["hook", "start", "--agent", "reviewer", "--item", "44"],
        &["hook", "finish", "--agent", "reviewer", "--item", "44"],
    ] {
        let project = deadlocked();
        project.ok(line);
        assert_eq!(project.ok(&["alerts"])["alerts"][0]["type"], "deadlock", "{line:?}");
        for page in ["ready", "questions"] {
            let text = project.run(&[page]).stdout;
            assert!(text.ends_with("next: an alert waits to be seen: `querent alerts`\n"), "{text}");
        }
    }
}

#[test]
fn where_all_is_well_it_says_so() {
    let project = Project::new();
    assert_eq!(project.ok(&["monitor"]), json!({ "findings": [] }));
    assert!(project.run(&["monitor"]).stdout.starts_with("All is well"));
}
