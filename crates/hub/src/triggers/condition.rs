//! Conditions in CEL, judged on an event's data.

use std::collections::HashMap;
use std::fmt;

use cel::{Context, Program};
use serde_json::{Map, Value};

/// A condition that was read.
pub(super) struct Condition {
    source: String,
    program: Program,
}

impl Condition {
    /// Reads a condition; the reason if it does not compile.
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        match Program::compile(source) {
            Ok(program) => Ok(Self { source: source.trim().to_owned(), program }),
            Err(errors) => Err(errors.errors.first().map(|error| error.msg.clone()).unwrap_or_default()),
        }
    }

    /// As it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether it holds; the reason if the data does not say.
    pub(super) fn holds(&self, data: &Map<String, Value>) -> Result<bool, String> {
        let mut context = Context::default();
        for (name, value) in data {
            context.add_variable_from_value(name.as_str(), known(value));
        }
        match self.program.execute(&context) {
            Ok(cel::Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it is of type {}, not a boolean", other.type_of())),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Condition").field(&self.source).finish()
    }
}

/// JSON as CEL knows it. A whole number is an `int`, never a `uint`: people write 3, not 3u.
fn known(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(it) => cel::Value::Bool(*it),
        Value::Number(number) => number
            .as_i64()
            .map(cel::Value::Int)
            .or_else(|| number.as_f64().map(cel::Value::Float))
            .unwrap_or(cel::Value::Null),
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => list.iter().map(known).collect::<Vec<_>>().into(),
        Value::Object(fields) => {
            let fields: HashMap<String, cel::Value> =
                fields.iter().map(|(name, value)| (name.clone(), known(value))).collect();
            fields.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(source: &str, data: &Value) -> Result<bool, String> {
        Condition::compile(source)?.holds(data.as_object().unwrap())
    }

    #[test]
    fn a_condition_is_judged_on_the_data() {
        let data = json!({ "score": 8, "share": 0.9, "text": "short", "pattern": { "confidence": 0.9, "seen": 3 } });

        for (source, holds) in [
            ("score > 7", true),
            ("share > 1", false),
            ("size(text) < 50", true),
            ("pattern.confidence >= 0.9 && pattern.seen >= 3", true),
            ("double(score) > double(share) * 3.0", true),
            ("has(pattern.other)", false),
        ] {
            assert_eq!(judged(source, &data), Ok(holds), "{source}");
        }
    }

    #[test]
    fn a_condition_that_is_no_boolean_says_why() {
        assert!(judged("score > 7", &json!({})).unwrap_err().contains("'score'"));
        assert!(judged("1 + 1", &json!({})).unwrap_err().contains("int"));
    }

    #[test]
    fn a_condition_that_does_not_compile_is_found_when_it_is_read() {
        for source in ["score >", "a AND b", "(", "", "'"] {
            assert!(Condition::compile(source).is_err(), "{source}");
        }
    }
}
