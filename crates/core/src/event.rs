//! What happened. Events are the truth; everything else is derived from them.

mod data;
mod delivery;
mod team;

use serde::Serialize;

use crate::id::{OperationId, QuestionId};
use crate::moment::Moment;
use crate::party::Party;
use crate::stream::{Shared, Stream};

pub use data::*;
pub use delivery::*;
pub use team::*;

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
    /// An agent is gone.
    SessionLost = "session_lost",
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
    /// Files are in the hands of a session.
    LockGranted = "lock_granted",
    /// They are not any more.
    LockReleased = "lock_released",
    /// They are not any more, because nobody renewed that.
    LockExpired = "lock_expired",
    /// A session waits for files.
    LockWaited = "lock_waited",
    /// It does not any more.
    LockWaitEnded = "lock_wait_ended",
    /// Files have an owner, or have none any more.
    FileOwned = "file_owned",
    /// People should look at something.
    AlertRaised = "alert_raised",
    /// Somebody has.
    AlertAcknowledged = "alert_acknowledged",
    /// Somebody is let in.
    TokenCreated = "token_created",
    /// Somebody is let in no more.
    TokenRevoked = "token_revoked",
    /// A way in was given out that can be used once.
    LoginOffered = "login_offered",
    /// It was used.
    LoginUsed = "login_used",
    /// A session waits outside of any process.
    SessionParked = "session_parked",
    /// It goes on.
    SessionWoken = "session_woken",
    /// Somebody resumes it.
    SessionClaimed = "session_claimed",
    /// Its program has ended.
    SessionResumed = "session_resumed",
    /// A program was told what happened.
    SessionTold = "session_told",
    /// Somebody sends a notification.
    EffectClaimed = "effect_claimed",
    /// It is sent, or given up.
    EffectDone = "effect_done",
    /// What was given up is tried again.
    EffectRequeued = "effect_requeued",
    /// People are told of an alert.
    AlertTold = "alert_told",
    /// Somebody opened the link of a notification.
    DeliverySeen = "delivery_seen",
    /// An agent is invoked.
    TurnBegun = "turn_begun",
    /// Something became known of its turn.
    TurnNoted = "turn_noted",
    /// It said something for the record.
    TurnSaid = "turn_said",
    /// Its turn is over.
    TurnEnded = "turn_ended",
    /// The agent that was asked is invoked.
    AgentCalled = "agent_called",
    /// That came to nothing.
    AgentCallFailed = "agent_call_failed",
    /// Somebody told the agents something.
    MessageSent = "message_sent",
    /// Something happened that agents listen to.
    EventEmitted = "event_emitted",
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
            Self::EffectClaimed(it) => Some(&it.question),
            Self::EffectDone(it) => Some(&it.question),
            Self::EffectRequeued(it) => Some(&it.question),
            Self::DeliverySeen(it) => Some(&it.question),
            Self::AgentCalled(it) => Some(&it.question),
            Self::AgentCallFailed(it) => Some(&it.question),
            Self::ItemOpened(_)
            | Self::ItemMoved(_)
            | Self::ItemPaused(_)
            | Self::ItemResumed(_)
            | Self::ItemEnded(_)
            | Self::SessionStarted(_)
            | Self::SessionFinished(_)
            | Self::SessionLost(_)
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
            | Self::LearnedAnswerRevoked(_)
            | Self::LockGranted(_)
            | Self::LockReleased(_)
            | Self::LockExpired(_)
            | Self::LockWaited(_)
            | Self::LockWaitEnded(_)
            | Self::FileOwned(_)
            | Self::AlertRaised(_)
            | Self::AlertAcknowledged(_)
            | Self::TokenCreated(_)
            | Self::TokenRevoked(_)
            | Self::LoginOffered(_)
            | Self::LoginUsed(_)
            | Self::AlertTold(_)
            | Self::SessionParked(_)
            | Self::SessionWoken(_)
            | Self::SessionClaimed(_)
            | Self::SessionResumed(_)
            | Self::SessionTold(_)
            | Self::TurnBegun(_)
            | Self::TurnNoted(_)
            | Self::TurnSaid(_)
            | Self::TurnEnded(_)
            | Self::MessageSent(_)
            | Self::EventEmitted(_) => None,
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
            Self::LockGranted(_)
            | Self::LockReleased(_)
            | Self::LockExpired(_)
            | Self::LockWaited(_)
            | Self::LockWaitEnded(_)
            | Self::FileOwned(_) => Some(Shared::Resources),
            Self::TokenCreated(_) | Self::TokenRevoked(_) | Self::LoginOffered(_) | Self::LoginUsed(_) => {
                Some(Shared::Access)
            }
            Self::AlertRaised(_) | Self::AlertAcknowledged(_) | Self::AlertTold(_) => Some(Shared::Alerts),
            _ => None,
        }
    }
}
