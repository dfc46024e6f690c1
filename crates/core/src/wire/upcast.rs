//! How a line of an older version becomes one of the latest.

use serde_json::Value;

/// The version that is written.
pub const LATEST: u32 = 1;

/// One step for each older version: `UPCASTS[0]` makes version 2 of version 1. Version 1 is the first, so there is none yet.
const UPCASTS: &[fn(&mut Value)] = &[];

/// Brings a line of version `from` to the latest; nothing if the version is unknown.
pub(super) fn upcast(line: Value, from: u32) -> Option<Value> {
    through(UPCASTS, line, from)
}

fn through(steps: &[fn(&mut Value)], mut line: Value, from: u32) -> Option<Value> {
    let skip = usize::try_from(from).ok()?.checked_sub(1)?;
    for step in steps.get(skip..)? {
        step(&mut line);
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn there_is_a_step_for_every_version_but_the_latest() {
        assert_eq!(UPCASTS.len() + 1, LATEST as usize);
    }

    #[test]
    fn a_line_takes_every_step_from_its_own_version_on() {
        let steps: &[fn(&mut Value)] = &[
            |line| line["title"] = line["name"].take(),
            |line| line["title"] = json!(line["title"].as_str().map(str::to_uppercase)),
        ];

        assert_eq!(through(steps, json!({"name": "a"}), 1).unwrap()["title"], "A");
        assert_eq!(through(steps, json!({"title": "b"}), 2).unwrap()["title"], "B");
        assert_eq!(through(steps, json!({"title": "c"}), 3).unwrap()["title"], "c");
        assert_eq!(through(steps, json!({}), 4), None);
        assert_eq!(through(steps, json!({}), 0), None);
    }
}
