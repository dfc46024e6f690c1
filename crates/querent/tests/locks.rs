use serde_json::json;

use crate::common::keys;
use crate::lock::at_work;

#[test]
fn locks_show_who_holds_what_until_when() {
    let project = at_work();
    assert!(project.run(&["locks"]).stdout.starts_with("No file is locked."));
    project.ok(&["lock", "src/**/*.rs", "--session", "engineer@42", "--ttl", "2h"]);
    project.ok(&["own", "docs", "--agent", "architect"]);

    let reply = project.ok(&["locks"]);
    let text = project.run(&["locks"]).stdout;

    assert_eq!(keys(&reply["locks"][0]), ["agent", "expires_at", "item", "path", "session", "since", "waiting"]);
    assert_eq!(reply["owners"], json!([{ "path": "docs", "agent": "architect" }]));
    assert!(
        text.contains("src/**/*.rs  engineer@42  engineer  42") && text.contains("docs belongs to architect."),
        "{text}"
    );
}

#[test]
fn locks_end_with_their_session() {
    let project = at_work();
    project.ok(&["lock", "src", "--session", "engineer@42"]);

    project.ok(&["hook", "finish", "--agent", "engineer", "--item", "42", "--keep"]);

    assert_eq!(project.ok(&["locks"])["locks"], json!([]));
}
