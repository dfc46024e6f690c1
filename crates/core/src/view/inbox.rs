//! Questions in lists.

use serde::Serialize;

use super::delivery::DeliveryView;
use crate::command::Cause;
use crate::party::Party;
use crate::question::{Question, Status, words};

/// Which questions a list shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only those that are addressed to this party.
    pub to: Option<Party>,
    /// Only those of this status.
    pub status: StatusFilter,
}

words!(
    /// The statuses that a list shows.
    #[derive(Default)]
    StatusFilter {
        /// What still concerns somebody: open, answered, stale, escalated.
        #[default]
        Active = "active",
        /// Waits for its addressee.
        Open = "open",
        /// An agent answered.
        Answered = "answered",
        /// Settled.
        Resolved = "resolved",
        /// Waited too long.
        Stale = "stale",
        /// Goes in circles, as the monitor found.
        Stuck = "stuck",
        /// Waits for a human.
        Escalated = "escalated",
        /// Ended without an answer in time.
        Expired = "expired",
        /// Taken back.
        Withdrawn = "withdrawn",
        /// Everything.
        All = "all",
    }
);

impl StatusFilter {
    /// Whether only items with active questions can have what is wanted.
    pub fn only_active(self) -> bool {
        matches!(self, Self::Active | Self::Open | Self::Stale | Self::Stuck | Self::Escalated)
    }

    /// Whether a question of this status may be shown.
    pub fn may_show(self, status: Status) -> bool {
        match self {
            Self::Active => status.is_open() || status == Status::Answered,
            Self::Open => status == Status::Open,
            Self::Answered => status == Status::Answered,
            Self::Resolved => status == Status::Resolved,
            Self::Stale => status == Status::Stale,
            Self::Stuck | Self::Escalated => status == Status::Escalated,
            Self::Expired => status == Status::Expired,
            Self::Withdrawn => status == Status::Withdrawn,
            Self::All => true,
        }
    }

    /// Whether a question is shown.
    pub fn shows(self, question: &Question) -> bool {
        let is_stuck = || matches!(question.cause, Some(Cause::Stuck | Cause::Deadlock));
        self.may_show(question.status) && (self != Self::Stuck || is_stuck())
    }
}

impl Filter {
    /// Whether this question is shown.
    pub fn shows(&self, question: &Question) -> bool {
        let to = match &self.to {
            Some(Party::Human(_)) => question.to.is_human(),
            Some(to) => question.to == *to,
            None => true,
        };
        to && self.status.shows(question)
    }
}

/// A question in JSON: with its thread where it is shown alone, without it in a list.
pub struct QuestionView<'a> {
    /// The question.
    pub question: &'a Question,
    /// Whether its thread is part of it.
    pub with_thread: bool,
}

impl Serialize for QuestionView<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let q = self.question;
        macro_rules! fields {
            ($($field:ident),*) => {{
                // Whoever makes a value of it finds room for all of them at once.
                let count = [$(stringify!($field)),*].len() + 1 + usize::from(self.with_thread);
                let mut fields = serializer.serialize_struct("Question", count)?;
                $(fields.serialize_field(stringify!($field), &q.$field)?;)*
                fields
            }};
        }
        let mut fields = fields!(
            id,
            item,
            from,
            to,
            asked,
            kind,
            category,
            blocker,
            topic,
            prompt,
            context,
            details,
            options,
            expected,
            allow_free_text,
            blocking,
            fallback,
            evidence,
            tags,
            round,
            max_rounds,
            status,
            created_at,
            stale_at,
            remind_at,
            expires_at,
            resume_stage,
            answer
        );
        let deliveries: Vec<DeliveryView<'_>> = q.deliveries.iter().map(DeliveryView::of).collect();
        fields.serialize_field("deliveries", &deliveries)?;
        if self.with_thread {
            fields.serialize_field("thread", &q.thread)?;
        }
        fields.end()
    }
}
