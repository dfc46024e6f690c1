use crate::common::{Project, keys};

const MISSING: &str = r#"{"task_id": "T-7", "missing_info": "the region of the bucket"}"#;

fn with_build() -> Project {
    let project = Project::new();
    project.ok(&["trigger", "install", "build"]);
    project
}

fn fire<'a>(event: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    ["trigger", event, "--item", "42", "--from", "engineer"].into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn an_event_raises_the_question_of_its_trigger() {
    let project = with_build();

    let reply = project.ok(&fire("missing_context", &["--data", MISSING]));

    assert_eq!(keys(&reply), ["raised", "skipped"]);
    assert_eq!(reply["skipped"], serde_json::json!([]));
    assert_eq!(reply["raised"][0]["question_id"], "CLR-42-001");
    assert_eq!(reply["raised"][0]["item_stage"], "awaiting_input");
    let asked = &project.ok(&["questions", "--to", "human"])["questions"][0];
    assert_eq!(asked["topic"], "What T-7 needs to know");
    assert!(asked["prompt"].as_str().unwrap().contains("the region of the bucket"), "{asked}");
    project.ok(&["answer", "CLR-42-001", "--answer", "eu-west-1"]);
}

#[test]
fn people_read_what_was_raised_and_what_was_skipped() {
    let project = with_build();

    let raised = project.run(&fire("missing_context", &["--data", MISSING]));
    let skipped = project.run(&fire("task_failed_repeatedly", &["--data", "{\"attempts\": 2}"]));

    assert!(raised.stdout.starts_with("CLR-42-001 to human is open"), "{}", raised.stdout);
    assert_eq!(
        skipped.stdout,
        "build/task_failed_repeatedly raised nothing: its condition does not hold: attempts >= 3\n"
    );
}

#[test]
fn an_event_that_no_trigger_is_for_is_no_failure() {
    let project = Project::new();

    let reply = project.ok(&fire("nothing", &[]));

    assert_eq!(reply["raised"], serde_json::json!([]));
    assert_eq!(reply["skipped"][0]["trigger"], "nothing");
    assert!(reply["skipped"][0]["reason"].as_str().unwrap().contains("querent trigger install"), "{reply}");
}

#[test]
fn data_comes_from_a_file_or_from_standard_input_too() {
    let project = with_build();
    std::fs::write(project.path().join("data.json"), MISSING).unwrap();

    let from_file = project.ok(&fire("missing_context", &["--data", "@data.json", "--operation-id", "a"]));
    let again = project
        .run_with_input(&fire("missing_context", &["--data", "-", "--operation-id", "a", "--json"]), MISSING)
        .json();

    assert_eq!(again["data"], from_file);
    assert_eq!(project.ok(&["questions"])["count"], 1);
}

#[test]
fn data_that_lacks_something_raises_nothing() {
    let project = with_build();

    let error = project.refused(&fire("missing_context", &["--data", "{\"task_id\": 7}"]), "invalid_input");

    assert_eq!(error["details"]["placeholder"], "missing_info");
    project.refused(&fire("missing_context", &["--data", "[]"]), "invalid_input");
    project.refused(&fire("missing_context", &["--data", "{"]), "usage");
    project.refused(&["trigger", "--item", "42"], "usage");
    assert_eq!(project.ok(&["questions"])["count"], 0);
}

#[test]
fn a_file_that_does_not_read_is_refused_with_its_line() {
    let project = with_build();
    std::fs::write(project.path().join(".querent/questions/own.yaml"), "- event: a\n  wen: b\n").unwrap();

    let error = project.refused(&fire("missing_context", &["--data", MISSING]), "invalid_config");

    assert!(error["message"].as_str().unwrap().contains("own.yaml:2:"), "{error}");
    assert_eq!(error["details"]["nearest"], "when");
}

#[test]
fn the_example_of_the_guide_does_what_the_guide_says() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/triggers.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let block = |kind: &str| guide.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap();
    let project = Project::new();
    std::fs::create_dir(project.path().join(".querent/questions")).unwrap();
    std::fs::write(project.path().join(".querent/questions/release.yaml"), block("yaml")).unwrap();

    let line = block("sh").replace("\\\n", "");
    let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_querent")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    let ran = shell.args(["-c", &line]).env("PATH", path).current_dir(project.path()).output().unwrap();

    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let asked = &project.ok(&["questions"])["questions"][0];
    assert_eq!(format!("{}\n", asked["prompt"].as_str().unwrap()), block("text"));
    assert_eq!(asked["fallback"]["answer"], "tomorrow");
}
