//! The unit of work: where it stands, who works on it, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::assumption::Assumption;
use crate::id::{AgentName, Fingerprint, ItemId, QuestionId, SessionId};
use crate::moment::Moment;
use crate::news::Board;
use crate::parked::Parked;
use crate::party::Party;
use crate::policy::Autonomy;
use crate::question::{Question, Status, words};
use crate::session::Session;
use crate::settled::Settlements;
use crate::team::Team;

/// An item without the text of its questions: what every decision about it needs, however long its history is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// What it is about.
    pub title: String,
    /// The workflow it follows.
    pub workflow: String,
    /// Where it is.
    pub stage: Stage,
    /// Where it goes on after its pause.
    pub resume_stage: Option<Stage>,
    /// Since when it waits for a human.
    pub awaiting_since: Option<Moment>,
    /// Why it stands where it stands, where that is not plain.
    pub status_reason: Option<String>,
    /// Whether something that it was built on turned out to be wrong.
    pub needs_rework: bool,
    /// The question whose expiry blocked it.
    pub blocked_by: Option<QuestionId>,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it last changed.
    pub updated_at: Moment,
    /// Who works on it.
    pub sessions: BTreeMap<SessionId, Session>,
    /// How many questions were asked; the next has the number after it.
    pub asked: u32,
    /// The questions that wait for an answer, by number.
    pub open: BTreeMap<u32, OpenQuestion>,
    /// The questions that an agent answered and nobody settled yet, by number.
    pub answered: BTreeSet<u32>,
    /// How readily its agents ask, where that is not as the project says.
    #[serde(default)]
    pub autonomy: Option<Autonomy>,
    /// What was decided on it without being told, by number.
    #[serde(default)]
    pub assumptions: BTreeMap<u32, Assumption>,
    /// The last questions that somebody answered, by number: what they are known by.
    #[serde(default, skip_serializing_if = "Settlements::is_empty")]
    pub settled: Settlements,
    /// The sessions that wait outside of any process, by the number of their question.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parked: BTreeMap<u32, Parked>,
    /// What happened, and who was told.
    #[serde(default, skip_serializing_if = "Board::is_empty")]
    pub board: Board,
    /// The team that works on it, where Querent runs one.
    #[serde(default, skip_serializing_if = "Team::is_empty")]
    pub team: Team,
    /// How many events made it.
    pub version: u64,
}

impl Item {
    /// Which of its questions that are known by this was answered last: by a human, or by anybody.
    pub(crate) fn last_answered(&self, pattern: &Fingerprint, by_human: bool) -> Option<(QuestionId, Moment)> {
        self.settled.last(pattern, by_human).map(|(number, at)| (self.question_id(number), at))
    }

    /// Whether it is `merged` or `failed`.
    pub fn has_ended(&self) -> bool {
        self.stage.is_terminal()
    }

    /// Whether somebody should look at its questions: one waits, or has an answer that nobody settled.
    pub fn has_active_questions(&self) -> bool {
        let has_some = !self.open.is_empty() || !self.answered.is_empty();
        has_some && !self.has_ended()
    }

    /// Whether somebody should look at it: it has active questions, somebody works on it, or a session of it is parked.
    pub fn is_active(&self) -> bool {
        let is_busy = || self.sessions.values().any(|session| session.busy_since.is_some());
        self.has_active_questions() || is_busy() || !self.parked.is_empty()
    }

    /// The id of its question with this number.
    pub fn question_id(&self, number: u32) -> QuestionId {
        QuestionId { item: self.id.clone(), number }
    }

    /// The questions that hold it in `awaiting_input`, oldest first.
    pub fn blocking_human(&self) -> impl Iterator<Item = (QuestionId, &OpenQuestion)> {
        self.open.iter().filter(|(_, it)| it.blocking && it.to.is_human()).map(|(n, it)| (self.question_id(*n), it))
    }

    /// Whether any blocking question waits for its answer, whoever is asked.
    pub fn has_open_blocking(&self) -> bool {
        self.open.values().any(|it| it.blocking)
    }

    /// The step that it stands in; while it waits for a human, the step that it goes back to.
    pub fn step(&self) -> Option<&str> {
        match (&self.stage, &self.resume_stage) {
            (Stage::Step(step), _) | (Stage::AwaitingInput, Some(Stage::Step(step))) => Some(step),
            _ => None,
        }
    }
}

/// What an item knows of a question that waits: enough to decide without reading the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The agent that asked.
    pub agent: AgentName,
    /// Its session.
    pub session: SessionId,
    /// Who is to answer.
    pub to: Party,
    /// Whether the asker waits.
    pub blocking: bool,
    /// `open`, `stale` or `escalated`.
    pub status: Status,
    /// When it was asked.
    pub created_at: Moment,
    /// When it ends without an answer.
    pub expires_at: Option<Moment>,
    /// When the next deadline of it passes.
    pub due: Option<Moment>,
    /// What it is known by when it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Fingerprint>,
    /// Whether it passed the strict gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Whether Querent itself asks what is to become of the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub about_session: bool,
}

impl OpenQuestion {
    /// What the item keeps of `question`.
    pub fn of(question: &Question) -> Self {
        Self {
            agent: question.from.agent.clone(),
            session: question.from.session.clone(),
            to: question.to.clone(),
            blocking: question.blocking,
            status: question.status,
            created_at: question.created_at,
            expires_at: question.expires_at,
            due: question.next_due(),
            pattern: None,
            strict: false,
            about_session: false,
        }
    }
}

/// Where an item is: a step of its workflow, or one of the five places that every workflow has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Stage {
    /// A step of the workflow.
    Step(String),
    /// Waits for a human's answer.
    AwaitingInput,
    /// Stopped; a person must move it on.
    Blocked,
    /// All steps are done.
    ReadyToMerge,
    /// Ended well.
    Merged,
    /// Ended badly.
    Failed,
}

impl Stage {
    /// The stages that every workflow has; no step bears their names.
    pub const FIXED: &[&str] = &["awaiting_input", "blocked", "ready_to_merge", "merged", "failed"];

    /// Its name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Step(name) => name,
            Self::AwaitingInput => "awaiting_input",
            Self::Blocked => "blocked",
            Self::ReadyToMerge => "ready_to_merge",
            Self::Merged => "merged",
            Self::Failed => "failed",
        }
    }

    /// Whether the item has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Merged | Self::Failed)
    }
}

impl From<String> for Stage {
    fn from(name: String) -> Self {
        match name.as_str() {
            "awaiting_input" => Self::AwaitingInput,
            "blocked" => Self::Blocked,
            "ready_to_merge" => Self::ReadyToMerge,
            "merged" => Self::Merged,
            "failed" => Self::Failed,
            _ => Self::Step(name),
        }
    }
}

impl From<Stage> for String {
    fn from(stage: Stage) -> Self {
        stage.as_str().to_owned()
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

words!(
    /// How an item ends.
    Outcome {
        /// Its work was taken.
        Merged = "merged",
        /// Its work was given up.
        Failed = "failed",
    }
);

impl From<Outcome> for Stage {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Merged => Self::Merged,
            Outcome::Failed => Self::Failed,
        }
    }
}
