//! Who waits for whom, and who holds which files.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Model, Rule, Violation, must, text};

/// A session, and the agent in it.
type Session = (String, String);

impl Model {
    /// The sessions that cannot go on, however the others do. A session goes on when every agent that it asked can answer; an
    /// agent can answer while one of its sessions goes on, or while it has none. A human will answer.
    pub(crate) fn deadlocked(&self) -> Vec<Session> {
        let mut held: BTreeMap<Session, Vec<&str>> = BTreeMap::new();
        for item in self.items.values().filter(|item| !item.ended) {
            for (session, agent) in &item.sessions {
                held.entry((session.clone(), agent.clone())).or_default();
            }
            for question in item.questions.iter().filter(|it| it.is_open() && it.blocking) {
                let waits = held.entry((question.session.clone(), question.from.clone())).or_default();
                waits.extend(Some(question.to.as_str()).filter(|_| !question.to_human()));
            }
        }
        let agents: Vec<String> = held.keys().map(|(_, agent)| agent.clone()).collect();
        let mut freed: Vec<String> = Vec::new();
        loop {
            let answers = |agent: &str| freed.iter().any(|it| it == agent) || !agents.iter().any(|it| it == agent);
            let free: Vec<Session> =
                held.iter().filter(|(_, asked)| asked.iter().copied().all(answers)).map(|(it, _)| it.clone()).collect();
            if free.is_empty() {
                return held.into_keys().collect();
            }
            for session in free {
                held.remove(&session);
                freed.push(session.1);
            }
        }
    }

    /// Files are given and taken.
    pub(super) fn lock(&mut self, record: &Value) -> Result<(), Violation> {
        let data = &record["data"];
        let session = text(&data["session"]);
        for path in data["paths"].as_array().into_iter().flatten().map(text) {
            match record["type"].as_str() {
                Some("lock_granted") => {
                    let other = self.locks.iter().find(|(held, by)| **by != session && meet(held, &path));
                    must(other.is_none(), Rule::Locked, || format!("{path} of {session} is held: {other:?}"))?;
                    self.locks.insert(path, session.clone());
                }
                Some("lock_released" | "lock_expired") => {
                    let by = self.locks.remove(&path);
                    must(by.as_ref() == Some(&session), Rule::Locked, || format!("{path} was of {by:?}: {data}"))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether two paths are one, or one is above the other.
fn meet(one: &str, other: &str) -> bool {
    let above = |above: &str, below: &str| below.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    one == other || above(one, other) || above(other, one)
}
