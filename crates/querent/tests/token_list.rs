use serde_json::json;

use crate::common::{Project, keys};

#[test]
fn it_tells_who_is_let_in_and_never_by_what() {
    let project = Project::empty();
    assert!(project.run(&["token", "list"]).stdout.contains("There is no token"));
    project.ok(&["token", "create", "--role", "human", "--name", "alice"]);
    project.ok(&["token", "create", "--role", "agent:engineer"]);
    project.ok(&["token", "revoke", "TOK-002"]);

    let live = project.ok(&["token", "list"]);
    let all = project.ok(&["token", "list", "--all"]);

    assert_eq!(live["tokens"].as_array().unwrap().len(), 1);
    assert_eq!(all["tokens"][1]["role"], json!("agent:engineer"));
    assert_eq!(keys(&all["tokens"][0]), ["created_at", "expires_at", "id", "name", "revoked_at", "role"]);
}
