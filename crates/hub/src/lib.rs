//! The hub: the only place where Querent's pure core meets the world.
//!
//! A surface holds a [`Handle`] and nothing else. The handle reads the clock and the project's files, runs what is due, hands
//! commands through the journal, answers queries with the core's views, and waits without polling.

mod access;
mod clock;
mod config;
mod digest;
mod doctor;
mod follow;
mod gather;
mod guide_file;
mod handle;
mod inbox;
mod jobs;
mod listing;
mod locks;
mod monitor;
mod notify;
mod parking;
mod paths;
mod processes;
mod project;
mod rules;
mod secrets;
mod team;
mod timers;
mod triggers;
mod wait;

pub use access::Roster;
pub use clock::{Clock, ManualClock, SystemClock};
pub use doctor::{Finding, Report, doctor};
pub use follow::{Follower, News};
pub use guide_file::GuideFile;
pub use handle::Handle;
pub use inbox::{Inbox, InboxEntry};
pub use listing::QuestionPage;
pub use locks::Wanted;
pub use notify::{Deliveries, Link, Links, Tested};
pub use parking::{Resumption, Untold};
pub use processes::process;
pub use project::Project;
pub use secrets::Key;
pub use team::{Team, TeamEnd, TeamOptions};
pub use triggers::{Fired, Happening, Installed, Shipped, Skipped, TriggerView, Triggers};
pub use wait::{Awaited, Subscription};
