use serde_json::json;

use crate::common::Project;

#[test]
fn a_project_in_order_is_healthy() {
    let project = Project::new();

    assert_eq!(project.ok(&["doctor"]), json!({ "healthy": true, "findings": [] }));
    assert_eq!(project.run(&["doctor"]).stdout, "All is well.\n");
}

#[test]
fn what_is_broken_is_reported_and_repaired_only_on_request() {
    let project = Project::new();
    let ledger = project.path().join(".querent/items/42/item.json");
    std::fs::remove_file(&ledger).unwrap();

    let report = project.run(&["doctor", "--json"]);
    let told = project.run(&["doctor"]);

    assert_eq!((report.code, told.code), (3, 3));
    let json = report.json();
    assert_eq!((&json["ok"], &json["data"]["healthy"]), (&json!(true), &json!(false)), "{json}");
    for field in ["severity", "what", "where", "cure"] {
        assert!(json["data"]["findings"][0][field].is_string(), "{json}");
    }
    assert!(told.stdout.contains("querent doctor --repair") && !ledger.exists(), "{}", told.stdout);

    assert_eq!(project.ok(&["doctor", "--repair"])["healthy"], true);
    assert!(ledger.exists());
}
