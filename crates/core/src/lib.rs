//! Querent's pure core: what may be asked, who answers, what pauses and what resumes.
//!
//! Everything here is deterministic. Time, ids and randomness are arguments; nothing reads a clock, a file or the
//! environment (this crate's `clippy.toml` bans them). Four functions are the whole machine:
//!
//! - [`decide`] judges a [`Command`] against a [`State`]: events, or a [`Refusal`].
//! - [`evolve`] folds a [`Record`] into a [`State`]; it never fails.
//! - [`due`] turns deadlines that have passed into commands; no daemon is needed.
//! - [`outstanding`] says what the world still owes an item.
//!
//! [`apply`] strings them together for one command, and is all that a hub calls.

pub mod answer;
mod apply;
mod command;
mod decide;
mod due;
mod effect;
pub mod event;
mod evolve;
mod id;
mod item;
mod moment;
pub mod nearest;
mod party;
mod policy;
mod question;
mod refusal;
pub mod reply;
mod session;
mod state;
pub mod view;
pub mod wire;
mod workflow;

pub use answer::{Answer, Expected, Provenance};
pub use apply::{Applied, Batch, Operation, apply, needs, needs_of_tick, tick};
pub use command::{Action, Ask, Cause, Command};
pub use decide::decide;
pub use due::due;
pub use effect::{Effect, EffectKind, outstanding};
pub use event::{Event, Record};
pub use evolve::{evolve, evolve_item, evolve_question, fold};
pub use id::{AgentName, ItemId, OperationId, QuestionId, SessionId};
pub use item::{Item, OpenQuestion, Outcome, Stage};
pub use moment::{Moment, Span};
pub use party::{Party, Via};
pub use policy::{Agent, Autonomy, Config, Gate, Guarded, HumanInput, OnTimeout, ProjectConfig, Rules};
pub use question::{Asker, Blocker, Category, Choice, Entry, EntryKind, Fallback, Kind, Question, Risk, Status};
pub use refusal::{Code, Refusal};
pub use reply::Envelope;
pub use session::{Session, SessionStatus};
pub use state::State;
pub use workflow::{Step, Workflow};
