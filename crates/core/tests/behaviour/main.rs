//! The behaviour that callers rely on, told as given / when / then. Time is an argument here as everywhere in the core.
//!
//! A test reads like this, and its name is the behaviour that it protects:
//!
//! ```text
//! given()
//!     .item("42")
//!     .and(human().moves_to("implement"))
//!     .when(engineer().asks("human", "Which bank?"))
//!     .then_events(["question_asked", "item_paused"])
//!     .then_stage("awaiting_input");
//! ```
//!
//! `scenario` is the stage on which a test plays, `speech` the words that its people and agents use, and `team` those that
//! Querent invokes agents with.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod access;
mod answering;
mod asking;
mod assuming;
mod autonomy;
mod bounds;
mod calls;
mod clarifying;
mod deadlock;
mod digest;
mod emitting;
mod expiry;
mod guide;
mod health;
mod item_life;
mod known;
mod late_answers;
mod locking;
mod messages;
mod notifying;
mod operations;
mod parking;
mod pausing;
#[path = "../support/project.rs"]
mod project;
mod replies;
mod rounds;
mod scenario;
mod settling;
mod sla;
mod speech;
mod strict;
mod stuck;
mod team;
mod turn_ends;
mod turns;
mod views;
