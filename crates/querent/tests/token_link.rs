use crate::common::Project;

#[test]
fn a_link_is_for_people_with_a_good_token() {
    let project = Project::empty();
    project.ok(&["token", "create", "--role", "human"]);
    project.ok(&["token", "create", "--role", "agent:engineer"]);

    let link = project.ok(&["token", "link", "TOK-001", "--at", "https://querent.example/"]);

    assert!(link["url"].as_str().unwrap().starts_with("https://querent.example/login?code="), "{link}");
    project.refused(&["token", "link", "TOK-002"], "invalid_input");
    project.refused(&["token", "link", "TOK-003"], "invalid_input");
    project.ok(&["token", "revoke", "TOK-001"]);
    project.refused(&["token", "link", "TOK-001"], "invalid_transition");
}
