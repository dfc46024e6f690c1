//! A question as the model sees it: where it is in its life, and what it was told.

use serde_json::Value;

use super::{Rule, Violation, must, text};

/// A question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) session: String,
    pub(crate) to: String,
    pub(crate) blocking: bool,
    pub(crate) status: String,
    pub(crate) options: Vec<String>,
    pub(crate) fallback: Value,
    /// The answer that stands.
    pub(crate) answer: Value,
    /// Every answer that people and agents gave.
    pub(crate) heard: Vec<Value>,
    /// Whether the answer that stands is somebody's own, and not a fallback or what was learned.
    stands: bool,
    round: u64,
}

impl Question {
    pub(super) fn asked(data: &Value) -> Self {
        let options = data["options"].as_array().into_iter().flatten().map(|it| text(&it["id"])).collect();
        Self {
            id: text(&data["id"]),
            from: text(&data["from"]["agent"]),
            session: text(&data["from"]["session"]),
            to: text(&data["to"]),
            blocking: data["blocking"] == true,
            status: "open".to_owned(),
            options,
            fallback: data["fallback"]["answer"].clone(),
            answer: Value::Null,
            heard: Vec::new(),
            stands: false,
            round: 1,
        }
    }

    pub(crate) fn item(&self) -> &str {
        self.id.strip_prefix("CLR-").and_then(|it| it.rsplit_once('-')).map_or("", |(item, _)| item)
    }

    pub(crate) fn to_human(&self) -> bool {
        self.to.starts_with("human")
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "open" | "stale" | "escalated")
    }

    pub(super) fn changes(&mut self, kind: &str, data: &Value) -> Result<(), Violation> {
        let allowed: &[&str] = match kind {
            "question_followed_up" => &["answered"],
            "question_resolved" => &["answered", "escalated"],
            "question_stale" => &["open"],
            "question_escalated" => &["open", "stale", "answered"],
            "late_answer_recorded" => &["expired", "resolved"],
            "question_reused" => &["answered", "resolved", "expired"],
            _ => &["open", "stale", "escalated"],
        };
        let was = self.status.as_str();
        must(allowed.contains(&was), Rule::Final, || format!("{kind} of {}, which is {was}: {data}", self.id))?;
        let status = match kind {
            "question_followed_up" => "open",
            "question_resolved" => "resolved",
            "question_stale" => "stale",
            "question_escalated" => "escalated",
            "question_expired" => "expired",
            "question_withdrawn" => "withdrawn",
            "question_answered" => data["status"].as_str().unwrap_or_default(),
            _ => was,
        };
        self.status = status.to_owned();
        match kind {
            "question_escalated" => {
                "human".clone_into(&mut self.to);
                (self.answer, self.stands) = (Value::Null, false);
            }
            "question_expired" => (self.answer, self.stands) = (Value::Null, false),
            "question_followed_up" => {
                self.round += 1;
                let dense = data["round"] == self.round;
                must(dense, Rule::Dense, || format!("round {} of {} is {data}", self.round, self.id))?;
                (self.answer, self.stands) = (Value::Null, false);
            }
            _ => {}
        }
        if kind == "late_answer_recorded" {
            must(!self.stands, Rule::Final, || format!("{} was answered before: {data}", self.id))?;
        }
        if let Some(value) = data["answer"].get("value") {
            self.answer = value.clone();
            self.stands = matches!(data["answer"]["provenance"].as_str(), Some("human" | "agent"));
            if self.stands {
                self.heard.push(value.clone());
            }
        }
        Ok(())
    }
}
