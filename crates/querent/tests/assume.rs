use serde_json::json;

use crate::common::Project;

const TOKENS: [&str; 12] = [
    "assume",
    "--item",
    "42",
    "--agent",
    "engineer",
    "--decision",
    "Tokens live for an hour",
    "--reasoning",
    "src/auth.rs does so",
    "--confidence",
    "high",
    "--risk=low",
];

#[test]
fn a_decision_is_put_on_record_once_for_each_operation() {
    let project = Project::new();
    let once = [&TOKENS[..], &["--operation-id", "a-1", "--risk-note", "one constant"]].concat();

    let reply = project.ok(&once);
    assert_eq!(project.ok(&once), reply);

    let made = &reply["assumption"];
    assert_eq!(made["id"], "ASM-42-001");
    assert_eq!((&made["status"], &made["source"]), (&json!("standing"), &json!("inferred_from_codebase")));
    assert_eq!(made["risk_if_wrong"], json!({ "level": "low", "note": "one constant" }));
    assert_eq!(project.ok(&["assumptions"])["assumptions"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_missing_or_unknown_is_named_and_nothing_is_recorded() {
    let project = Project::new();

    let missing = project.run(&TOKENS[..9]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("--confidence") && missing.stderr.contains("--risk"), "{}", missing.stderr);
    project.refused(&[&TOKENS[..], &["--question", "CLR-42-001"]].concat(), "question_not_found");

    assert_eq!(project.ok(&["assumptions"])["assumptions"], json!([]));
}
