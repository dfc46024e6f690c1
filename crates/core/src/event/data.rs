//! What each event says.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::access::Role;
use crate::alert::Alarm;
use crate::answer::Answer;
use crate::assumption::Assumption;
use crate::command::Cause;
use crate::id::{
    AgentName, AlertId, AssumptionId, Fingerprint, ItemId, LearnedId, ProgramHandle, QuestionId, SecretHash, SessionId,
    TokenId,
};
use crate::item::{OpenQuestion, Outcome, Stage};
use crate::learned::Learned;
use crate::moment::Moment;
use crate::parked::Program;
use crate::party::{Party, Via};
use crate::path::ProjectPath;
use crate::policy::Autonomy;
use crate::question::{Asker, Question, Status, words};
use crate::resources::Release;
use crate::session::Process;

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
        /// The process that it runs in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
    }
    /// An agent has done its work.
    SessionFinished {
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
    }
    /// An agent is gone.
    SessionLost {
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
        /// How that is known.
        reason: String,
        /// The session that goes on with its work.
        moved_to: Option<SessionId>,
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
        /// Whether Querent itself asks what is to become of the session.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        about_session: bool,
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
        /// Who asks on, where that is not whoever made it happen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Party>,
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
    /// Files are in the hands of a session.
    LockGranted {
        /// The files.
        paths: BTreeSet<ProjectPath>,
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
        /// The item that it works on.
        item: ItemId,
        /// Until when, if it is not renewed.
        expires_at: Moment,
    }
    /// They are not any more.
    LockReleased {
        /// The files.
        paths: BTreeSet<ProjectPath>,
        /// The session.
        session: SessionId,
        /// Why.
        reason: Release,
        /// Who waited for whom, where that was the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycle: Option<String>,
    }
    /// They are not any more, because nobody renewed that.
    LockExpired {
        /// The files.
        paths: BTreeSet<ProjectPath>,
        /// The session.
        session: SessionId,
    }
    /// A session waits for files.
    LockWaited {
        /// The files.
        paths: BTreeSet<ProjectPath>,
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
        /// The item that it works on.
        item: ItemId,
    }
    /// It does not any more.
    LockWaitEnded {
        /// The session.
        session: SessionId,
    }
    /// Files have an owner, or have none any more.
    FileOwned {
        /// The files.
        path: ProjectPath,
        /// The owner.
        agent: Option<AgentName>,
    }
    /// People should look at something.
    AlertRaised {
        /// Its id.
        alert: AlertId,
        /// What is wrong.
        #[serde(flatten)]
        alarm: Alarm,
    }
    /// Somebody has.
    AlertAcknowledged {
        /// The alert.
        alert: AlertId,
        /// Through which surface.
        via: Via,
    }
    /// Somebody is let in.
    TokenCreated {
        /// The token.
        token: TokenId,
        /// Whose it is.
        name: Option<String>,
        /// What its bearer may do.
        role: Role,
        /// What the secret is known by.
        hash: SecretHash,
        /// Until when it is good.
        expires_at: Option<Moment>,
    }
    /// Somebody is let in no more.
    TokenRevoked {
        /// The token.
        token: TokenId,
    }
    /// A way in was given out that can be used once.
    LoginOffered {
        /// Whose.
        token: TokenId,
        /// What its code is known by.
        hash: SecretHash,
        /// Until when it may be used.
        expires_at: Moment,
    }
    /// It was used.
    LoginUsed {
        /// Whose it was.
        token: TokenId,
    }
    /// A session waits outside of any process.
    SessionParked {
        /// The question that it waits for.
        question: QuestionId,
        /// The session.
        session: SessionId,
        /// The agent in it.
        agent: AgentName,
        /// The program that it runs in.
        program: Program,
        /// What the program itself calls the session.
        handle: ProgramHandle,
        /// Where the program is started.
        directory: String,
        /// The call that the program makes when it is resumed; none if it ended its turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
    }
    /// It goes on.
    SessionWoken {
        /// The question that it waited for.
        question: QuestionId,
        /// The session.
        session: SessionId,
        /// Whether somebody resumed it and waits for its end.
        kept: bool,
    }
    /// Somebody resumes it.
    SessionClaimed {
        /// The question that it waits for.
        question: QuestionId,
        /// The process that does.
        process: Option<Process>,
    }
    /// Its program has ended.
    SessionResumed {
        /// The question that it waited for.
        question: QuestionId,
        /// The session.
        session: SessionId,
        /// How the program ended; none if it was killed.
        exit_code: Option<i32>,
        /// Whether it could not go on, and is still parked.
        parked: bool,
    }
    /// A program was told what happened.
    SessionTold {
        /// What it calls its session.
        handle: ProgramHandle,
        /// All that happened up to this version of the item.
        upto: u64,
        /// And the answer to this question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<QuestionId>,
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
