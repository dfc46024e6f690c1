//! What an agent owes that was asked: a direct answer, what it stands on, and what is not sure about it.

use serde::Serialize;
use serde_json::Value;

/// The reply of an agent that Querent invoked for an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentReply {
    /// The answer.
    #[serde(serialize_with = "crate::canonical::value")]
    pub answer: Value,
    /// What it stands on, and what binds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What is not sure about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<String>,
    /// Whether it is the text of a program that knows nothing of the contract.
    pub plain: bool,
}

/// Why a reply does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// There is nothing in it.
    Empty,
    /// It says that it does not know.
    Unsure,
    /// It does not say what it stands on.
    Evidence,
}

impl Lack {
    /// What the agent is asked next.
    pub fn follow_up(self) -> &'static str {
        match self {
            Self::Empty => {
                "Your reply was empty. Answer directly: what holds, what it stands on, and what is not sure about it."
            }
            Self::Unsure => {
                "That does not say what holds. Decide as well as you can from what you know and wrote, say what it stands \
                 on, and say what is not sure about it. If only a person can decide, say what they must decide."
            }
            Self::Evidence => "What does that stand on, and which constraints bind it? What is not sure about it?",
        }
    }
}

/// What says nothing, however it is put. A reply that goes on after it says something.
const UNSURE: &[&str] = &[
    "cannot say",
    "cant say",
    "do not know",
    "dont know",
    "i am not sure",
    "i am unsure",
    "i cannot say",
    "i cant say",
    "i do not know",
    "i dont know",
    "i have no idea",
    "idk",
    "im not sure",
    "im unsure",
    "it depends",
    "maybe",
    "n a",
    "no answer",
    "no comment",
    "no idea",
    "none",
    "not certain",
    "not clear",
    "not known",
    "not sure",
    "perhaps",
    "tbd",
    "to be decided",
    "to be defined",
    "unclear",
    "unknown",
    "unsure",
];
/// How many words may follow on such a beginning without making it an answer.
const MORE_WORDS: usize = 3;

/// What a reply lacks; none if it answers. `has_options`: a choice among options needs no more words.
pub fn lack(reply: &AgentReply, has_options: bool) -> Option<Lack> {
    let text = match &reply.answer {
        Value::Null => return Some(Lack::Empty),
        Value::String(text) => text,
        Value::Array(several) if several.is_empty() => return Some(Lack::Empty),
        // A number, a truth value or an object is an answer by its form.
        _ => return None,
    };
    let words = words(text);
    if words.is_empty() {
        return Some(Lack::Empty);
    }
    if is_unsure(&words) {
        return Some(Lack::Unsure);
    }
    let says_why = reply.evidence.as_deref().is_some_and(|it| !it.trim().is_empty());
    (!says_why && !reply.plain && !has_options).then_some(Lack::Evidence)
}

fn is_unsure(words: &[String]) -> bool {
    UNSURE.iter().any(|phrase| {
        let count = phrase.split(' ').count();
        let begins = words.iter().take(count).map(String::as_str).eq(phrase.split(' '));
        begins && words.len() <= count + MORE_WORDS
    })
}

/// The words of a text without case and punctuation; an apostrophe parts nothing.
fn words(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).flat_map(char::to_lowercase).collect();
    plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(answer: impl Into<Value>) -> AgentReply {
        AgentReply { answer: answer.into(), evidence: Some("ADR-7".to_owned()), uncertainty: None, plain: false }
    }

    #[test]
    fn an_answer_that_stands_on_something_answers() {
        for text in ["Postgres, as in the ADR", "none of the tables needs it, because ADR-7 moved them", "42", "ja"] {
            assert_eq!(lack(&said(text), false), None, "{text}");
        }
        assert_eq!(lack(&said(json!(3)), false), None);
        assert_eq!(lack(&said(json!({ "db": "pg" })), false), None);
    }

    #[test]
    fn what_says_that_it_does_not_know_does_not_answer() {
        for text in [
            "not sure",
            "Not sure.",
            "I don't know, sorry",
            "I\u{2019}m not sure about that",
            "It depends",
            "TBD",
            "N/A",
        ] {
            assert_eq!(lack(&said(text), false), Some(Lack::Unsure), "{text}");
        }
    }

    #[test]
    fn what_is_empty_does_not_answer() {
        for answer in [json!(null), json!(""), json!(" \n "), json!("..."), json!([])] {
            assert_eq!(lack(&said(answer.clone()), false), Some(Lack::Empty), "{answer}");
        }
    }

    #[test]
    fn an_answer_without_evidence_lacks_it_unless_it_is_a_choice_or_plain_text() {
        let bare = AgentReply { evidence: None, ..said("Postgres") };

        assert_eq!(lack(&bare, false), Some(Lack::Evidence));
        assert_eq!(lack(&bare, true), None);
        assert_eq!(lack(&AgentReply { plain: true, ..bare }, false), None);
    }
}
