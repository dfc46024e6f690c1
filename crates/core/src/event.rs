//! What happened. Events are the truth; everything else is derived from them.

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::assumption::Assumption;
use crate::command::Cause;
use crate::id::{AgentName, AssumptionId, Fingerprint, LearnedId, OperationId, QuestionId, SessionId};
use crate::item::{OpenQuestion, Outcome, Stage};
use crate::learned::Learned;
use crate::moment::Moment;
use crate::party::{Party, Via};
use crate::policy::Autonomy;
use crate::question::{Asker, Question, Status, words};
use crate::stream::{Shared, Stream};

/// An event in its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its place in the journal; dense, 1 for the first.
    pub seq: u64,
    /// The stream that it belongs to: an item's, or a shared one.
    pub stream: Stream,
    /// Its place among the events of its stream; dense, 1 for the first.
    pub version: u64,
    /// When it happened.
    pub at: Moment,
    /// Who made it happen.
    pub by: Party,
    /// The operation that it was part of; none for a deadline.
    pub operation_id: Option<OperationId>,
    /// What happened.
    pub event: Event,
}

/// Makes [`Event`] from one table: the variant, its name in the journal, and the type of its data.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What happened to an item.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Event { $($(#[$doc])* $name($name),)* }

        impl Event {
            /// The types of event that there are.
            pub const TYPES: &[&str] = &[$($text,)*];

            /// Its `type` in the journal.
            pub const fn type_name(&self) -> &'static str {
                match self { $(Self::$name(_) => $text,)* }
            }

            /// Writes its `data`.
            pub(crate) fn serialize_data<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$name(data) => data.serialize(serializer),)* }
            }

            /// Reads the `data` of an event of this `type`; nothing if the type is unknown.
            pub(crate) fn read_data(type_name: &str, data: &str) -> Option<serde_json::Result<Self>> {
                match type_name {
                    $($text => Some(serde_json::from_str::<$name>(data).map(Self::$name)),)*
                    _ => None,
                }
            }
        }

        $(impl From<$name> for Event {
            fn from(data: $name) -> Self {
                Self::$name(data)
            }
        })*
    };
}

events! {
    /// A new item.
    ItemOpened = "item_opened",
    /// It went to another stage.
    ItemMoved = "item_moved",
    /// It waits for a human.
    ItemPaused = "item_paused",
    /// It goes on.
    ItemResumed = "item_resumed",
    /// It is over.
    ItemEnded = "item_ended",
    /// An agent works on it.
    SessionStarted = "session_started",
    /// An agent has done its work.
    SessionFinished = "session_finished",
    /// A question.
    QuestionAsked = "question_asked",
    /// The next round of it.
    QuestionFollowedUp = "question_followed_up",
    /// An answer.
    QuestionAnswered = "question_answered",
    /// It is settled.
    QuestionResolved = "question_resolved",
    /// The addressee let its time pass.
    QuestionStale = "question_stale",
    /// The addressee is called again.
    QuestionRetried = "question_retried",
    /// It goes to a human.
    QuestionEscalated = "question_escalated",
    /// The human is reminded.
    QuestionReminded = "question_reminded",
    /// Nobody answered in time.
    QuestionExpired = "question_expired",
    /// It is taken back.
    QuestionWithdrawn = "question_withdrawn",
    /// An answer after the end.
    LateAnswerRecorded = "late_answer_recorded",
    /// Something was decided without being told.
    AssumptionRecorded = "assumption_recorded",
    /// That was right.
    AssumptionConfirmed = "assumption_confirmed",
    /// That was wrong.
    AssumptionOverturned = "assumption_overturned",
    /// It was asked again, and the answer stands.
    QuestionReused = "question_reused",
    /// A strict question is active.
    QuotaTaken = "quota_taken",
    /// It is settled.
    QuotaFreed = "quota_freed",
    /// A human's answer, in case that it is given again.
    AnswerNoted = "answer_noted",
    /// An answer that is given without asking from now on.
    AnswerLearned = "answer_learned",
    /// It was.
    LearnedAnswerUsed = "learned_answer_used",
    /// A human said otherwise.
    LearnedAnswerOverruled = "learned_answer_overruled",
    /// It is not given any more.
    LearnedAnswerRevoked = "learned_answer_revoked",
}

impl Event {
    /// The question that it is about, if it is about one.
    pub fn question(&self) -> Option<&QuestionId> {
        match self {
            Self::QuestionAsked(it) => Some(&it.question.id),
            Self::QuestionFollowedUp(it) => Some(&it.question),
            Self::QuestionAnswered(it) => Some(&it.question),
            Self::QuestionResolved(it) => Some(&it.question),
            Self::QuestionStale(it) => Some(&it.question),
            Self::QuestionRetried(it) => Some(&it.question),
            Self::QuestionEscalated(it) => Some(&it.question),
            Self::QuestionReminded(it) => Some(&it.question),
            Self::QuestionExpired(it) => Some(&it.question),
            Self::QuestionWithdrawn(it) => Some(&it.question),
            Self::LateAnswerRecorded(it) => Some(&it.question),
            Self::ItemOpened(_)
            | Self::ItemMoved(_)
            | Self::ItemPaused(_)
            | Self::ItemResumed(_)
            | Self::ItemEnded(_)
            | Self::SessionStarted(_)
            | Self::SessionFinished(_)
            | Self::AssumptionRecorded(_)
            | Self::AssumptionConfirmed(_)
            | Self::AssumptionOverturned(_)
            | Self::QuestionReused(_)
            | Self::QuotaTaken(_)
            | Self::QuotaFreed(_)
            | Self::AnswerNoted(_)
            | Self::AnswerLearned(_)
            | Self::LearnedAnswerUsed(_)
            | Self::LearnedAnswerOverruled(_)
            | Self::LearnedAnswerRevoked(_) => None,
        }
    }

    /// The shared stream that it belongs to, whatever the command was about; none if that is the item's own.
    pub const fn shared(&self) -> Option<Shared> {
        match self {
            Self::QuotaTaken(_) | Self::QuotaFreed(_) => Some(Shared::Quota),
            Self::AnswerNoted(_)
            | Self::AnswerLearned(_)
            | Self::LearnedAnswerUsed(_)
            | Self::LearnedAnswerOverruled(_)
            | Self::LearnedAnswerRevoked(_) => Some(Shared::Knowledge),
            _ => None,
        }
    }
}

/// Declares the data of an event.
macro_rules! data {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {
        $($(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name { $($(#[$fdoc])* pub $field: $type,)* })*
    };
}

data! {
    /// A new item.
    ItemOpened {
        /// What it is about.
        title: String,
        /// The workflow it follows.
        workflow: String,
        /// The first step.
        stage: Stage,
        /// How readily its agents ask, where that is not as the project says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        autonomy: Option<Autonomy>,
    }
    /// It went to another stage.
    ItemMoved {
        /// From here.
        from: Stage,
        /// To there.
        to: Stage,
        /// Why, where it is not plain.
        reason: Option<String>,
        /// The question whose expiry moved it.
        question: Option<QuestionId>,
        /// Where it goes on if that question is answered late.
        resume_stage: Option<Stage>,
    }
    /// It waits for a human.
    ItemPaused {
        /// The question that it waits for.
        question: QuestionId,
        /// Where it goes on afterwards.
        resume_stage: Stage,
    }
    /// It goes on.
    ItemResumed {
        /// Where.
        to: Stage,
        /// Why there.
        reason: String,
        /// The question that was settled.
        question: QuestionId,
    }
    /// It is over.
    ItemEnded {
        /// How.
        outcome: Outcome,
        /// Why, where nobody ended it by hand.
        reason: Option<String>,
    }
    /// An agent works on it.
    SessionStarted {
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
    }
    /// An agent has done its work.
    SessionFinished {
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
    }
    /// A question.
    QuestionAsked {
        /// All of it; its thread is empty here and begins with this event.
        question: Box<Question>,
        /// What it is known by when it is asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<Fingerprint>,
        /// Whether it passed the strict gate.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        strict: bool,
        /// Through which surface.
        via: Via,
    }
    /// The next round of it.
    QuestionFollowedUp {
        /// The question.
        question: QuestionId,
        /// The round that begins.
        round: u32,
        /// What is asked now.
        prompt: String,
        /// When the addressee has waited too long with it.
        stale_at: Option<Moment>,
        /// What the item keeps of it while it waits.
        waits: OpenQuestion,
        /// Through which surface.
        via: Via,
    }
    /// An answer.
    QuestionAnswered {
        /// The question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
        /// `answered` by an agent, `resolved` by a human.
        status: Status,
    }
    /// It is settled.
    QuestionResolved {
        /// The question.
        question: QuestionId,
        /// What came of it.
        note: Option<String>,
        /// The answer, where a human settled what nobody had answered.
        answer: Option<Answer>,
        /// Through which surface.
        via: Via,
    }
    /// The addressee let its time pass.
    QuestionStale {
        /// The question.
        question: QuestionId,
        /// When the second time passes.
        stale_at: Moment,
    }
    /// The addressee is called again.
    QuestionRetried {
        /// The question.
        question: QuestionId,
        /// The agent that is called.
        to: Party,
    }
    /// It goes to a human.
    QuestionEscalated {
        /// The question.
        question: QuestionId,
        /// Why.
        cause: Cause,
        /// What the human should know.
        summary: String,
        /// Where the item goes on when it is settled, if it pauses the item.
        resume_stage: Option<Stage>,
        /// When the human is reminded.
        remind_at: Option<Moment>,
        /// When it ends without an answer.
        expires_at: Option<Moment>,
        /// What the item keeps of it while it waits.
        waits: OpenQuestion,
        /// Through which surface.
        via: Via,
    }
    /// Whoever is to answer is reminded.
    QuestionReminded {
        /// The question.
        question: QuestionId,
        /// When again.
        remind_at: Option<Moment>,
        /// When it ends without an answer; none if it waits on.
        expires_at: Option<Moment>,
        /// What the item keeps of it while it waits.
        waits: OpenQuestion,
    }
    /// Nobody answered in time.
    QuestionExpired {
        /// The question.
        question: QuestionId,
        /// What follows.
        effect: ExpiryEffect,
        /// The fallback, as an answer, where it was applied.
        answer: Option<Answer>,
    }
    /// It is taken back.
    QuestionWithdrawn {
        /// The question.
        question: QuestionId,
        /// Why.
        reason: Option<String>,
        /// Through which surface.
        via: Via,
    }
    /// An answer after the end.
    LateAnswerRecorded {
        /// The question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
        /// Whether it differs from what was done without it.
        differs: bool,
        /// What the question is known by when it is asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<Fingerprint>,
    }
    /// Something was decided without being told.
    AssumptionRecorded {
        /// All of it.
        assumption: Box<Assumption>,
    }
    /// That was right.
    AssumptionConfirmed {
        /// The assumption.
        assumption: AssumptionId,
        /// In words.
        note: Option<String>,
        /// Through which surface.
        via: Via,
    }
    /// That was wrong.
    AssumptionOverturned {
        /// The assumption.
        assumption: AssumptionId,
        /// In words.
        note: Option<String>,
        /// Through which surface.
        via: Via,
    }
    /// It was asked again, and the answer stands.
    QuestionReused {
        /// The question that has the answer.
        question: QuestionId,
        /// Who asked again.
        from: Asker,
        /// Through which surface.
        via: Via,
    }
    /// A strict question is active.
    QuotaTaken {
        /// The question.
        question: QuestionId,
    }
    /// It is settled.
    QuotaFreed {
        /// The question.
        question: QuestionId,
    }
    /// A human's answer, in case that it is given again.
    AnswerNoted {
        /// What was asked.
        pattern: Fingerprint,
        /// What was answered.
        answer: Fingerprint,
        /// The question.
        question: QuestionId,
    }
    /// An answer that is given without asking from now on.
    AnswerLearned {
        /// All of it.
        learned: Box<Learned>,
    }
    /// It was.
    LearnedAnswerUsed {
        /// What was learned.
        learned: LearnedId,
        /// The question that it answered.
        question: QuestionId,
    }
    /// A human said otherwise.
    LearnedAnswerOverruled {
        /// What was learned.
        learned: LearnedId,
        /// The question that it was about.
        question: QuestionId,
    }
    /// It is not given any more.
    LearnedAnswerRevoked {
        /// What was learned.
        learned: LearnedId,
        /// In words.
        note: Option<String>,
        /// Through which surface.
        via: Via,
    }
}

words!(
    /// What follows from an expiry.
    ExpiryEffect {
        /// The asker's fallback is the answer.
        Fallback = "fallback",
        /// The item is blocked.
        Block = "block",
        /// The item has failed.
        Fail = "fail",
        /// Nothing but the end of the question.
        Nothing = "nothing",
    }
);
