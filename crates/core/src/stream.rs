//! Whose events these are.

use std::fmt;
use std::str::FromStr;

use crate::id::{ItemId, stored_as_text};
use crate::refusal::Refusal;

/// A stream of events: an item's own, or one of the few that all items share. Written as its name; no item has the name of
/// a shared one.
///
/// A batch may hold events of several streams. It is recorded whole or not at all, so what must hold across items holds
/// without leases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// An item.
    Item(ItemId),
    /// What all items share.
    Shared(Shared),
}

/// The streams that all items share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shared {
    /// Which strict question is active: there is one at most.
    Quota,
    /// What was learned from answers.
    Knowledge,
    /// Whose files are whose: locks, waits for them, owners.
    Resources,
    /// What people should look at.
    Alerts,
    /// Who may come in over the network.
    Access,
}

impl Shared {
    /// Every one there is.
    pub const ALL: [Self; 5] = [Self::Quota, Self::Knowledge, Self::Resources, Self::Alerts, Self::Access];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Knowledge => "knowledge",
            Self::Resources => "resources",
            Self::Alerts => "alerts",
            Self::Access => "access",
        }
    }
}

impl Stream {
    /// The item whose stream it is.
    pub const fn item(&self) -> Option<&ItemId> {
        match self {
            Self::Item(id) => Some(id),
            Self::Shared(_) => None,
        }
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Item(id) => id.as_str(),
            Self::Shared(shared) => shared.as_str(),
        }
    }
}

impl PartialEq<ItemId> for Stream {
    fn eq(&self, id: &ItemId) -> bool {
        self.item() == Some(id)
    }
}

impl From<ItemId> for Stream {
    fn from(id: ItemId) -> Self {
        Self::Item(id)
    }
}

impl From<Shared> for Stream {
    fn from(shared: Shared) -> Self {
        Self::Shared(shared)
    }
}

impl FromStr for Stream {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match Shared::ALL.into_iter().find(|shared| shared.as_str() == text) {
            Some(shared) => Ok(Self::Shared(shared)),
            None => text.parse().map(Self::Item),
        }
    }
}

stored_as_text!(Stream, it => it.as_str());

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
