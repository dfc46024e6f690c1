use serde_json::json;

use crate::lock::at_work;

#[test]
fn files_that_have_an_owner_are_locked_by_it_and_by_those_before_it() {
    let project = at_work();

    let reply = project.ok(&["own", "docs/adr", "--agent", "architect"]);

    assert_eq!(reply, json!({ "path": "docs/adr", "owner": "architect" }));
    let error = project.refused(&["lock", "docs/adr/1.md", "--session", "engineer@42"], "not_owner");
    assert_eq!(error["details"]["owner"], "architect");
    project.ok(&["lock", "docs/adr/1.md", "--session", "architect@42"]);
    assert_eq!(project.ok(&["own", "docs/adr", "--nobody"])["owner"], json!(null));
}

#[test]
fn only_a_person_says_whose_files_are_whose_and_only_of_declared_agents() {
    let project = at_work();

    project.refused(&["own", "docs", "--agent", "engineer", "--by", "engineer"], "human_only");
    project.refused(&["own", "docs", "--agent", "enginer"], "unknown_agent");
    project.refused(&["own", "../docs", "--agent", "engineer"], "invalid_input");
    project.refused(&["own", "docs"], "usage");
    assert_eq!(project.ok(&["locks"])["owners"], json!([]));
}
