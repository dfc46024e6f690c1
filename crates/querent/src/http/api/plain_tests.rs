use axum::http::Request;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};

use super::super::CHECKED;
use super::super::input::Checked;
use super::*;

fn route(operation: &str) -> &'static Checked {
    CHECKED.iter().find(|it| it.route.operation == operation).unwrap()
}

fn head(kind: &str, uri: &str) -> Parts {
    Request::post(uri).header(CONTENT_TYPE, kind).body(()).unwrap().into_parts().0
}

/// What is read at once, and what is read the long way; none where that refuses it.
fn both(operation: &str, below: &str, body: &str) -> (Option<Plain>, Option<Plain>) {
    let (checked, head) = (route(operation), head("application/json", below));
    let given = checked.read(below, &head, body.as_bytes()).ok();
    (read(checked.route, below, &head, body.as_bytes()), given.and_then(|given| long_way(operation, given)))
}

/// As the routes read it.
fn long_way(operation: &str, given: Map<String, Value>) -> Option<Plain> {
    #[derive(Deserialize)]
    struct Answered {
        id: QuestionId,
        answer: Value,
        note: Option<String>,
        by: Option<Named>,
    }
    let whole = Value::Object(given.clone());
    if operation == "answer" {
        let Answered { id: question, answer, note, by } = serde_json::from_value(whole).ok()?;
        return Some(Plain::Answer(question.item.clone(), Action::Answer { question, answer, note }, by));
    }
    let beside = serde_json::from_value(whole).ok()?;
    let asked = given.into_iter().filter(|(name, _)| !matches!(name.as_str(), "item" | "from" | "wait")).collect();
    Some(Plain::Ask(beside, serde_json::from_value(Value::Object(asked)).ok()?))
}

const USUAL: &str = r#"{"item": "42", "from": "engineer", "to": "human", "topic": "Store", "prompt": "Where?\nHere?",
    "options": [{"id": "a", "label": "Redis"}, {"id": "b", "label": "SQL", "recommended": true}], "wait": "60s"}"#;

#[test]
fn the_usual_question_and_its_answer_are_read_at_once() {
    for (operation, below, body) in [
        ("ask", "/questions", USUAL),
        ("answer", "/questions/CLR-42-001/answer", r#"{"answer": "Redis", "by": "architect"}"#),
    ] {
        let (plain, long) = both(operation, below, body);

        assert!(plain.is_some(), "{operation}");
        assert_eq!(plain, long, "{operation}");
    }
}

#[test]
fn what_is_marked_otherwise_or_has_a_query_takes_the_long_way() {
    let ask = route("ask").route;
    for (kind, uri) in [("text/plain", "/questions"), ("application/json; charset=utf-8", "/questions")] {
        assert_eq!(read(ask, "/questions", &head(kind, uri), USUAL.as_bytes()), None, "{kind}");
    }
    assert_eq!(read(ask, "/questions", &head("application/json", "/questions?x=1"), USUAL.as_bytes()), None);
}

/// Texts of which some fit and some do not.
fn text() -> impl Strategy<Value = Value> {
    let odd =
        ["", " ", "\u{85}", "42", "engineer", "human", "human:alice", "querent", "access", "quota", "a b", "a,b", "é"];
    let spans = ["60s", "0ms", "5", "s", " 1s", "1s ", "999999s", "10m", "-1s", "+1s"];
    let long = [1, 63, 64, 65, 200, 201, 2_000, 2_001].map(|length| "x".repeat(length));
    let all: Vec<String> = odd.into_iter().chain(spans).map(str::to_owned).chain(long).collect();
    prop_oneof![select(all).prop_map(Value::from), Just(Value::Null), Just(json!(7)), Just(json!(true))]
}

fn choices() -> impl Strategy<Value = Value> {
    let choice = (text(), text(), text(), any::<bool>()).prop_map(|(id, label, more, recommended)| {
        json!({ "id": id, "label": label, "description": more, "recommended": recommended })
    });
    proptest::collection::vec(choice, 0..22).prop_map(Value::from)
}

/// A body like the usual one, in which some fields are others.
fn body(fields: &'static [&'static str]) -> impl Strategy<Value = String> {
    let other = (select(fields), prop_oneof![4 => text(), 1 => choices()]);
    proptest::collection::vec(other, 0..4).prop_map(move |others| {
        let mut body: Map<String, Value> = serde_json::from_str(USUAL).unwrap();
        if !fields.contains(&"topic") {
            body = Map::from_iter([("answer".to_owned(), json!("Redis"))]);
        }
        body.extend(others.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(body).to_string()
    })
}

proptest! {
    #[test]
    fn a_question_that_is_read_at_once_is_read_the_same_the_long_way(
        body in body(&["item", "from", "to", "topic", "prompt", "context", "options", "blocking", "wait", "tags", "x"]),
    ) {
        let (plain, long) = both("ask", "/questions", &body);
        prop_assert!(plain.is_none() || plain == long, "{}", body);
    }

    #[test]
    fn an_answer_that_is_read_at_once_is_read_the_same_the_long_way(
        id in select(vec!["CLR-42-001", "CLR-42-1", "CLR-42-4000000000", "CLR-quota-001", "clr-42-001", "CLR%2D42-001", "x"]),
        body in body(&["answer", "note", "by", "id"]),
    ) {
        let below = format!("/questions/{id}/answer");
        let (plain, long) = both("answer", &below, &body);
        prop_assert!(plain.is_none() || plain == long, "{} {}", id, body);
    }
}
