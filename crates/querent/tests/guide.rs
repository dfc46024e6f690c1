use serde_json::{Value, json};

use crate::common::{Project, keys};

fn agents_md(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("AGENTS.md")).unwrap()
}

#[test]
fn a_guide_speaks_of_the_project_as_it_is() {
    let project = Project::empty();

    let all = project.run(&["guide"]);
    let one = project.run(&["guide", "--agent", "engineer"]).stdout;

    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert!(all.stdout.starts_with("## Asking with Querent\n"), "{}", all.stdout);
    assert!(all.stdout.lines().count() <= 60 && all.stdout.contains("| reviewer |"), "{}", all.stdout);
    assert!(one.contains("| engineer | implement (feature, ") && !one.contains("| reviewer |"), "{one}");
}

#[test]
fn programs_get_the_facts_with_or_without_an_envelope() {
    let project = Project::empty();

    let reply = project.ok(&["guide", "--agent", "architect"]);
    let bare = project.run(&["guide", "--agent", "architect", "--format", "json"]).stdout;

    assert_eq!(keys(&reply), ["guide", "text"]);
    assert_eq!(serde_json::from_str::<Value>(&bare).unwrap(), reply["guide"]);
    assert_eq!(reply["guide"]["agents"][0]["steps"][0]["may_ask"], json!(["product-manager", "human"]));
    assert!(reply["text"].as_str().unwrap().contains("for architect"));
}

#[test]
fn a_guide_is_written_once_and_leaves_the_rest_of_the_file_alone() {
    let project = Project::empty();
    std::fs::write(project.path().join("AGENTS.md"), "# Ours\n").unwrap();

    let first = project.ok(&["guide", "--write"]);
    let written = agents_md(&project);
    let second = project.ok(&["guide", "--write"]);
    project.ok(&["guide", "--write", "--agent", "engineer"]);

    assert_eq!(
        (first, second),
        (json!({ "changed": true, "path": "AGENTS.md" }), json!({ "changed": false, "path": "AGENTS.md" }))
    );
    assert!(written.starts_with("# Ours\n\n<!-- querent:guide:begin -->\n## Asking with Querent\n"), "{written}");
    assert!(written.ends_with("\n<!-- querent:guide:end -->\n"), "{written}");
    assert!(
        agents_md(&project)
            .starts_with("# Ours\n\n<!-- querent:guide:begin -->\n## Asking with Querent for engineer\n")
    );
}

#[test]
fn what_cannot_be_told_is_refused_and_changes_nothing() {
    let project = Project::empty();
    let damaged = "<!-- querent:guide:begin -->\nours\n";
    std::fs::write(project.path().join("AGENTS.md"), damaged).unwrap();

    project.refused(&["guide", "--agent", "enginer"], "unknown_agent");
    project.refused(&["guide", "--format", "html"], "usage");
    project.refused(&["guide", "--write", "--format", "json"], "usage");
    let error = project.refused(&["guide", "--write"], "conflict");

    assert!(error["message"].as_str().unwrap().contains("the guide's end is missing"), "{error}");
    assert_eq!(agents_md(&project), damaged);
    Project::none().refused(&["guide"], "no_project");
}
