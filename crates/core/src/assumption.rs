//! What was decided without being told, kept so that people can look at it.

use serde::{Deserialize, Serialize};

use crate::id::{AssumptionId, ItemId, QuestionId};
use crate::moment::Moment;
use crate::party::Party;
use crate::question::{Blocker, Risk, words};

/// A decision that nobody confirmed when it was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumption {
    /// `ASM-<item>-<NNN>`.
    pub id: AssumptionId,
    /// The item that was built on it.
    pub item: ItemId,
    /// Who decided.
    pub by: Party,
    /// What was decided.
    pub decision: String,
    /// What stood in the way of knowing.
    pub blocker: Blocker,
    /// Where it comes from.
    pub source: Source,
    /// Why it is likely to be right.
    pub reasoning: String,
    /// How sure whoever decided is.
    pub confidence: Confidence,
    /// What it costs if it is wrong.
    pub risk_if_wrong: RiskIfWrong,
    /// The question that it answers, if there was one.
    pub question_id: Option<QuestionId>,
    /// What people say of it.
    pub status: AssumptionStatus,
    /// When it was made.
    pub created_at: Moment,
    /// Who judged it, and when.
    pub reviewed: Option<Reviewed>,
}

impl Assumption {
    /// Its place in the list that people review before they merge: what still stands first, then the riskiest, then the least
    /// sure, then the oldest.
    pub fn urgency(&self) -> impl Ord + use<> {
        let stands = self.status != AssumptionStatus::Standing;
        (stands, std::cmp::Reverse(self.risk_if_wrong.level), std::cmp::Reverse(self.confidence), self.created_at)
    }
}

/// What it costs if an assumption is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RiskIfWrong {
    /// How much.
    pub level: Risk,
    /// In words.
    #[serde(default)]
    pub note: Option<String>,
}

/// A judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reviewed {
    /// Whose.
    pub by: Party,
    /// When.
    pub at: Moment,
    /// In words.
    pub note: Option<String>,
}

words!(
    /// Where an assumption comes from.
    #[derive(Default)]
    Source {
        /// The code suggests it.
        #[default]
        InferredFromCodebase = "inferred_from_codebase",
        /// A person said so.
        UserConfirmed = "user_confirmed",
        /// Nobody answered in time, and the fallback was taken.
        TimeoutAssumed = "timeout_assumed",
        /// It was answered like this before.
        Learned = "learned",
        /// Another agent said so.
        AgentAnswer = "agent_answer",
        /// The project asks nobody, and the fallback was taken.
        Autonomy = "autonomy",
    }
);

words!(
    /// How sure whoever decided is; from sure to unsure.
    Confidence {
        /// Nearly certain.
        High = "high",
        /// Likely.
        Medium = "medium",
        /// A guess.
        Low = "low",
    }
);

words!(
    /// What people say of an assumption.
    AssumptionStatus {
        /// Nobody said anything yet.
        Standing = "standing",
        /// It is right.
        Confirmed = "confirmed",
        /// It is wrong; what was built on it needs rework.
        Overturned = "overturned",
    }
);

words!(
    /// Which assumptions a list shows.
    #[derive(Default)]
    AssumptionFilter {
        /// Those that nobody judged.
        Standing = "standing",
        /// Those that are right.
        Confirmed = "confirmed",
        /// Those that are wrong.
        Overturned = "overturned",
        /// Every one.
        #[default]
        All = "all",
    }
);

impl AssumptionFilter {
    /// Whether an assumption of this status is shown.
    pub fn shows(self, status: AssumptionStatus) -> bool {
        self == Self::All || self.as_str() == status.as_str()
    }
}

words!(
    /// How an assumption is judged.
    Verdict {
        /// It is right.
        Confirm = "confirm",
        /// It is wrong.
        Overturn = "overturn",
    }
);
