//! The one primitive: a question, its thread and its answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::{Answer, Expected};
use crate::command::Cause;
use crate::delivery::Delivery;
use crate::id::{AgentName, ItemId, QuestionId, SessionId};
use crate::item::Stage;
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::team::Call;

/// A question with everything that was said about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// `CLR-<item>-<NNN>`.
    pub id: QuestionId,
    /// The item it belongs to.
    pub item: ItemId,
    /// Who asked.
    pub from: Asker,
    /// Whose turn it is to answer: an agent, or `human`.
    pub to: Party,
    /// Who was asked at first; `to` is another once it is escalated.
    pub asked: Party,
    /// Why it is asked.
    pub kind: Kind,
    /// What sort of decision it wants.
    pub category: Category,
    /// What stands in the way without an answer.
    pub blocker: Blocker,
    /// The subject, in a few words.
    pub topic: String,
    /// The question itself.
    pub prompt: String,
    /// What the reader must know to answer it.
    pub context: Option<String>,
    /// The same for programs.
    #[serde(serialize_with = "crate::canonical::fields")]
    pub details: Option<Map<String, Value>>,
    /// The choices, if it has some.
    pub options: Vec<Choice>,
    /// What an answer must look like.
    pub expected: Expected,
    /// Whether an answer may leave the options.
    pub allow_free_text: bool,
    /// Whether the asker waits.
    pub blocking: bool,
    /// What the asker does if nobody answers in time.
    pub fallback: Option<Fallback>,
    /// What the asker tried before asking.
    pub evidence: Option<BTreeMap<String, String>>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The round that the thread is in; 1 to begin with.
    pub round: u32,
    /// The last round that may be opened.
    pub max_rounds: u32,
    /// Where it is in its life.
    pub status: Status,
    /// When it was asked.
    pub created_at: Moment,
    /// When a question to an agent has waited too long.
    pub stale_at: Option<Moment>,
    /// When the human is reminded.
    pub remind_at: Option<Moment>,
    /// When it ends without an answer.
    pub expires_at: Option<Moment>,
    /// Where the item goes on when it is settled, if it paused the item.
    pub resume_stage: Option<Stage>,
    /// The answer that stands.
    pub answer: Option<Answer>,
    /// Why it went to a human, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What became of its notifications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<Delivery>,
    /// The agent that was asked, where Querent invokes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The conversation, append-only.
    pub thread: Vec<Entry>,
    /// The version of the item's stream that this is up to.
    pub version: u64,
}

impl Question {
    /// Whether only a human may settle it: nothing is assumed, learned or taken instead.
    pub fn is_guarded(&self) -> bool {
        let category = matches!(self.category, Category::PermissionOverride | Category::RiskAck);
        category || self.blocker == Blocker::SecurityDecision
    }

    /// The next moment at which something is due, if anything is.
    pub fn next_due(&self) -> Option<Moment> {
        if !self.status.is_open() {
            return None;
        }
        [self.stale_at, self.remind_at, self.expires_at].into_iter().flatten().min()
    }
}

/// The agent that asked, and in which session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The agent.
    pub agent: AgentName,
    /// Its session.
    pub session: SessionId,
}

/// Makes an enum whose variants are single words on every surface.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// Every one there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(format!("`{text}` is none of {}", [$($text),*].join(", "))),
                }
            }
        }
    };
}
pub(crate) use words;

words!(
    /// Why a question is asked. Only a `blocking` one blocks by default.
    Kind {
        /// Work cannot go on without the answer.
        Blocking = "blocking",
        /// Work goes on; the answer makes it better.
        Clarifying = "clarifying",
        /// The asker is nearly sure.
        Confirming = "confirming",
        /// So that people understand what happens.
        Educational = "educational",
        /// Something went well.
        Celebratory = "celebratory",
        /// A matter of taste, worth remembering.
        Preference = "preference",
    }
);

words!(
    /// What sort of decision is wanted. All but the first go to a human only.
    Category {
        /// What is meant.
        Clarification = "clarification",
        /// Leave to do what is not allowed.
        PermissionOverride = "permission_override",
        /// A decision from outside the project.
        ExternalDecision = "external_decision",
        /// Somebody must take a risk upon themselves.
        RiskAck = "risk_ack",
    }
);

words!(
    /// What stands in the way.
    Blocker {
        /// Nothing of the kinds below.
        None = "none",
        /// Two requirements exclude each other.
        MutuallyExclusiveRequirements = "mutually_exclusive_requirements",
        /// Data is needed that is not in the project.
        MissingExternalData = "missing_external_data",
        /// A choice that bears on security or law.
        SecurityDecision = "security_decision",
    }
);

words!(
    /// Where a question is in its life.
    Status {
        /// Waits for its addressee.
        Open = "open",
        /// An agent answered; the asker has the word.
        Answered = "answered",
        /// Settled.
        Resolved = "resolved",
        /// Waited too long; the addressee was called again.
        Stale = "stale",
        /// Waits for a human.
        Escalated = "escalated",
        /// Ended without an answer in time.
        Expired = "expired",
        /// Taken back, or ended with its item.
        Withdrawn = "withdrawn",
    }
);

impl Status {
    /// Waits for an answer.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Stale | Self::Escalated)
    }

    /// Never changes again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Resolved | Self::Expired | Self::Withdrawn)
    }
}

/// One of the answers that a question offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What a program answers.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// More about it.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the asker would take it.
    #[serde(default)]
    pub recommended: bool,
    /// What follows from it.
    #[serde(default)]
    pub implications: Option<String>,
}

/// What the asker does if nobody answers in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The answer that is taken.
    #[serde(serialize_with = "crate::canonical::value")]
    pub answer: Value,
    /// Why it is safe.
    pub reason: String,
    /// How bad it is if it is wrong.
    #[serde(default)]
    pub risk: Risk,
}

words!(
    /// How bad it is if a decision is wrong.
    #[derive(Default)]
    Risk {
        /// Easily undone.
        Low = "low",
        /// Some rework.
        #[default]
        Medium = "medium",
        /// Much rework, or harm.
        High = "high",
    }
);

/// One thing that was said or that happened. Entries are added and never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the thread; 1 for the first.
    pub seq: u32,
    /// The round it belongs to.
    pub round: u32,
    /// Who.
    pub from: Party,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// What was said.
    pub body: String,
    /// The answer's value, for a program.
    #[serde(serialize_with = "crate::canonical::optional")]
    pub value: Option<Value>,
    /// Through which surface.
    pub via: Via,
    /// When.
    pub at: Moment,
}

words!(
    /// What a thread's entry is.
    EntryKind {
        /// A question or a follow-up.
        Question = "question",
        /// An answer.
        Answer = "answer",
        /// The asker, or a human, settled it.
        Resolution = "resolution",
        /// It went to a human.
        Escalation = "escalation",
        /// A human was reminded.
        Reminder = "reminder",
        /// The addressee was called again.
        Retry = "retry",
        /// Its time ran out.
        Expiry = "expiry",
        /// It was taken back.
        Withdrawal = "withdrawal",
        /// An answer that came after the end.
        LateAnswer = "late_answer",
    }
);
