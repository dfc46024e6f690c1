use serde_json::json;

use crate::lock::at_work;

#[test]
fn a_session_gives_back_what_it_names_or_all_of_it() {
    let project = at_work();
    project.ok(&["lock", "a", "b", "c", "--session", "engineer@42"]);

    let one = project.ok(&["unlock", "b", "--session", "engineer@42"]);
    let rest = project.ok(&["unlock", "--session", "engineer@42"]);
    let nothing = project.ok(&["unlock", "--session", "engineer@42"]);

    assert_eq!(one, json!({ "released": ["b"] }));
    assert_eq!((rest, nothing), (json!({ "released": ["a", "c"] }), json!({ "released": [] })));
}

#[test]
fn nobody_else_may_unlock() {
    let project = at_work();
    project.ok(&["lock", "a", "--session", "engineer@42"]);

    let error = project.refused(&["unlock", "a", "--session", "architect@42"], "not_owner");

    assert_eq!(error["details"]["holder"]["session"], "engineer@42");
    project.refused(&["unlock", "b", "--session", "engineer@42"], "not_owner");
    project.refused(&["unlock", "a", "--session", "nobody"], "invalid_input");
    assert_eq!(project.ok(&["locks"])["locks"][0]["path"], "a");
}

#[test]
fn a_call_that_is_sent_again_late_takes_nothing_that_was_locked_since() {
    let project = at_work();
    let line = ["unlock", "--session", "engineer@42", "--operation-id", "op-1"];
    let first = project.ok(&line);
    project.ok(&["lock", "a", "--session", "engineer@42"]);

    assert_eq!(project.ok(&line), first);
    assert_eq!(project.ok(&["locks"])["locks"][0]["path"], "a");
}
