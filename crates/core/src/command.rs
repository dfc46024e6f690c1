//! What somebody wants to happen to an item, or to what all items share.

mod shared;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::Expected;
use crate::assumption::{Confidence, RiskIfWrong, Source, Verdict};
use crate::contract::AgentReply;
use crate::delivery::Errand;
use crate::id::{AgentName, AssumptionId, EventName, Fingerprint, ItemId, ProgramHandle, QuestionId, SessionId};
use crate::item::Outcome;
use crate::moment::{Moment, Span};
use crate::parked::{Claim, Program};
use crate::party::{Party, Via};
use crate::path::ProjectPath;
use crate::policy::Autonomy;
use crate::question::{Blocker, Category, Choice, Fallback, Kind, words};
use crate::session::Process;
use crate::spelt;
use crate::team::{CallDeed, TurnDeed};

pub use shared::{SharedAction, SharedCommand};

/// A wish, and whose it is. Whether it comes true is for [`decide`](crate::decide()) to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The item that it touches.
    pub item: ItemId,
    /// Who wants it.
    pub by: Party,
    /// Through which surface.
    pub via: Via,
    /// What is wanted.
    pub action: Action,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A new item.
    OpenItem {
        /// What it is about.
        title: String,
        /// The workflow; without one, the project's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
        /// How readily its agents ask; without it, as the project says.
        #[serde(skip_serializing_if = "Option::is_none")]
        autonomy: Option<Autonomy>,
    },
    /// An agent begins to work.
    StartSession {
        /// Its session; without one, `<agent>@<item>`.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The process that it runs in.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
    },
    /// An agent has done its work.
    FinishSession {
        /// Its session; without one, `<agent>@<item>`.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Leave the item where it is.
        keep: bool,
    },
    /// A person moves the item.
    Advance {
        /// The stage it goes to.
        to: String,
    },
    /// A person ends the item.
    EndItem {
        /// How it ends.
        outcome: Outcome,
    },
    /// A question.
    Ask(Box<Ask>),
    /// The next round of an answered question.
    FollowUp {
        /// The question.
        question: QuestionId,
        /// What is asked now.
        prompt: String,
    },
    /// An answer.
    Answer {
        /// The question.
        question: QuestionId,
        /// The answer, as it was given.
        #[serde(serialize_with = "crate::canonical::value")]
        answer: Value,
        /// Why, or what else should be known.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// An answer to what is asked in one round, and to no other: that of a notification.
    AnswerRound {
        /// The question.
        question: QuestionId,
        /// The round.
        round: u32,
        /// The answer, as it was given.
        #[serde(serialize_with = "crate::canonical::value")]
        answer: Value,
    },
    /// The asker has what it needs.
    Resolve {
        /// The question.
        question: QuestionId,
        /// What came of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A human is to decide.
    Escalate {
        /// The question.
        question: QuestionId,
        /// What the human should know.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// Why.
        cause: Cause,
    },
    /// The question is taken back.
    Withdraw {
        /// The question.
        question: QuestionId,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A decision that was taken without being told.
    Assume(Box<Assume>),
    /// A person judges an assumption.
    Review {
        /// The assumption.
        assumption: AssumptionId,
        /// What it is found to be.
        verdict: Verdict,
        /// In words.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A deadline: the addressee had its time and is called once more.
    Retry {
        /// The question.
        question: QuestionId,
    },
    /// A deadline: the human is reminded.
    Remind {
        /// The question.
        question: QuestionId,
    },
    /// A deadline: nobody answered.
    Expire {
        /// The question.
        question: QuestionId,
    },
    /// A session wants files for itself, all of them at once. It may have them already.
    Lock {
        /// The session.
        session: SessionId,
        /// The files.
        paths: BTreeSet<ProjectPath>,
        /// For how long.
        ttl: Span,
        /// Whether it waits if others have them.
        wait: bool,
    },
    /// A session gives files back.
    Unlock {
        /// The session.
        session: SessionId,
        /// The files; all that it has, if none is named.
        paths: BTreeSet<ProjectPath>,
    },
    /// A session waits for files no longer.
    EndWait {
        /// The session.
        session: SessionId,
    },
    /// The arbiter: sessions wait for each other's files, and this one gives way.
    Preempt {
        /// The session that has the files.
        session: SessionId,
        /// What another waits for: it gives up whatever is in the way of that.
        wanted: BTreeSet<ProjectPath>,
        /// Who waits for whom.
        cycle: String,
    },
    /// The arbiter: a human decides what becomes of a session that does not get on.
    AskAbout {
        /// The session.
        session: SessionId,
        /// Since when it does not get on; moot if that has changed.
        since: Moment,
    },
    /// The arbiter: a session is given up.
    LoseSession {
        /// The session.
        session: SessionId,
        /// Since when it does not get on; moot if that has changed.
        since: Moment,
        /// How that is known.
        reason: String,
        /// The session that goes on with its work.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<SessionId>,
    },
    /// A session ends in the middle of its work, and is to be resumed when its question is settled.
    Park {
        /// The question.
        question: QuestionId,
        /// How it is resumed.
        park: Box<Park>,
    },
    /// A parked session is seen to go on.
    Wake {
        /// The question that it was parked on.
        question: QuestionId,
        /// Whether somebody resumed it and waits for its end.
        resumed: bool,
    },
    /// Somebody is about to resume a parked session.
    Claim {
        /// The question that it is parked on.
        question: QuestionId,
        /// The process that does.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// An earlier claim that is known to be void, or is handed on.
        #[serde(skip_serializing_if = "Option::is_none")]
        over: Option<Claim>,
    },
    /// The program of a resumed session has ended.
    EndResume {
        /// The question that it was parked on.
        question: QuestionId,
        /// The process that claimed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
        /// How it ended; none if it was killed.
        exit_code: Option<i32>,
    },
    /// A program was told what happened on the item.
    Tell {
        /// What it calls its session.
        handle: ProgramHandle,
        /// All that happened up to this version of the item.
        upto: u64,
        /// And the answer to this question.
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<QuestionId>,
    },
    /// Querent invokes an agent.
    Turn {
        /// Its session.
        session: SessionId,
        /// How it goes on.
        deed: Box<TurnDeed>,
    },
    /// Querent invokes the agent that was asked.
    Call {
        /// The question.
        question: QuestionId,
        /// How it goes on.
        deed: CallDeed,
    },
    /// What the agent said that was invoked for an answer.
    Reply {
        /// The question.
        question: QuestionId,
        /// The round that it answers.
        round: u32,
        /// What it said.
        reply: Box<AgentReply>,
    },
    /// A message to the agents. It answers no question.
    Send {
        /// What is said.
        text: String,
        /// Whom it is for; whoever works next, if nobody is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<AgentName>,
    },
    /// Something happened that agents listen to.
    Emit {
        /// What.
        event: EventName,
        /// In detail.
        #[serde(serialize_with = "crate::canonical::value")]
        data: Value,
    },
    /// A notification of a question goes on.
    Errand {
        /// The question.
        question: QuestionId,
        /// How.
        errand: Errand,
    },
}

/// How a session is resumed that ends in the middle of its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Park {
    /// The program that it runs in.
    pub program: Program,
    /// What the program itself calls the session.
    pub handle: ProgramHandle,
    /// Where the program is started.
    pub directory: String,
    /// The call that the program makes when it is resumed; none if it ended its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// A question as it is asked, before defaults and limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// The asker's session; without one, `<agent>@<item>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Who is asked; without it, the first that the step allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Party>,
    /// Why it is asked; without it, `blocking` or `clarifying` by whether it blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What sort of decision is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// What stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// The subject.
    pub topic: String,
    /// The question itself.
    pub prompt: String,
    /// What the reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::canonical::fields")]
    pub details: Option<Map<String, Value>>,
    /// The choices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// What an answer must look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// Whether an answer may leave the options.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_free_text: bool,
    /// Whether the asker waits; without it, as its kind does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// What the asker does if nobody answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// What the asker tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<BTreeMap<String, String>>,
    /// Whether the matter is so complex that evidence includes an investigation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub complex: bool,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The last round; never above the step's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
    /// When it ends without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<Span>,
}

/// A decision as whoever took it puts it on record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assume {
    /// What was decided.
    pub decision: String,
    /// Why it is likely to be right.
    pub reasoning: String,
    /// How sure the agent is.
    pub confidence: Confidence,
    /// What it costs if it is wrong.
    pub risk_if_wrong: RiskIfWrong,
    /// Where it comes from.
    #[serde(default)]
    pub source: Source,
    /// What stood in the way of knowing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// The question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
}

words!(
    /// Why a question goes to a human.
    Cause {
        /// Somebody asked for it.
        Requested = "requested",
        /// The last round was used up.
        MaxRounds = "max_rounds",
        /// The addressee let its time pass twice.
        Sla = "sla",
        /// The thread goes in circles.
        Stuck = "stuck",
        /// Agents wait for each other.
        Deadlock = "deadlock",
        /// The addressee could not be invoked, or came to nothing.
        AgentError = "agent_error",
    }
);

impl Command {
    /// What identifies the command's content: all fields but time and the surface that carried it.
    pub fn fingerprint(&self) -> Fingerprint {
        // Most commands fit into this.
        let mut text = Vec::with_capacity(1_024);
        spelt::append(&(&self.item, &self.by, &self.action), &mut text);
        Fingerprint::of(&text)
    }
}

impl Action {
    /// Whether Querent itself may do it: deadlines, what the monitor finds, and telling agents of it.
    pub(crate) fn is_querents(&self) -> bool {
        let deadline = matches!(self, Self::Retry { .. } | Self::Remind { .. } | Self::Expire { .. });
        deadline || matches!(self, Self::Escalate { .. } | Self::Emit { .. }) || self.is_querents_alone()
    }

    /// Whether nobody else may: what the arbiter does, the invocation of agents, and the delivery of notifications.
    pub(crate) fn is_querents_alone(&self) -> bool {
        match self {
            Self::Preempt { .. }
            | Self::AskAbout { .. }
            | Self::LoseSession { .. }
            | Self::Turn { .. }
            | Self::Call { .. } => true,
            Self::Errand { errand, .. } => errand.is_querents(),
            _ => false,
        }
    }

    /// The question that the action is about, if it is about one that exists.
    pub fn question(&self) -> Option<&QuestionId> {
        match self {
            Self::FollowUp { question, .. }
            | Self::Answer { question, .. }
            | Self::AnswerRound { question, .. }
            | Self::Errand { question, .. }
            | Self::Call { question, .. }
            | Self::Reply { question, .. }
            | Self::Resolve { question, .. }
            | Self::Escalate { question, .. }
            | Self::Withdraw { question, .. }
            | Self::Retry { question }
            | Self::Remind { question }
            | Self::Expire { question }
            | Self::Park { question, .. }
            | Self::Wake { question, .. }
            | Self::Claim { question, .. }
            | Self::EndResume { question, .. } => Some(question),
            Self::OpenItem { .. }
            | Self::StartSession { .. }
            | Self::FinishSession { .. }
            | Self::Advance { .. }
            | Self::EndItem { .. }
            | Self::Ask(_)
            | Self::Assume(_)
            | Self::Review { .. }
            | Self::Lock { .. }
            | Self::Unlock { .. }
            | Self::EndWait { .. }
            | Self::Preempt { .. }
            | Self::AskAbout { .. }
            | Self::LoseSession { .. }
            | Self::Tell { .. }
            | Self::Turn { .. }
            | Self::Send { .. }
            | Self::Emit { .. } => None,
        }
    }
}
