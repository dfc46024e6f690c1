//! Querent's pure core: what may be asked, who answers, what pauses and what resumes.
//!
//! Everything here is deterministic. Time, ids and randomness are arguments; nothing reads a clock, a file or the
//! environment (this crate's `clippy.toml` bans them). Four functions are the whole machine:
//!
//! - [`decide()`] judges a [`Command`] against a [`State`]: events, or a [`Refusal`].
//! - [`evolve()`] folds a [`Record`] into a [`State`]; it never fails.
//! - [`due()`] turns deadlines that have passed into commands; no daemon is needed.
//! - [`outstanding()`] says what the world still owes an item.
//!
//! [`apply()`] strings them together for one command, and is all that a hub calls.
//!
//! # An example
//!
//! The engineer of item `42` asks a human, and waits:
//!
//! ```
//! use querent_core::{Action, Ask, Command, Moment, Party, Record, Rules, Stage, State, Via, decide, evolve};
//! use serde_json::{from_value, json};
//!
//! // The project's files, and the time: both are facts that are handed in.
//! let rules = Rules {
//!     config: from_value(json!({ "project": { "name": "shop" }, "agents": { "engineer": {} } }))?,
//!     workflows: [("feature".to_owned(), from_value(json!({
//!         "name": "feature",
//!         "steps": [{ "name": "implement", "agent": "engineer" }],
//!     }))?)].into(),
//! };
//! let at: Moment = "2026-01-31T10:02:00Z".parse()?;
//!
//! let open = Action::OpenItem { title: "Log in with a bank account".into(), workflow: None, autonomy: None };
//! let ask = Action::Ask(Box::new(Ask { topic: "Banks".into(), prompt: "Which bank?".into(), ..Ask::default() }));
//! let mut state = State::default();
//! for (by, action) in [("human", open), ("engineer", ask)] {
//!     let by: Party = by.parse()?;
//!     let command = Command { item: "42".parse()?, by: by.clone(), via: Via::Library, action };
//!     for event in decide(&state, &command, &rules, at)? {
//!         let stream = event.shared().map_or_else(|| command.item.clone().into(), Into::into);
//!         let version = state.version(&stream) + 1;
//!         evolve(&mut state, &Record { seq: version, stream, version, at, by: by.clone(), operation_id: None, event });
//!     }
//! }
//!
//! let item = state.item.expect("it was opened");
//! assert_eq!(item.stage, Stage::AwaitingInput);
//! assert_eq!(item.resume_stage, Some(Stage::Step("implement".into())));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod advice;
mod alert;
pub mod answer;
mod apply;
pub mod arbiter;
mod assumption;
mod briefing;
pub mod canonical;
mod channel;
mod command;
mod context;
mod contract;
mod decide;
mod delivery;
mod due;
mod effect;
mod eight;
pub mod event;
mod evolve;
mod guide;
mod id;
mod item;
mod learned;
mod moment;
pub mod monitor;
pub mod nearest;
mod news;
mod parked;
mod party;
mod path;
mod pattern;
mod policy;
mod provider;
mod question;
mod quota;
mod refusal;
pub mod reply;
mod resources;
mod session;
mod settled;
mod spelt;
mod state;
mod stream;
mod table;
mod team;
pub mod view;
pub mod wire;
mod workflow;

pub use access::{Access, LoginLink, Role, Token};
pub use advice::{advice, advice_on_follow_up};
pub use alert::{Alarm, Alert, Alerts};
pub use answer::{Answer, Expected, LearnedFrom, Provenance};
pub use apply::{
    Applied, Batch, Needs, Operation, Ticket, act, apply, apply_shared, needs, needs_of_tick, tick, try_act,
};
pub use assumption::{
    Assumption, AssumptionFilter, AssumptionStatus, Confidence, Reviewed, RiskIfWrong, Source, Verdict,
};
pub use briefing::{ARTIFACTS, Briefing, question_briefing};
pub use channel::{Channel, ChannelKind, QuietHours, Serve};
pub use command::{Action, Ask, Assume, Cause, Command, Park, SharedAction, SharedCommand};
pub use context::{Answered, Context, news};
pub use contract::{AgentReply, Lack, lack};
pub use decide::decide;
pub use delivery::{Delivery, DeliveryStatus, EffectClaim, Errand, Occasion, effect_id, owed};
pub use due::due;
pub use effect::{Effect, EffectKind, outstanding};
pub use event::{Event, Record};
pub use evolve::{change_item, change_question, evolve, evolve_item, evolve_question, fold};
pub use guide::{AgentGuide, Guide, HumanGuide, StepGuide, guide};
pub use id::{
    AgentName, AlertId, AssumptionId, ChannelName, ComponentName, EventName, Fingerprint, ItemId, LearnedId,
    OperationId, ProgramHandle, QuestionId, SecretHash, SessionId, TokenId,
};
pub use item::{Item, OpenQuestion, Outcome, Stage};
pub use learned::{Knowledge, Learned, LearnedStatus, Lesson, Meaning, Noted, Why};
pub use moment::{Moment, Span};
pub use news::{Board, News};
pub use parked::{Claim, Parked, Program};
pub use party::{Party, Via};
pub use path::ProjectPath;
pub use pattern::{Pattern, SAME, is_repeat, similarity};
#[cfg(feature = "fault-injection")]
pub use policy::Faults;
pub use policy::{Agent, Autonomy, Config, Gate, Guarded, HumanInput, OnTimeout, Patience, ProjectConfig, Rules, Run};
pub use provider::{Profile, ProviderConfig, ProviderKind};
pub use question::{Asker, Blocker, Category, Choice, Entry, EntryKind, Fallback, Kind, Question, Risk, Status};
pub use quota::Quota;
pub use refusal::{Code, Refusal};
pub use reply::Envelope;
pub use resources::{Lock, Release, Resources, Wait};
pub use session::{Process, Session, SessionStatus};
pub use settled::{Settled, Settlements};
pub use state::State;
pub use stream::{Shared, Stream};
pub use team::{Call, CallDeed, Happening, Message, Purpose, Team, TurnDeed, Turns, Work, work};
pub use workflow::{Step, Workflow};
