//! Signs of life. They are no events: nothing is recorded of them, and none need survive a crash.

use querent_core::{ComponentName, Moment};
use serde::{Deserialize, Serialize};

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// What sort of thing is alive.
    pub pulse: Pulse,
    /// Its name.
    pub name: ComponentName,
    /// When it was.
    pub at: Moment,
}

/// What sort of thing shows that it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pulse {
    /// A part of the system that is no session.
    Component,
    /// A session.
    Session,
    /// A session that waits for files.
    Wait,
}

impl Pulse {
    /// Every sort.
    pub const ALL: [Self; 3] = [Self::Component, Self::Session, Self::Wait];

    /// The directory of its beats.
    pub(crate) const fn dir(self) -> &'static str {
        match self {
            Self::Component => "components",
            Self::Session => "sessions",
            Self::Wait => "waits",
        }
    }
}

/// A beat as it is stored: of the same length each time, so that a new one is written over the old one.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) at: Moment,
    pub(crate) name: ComponentName,
}
