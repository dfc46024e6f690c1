//! An operation happens once, however often it is sent.

use querent_core::{Code, Command, Operation, Via};
use serde_json::json;

use crate::scenario::{Scenario, given_implementing};
use crate::speech::{Q1, alice, engineer, human};

fn asking() -> Command {
    engineer().asks("architect", "Which auth?").into()
}

fn asked() -> (Scenario, Operation) {
    let scenario = given_implementing().and(asking());
    let operation = scenario.operations.last().cloned().unwrap();
    (scenario, operation)
}

#[test]
fn the_same_operation_is_answered_with_the_same_bytes_for_ever() {
    let (scenario, operation) = asked();
    let first = scenario.reply().as_str().to_owned();

    let scenario = scenario.and(human().answers(Q1, "JWT"));

    assert_eq!(operation.replay(&asking().fingerprint()).unwrap().as_str(), first);
    assert_ne!(scenario.reply().as_str(), first);
}

#[test]
fn an_operation_id_with_other_content_is_a_conflict() {
    let (_, operation) = asked();
    let other: Command = engineer().asks("architect", "Which auth??").into();

    let refusal = operation.replay(&other.fingerprint()).unwrap_err();

    assert_eq!(refusal.code, Code::OperationConflict);
    assert_eq!(*refusal.details, json!({ "operation_id": operation.id }));
}

#[test]
fn content_is_every_field_but_time_and_surface() {
    let same = Command { via: Via::Library, ..asking() };
    assert_eq!(same.fingerprint(), asking().fingerprint());

    let others: [Command; 6] = [
        Command { item: "43".parse().unwrap(), ..asking() },
        crate::speech::architect().asks("architect", "Which auth?").into(),
        engineer().asks("product-manager", "Which auth?").into(),
        engineer().asks("architect", "Which auth?").without_blocking().into(),
        engineer().asks("architect", "Which auth?").expires_in("1m").into(),
        engineer().asks("architect", "Which auth?").with(|ask| ask.tags = vec!["x".into()]).into(),
    ];
    for other in others {
        assert_ne!(other.fingerprint(), asking().fingerprint(), "{other:?}");
    }
    assert_ne!(human().answers(Q1, "yes").fingerprint(), alice().answers(Q1, "yes").fingerprint());
    assert_ne!(human().answers(Q1, "1").fingerprint(), human().answers(Q1, 1).fingerprint());
}

#[test]
fn the_order_of_fields_in_json_makes_no_other_content() {
    let with = |json: &str| -> Command {
        let details = serde_json::from_str(json).unwrap();
        engineer().asks("architect", "?").with(|ask| ask.details = Some(details)).into()
    };
    assert_eq!(with(r#"{"a":1,"b":2}"#).fingerprint(), with(r#"{"b":2,"a":1}"#).fingerprint());
}

#[test]
fn only_accepted_commands_are_remembered() {
    given_implementing().then(|it| assert_eq!(it.operations.len(), 2)).when(engineer().asks("reviewer", "?")).then(
        |it| {
            assert_eq!(it.operations.len(), 2);
        },
    );
}

#[test]
fn every_record_of_a_command_bears_its_operation_and_deadlines_bear_none() {
    given_implementing().and(asking()).later("30m").and(engineer().asks("human", "Which bank?")).then(|it| {
        let bears: Vec<(&str, bool)> =
            it.records.iter().skip(3).map(|record| (record.event.type_name(), record.operation_id.is_some())).collect();
        assert_eq!(
            bears,
            [("question_stale", false), ("question_retried", false), ("question_asked", true), ("item_paused", true)]
        );
    });
}

/// Fingerprints are stored: one that changed would turn a replay across an upgrade into a conflict.
#[test]
fn a_fingerprint_is_the_same_in_every_version_of_querent() {
    let commands = [asking(), human().answers(Q1, "JWT"), engineer().starts()];
    let fingerprints = commands.map(|command| command.fingerprint());
    assert_eq!(
        fingerprints.map(|it| it.to_string()),
        ["8373ce299eacd9fe70a904b2b30d51a9", "7c7c0f3eaf4fc489722ff16309d8cbeb", "90e35462ad9149d853d124ff3a6c4fc5"]
    );
}
