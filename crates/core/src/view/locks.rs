//! Who holds which files, and who waits for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, ItemId, SessionId};
use crate::moment::Moment;
use crate::monitor::WAIT_LASTS;
use crate::path::ProjectPath;
use crate::resources::Resources;

/// All that is held and owned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocksView {
    /// What is held now, by path.
    pub locks: Vec<LockView>,
    /// What has an owner, by path.
    pub owners: Vec<OwnerView>,
}

/// A file, a directory or a glob that a session holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockView {
    /// The path.
    pub path: ProjectPath,
    /// The session that holds it.
    pub session: SessionId,
    /// The agent in it.
    pub agent: AgentName,
    /// The item that it works on.
    pub item: ItemId,
    /// Since when.
    pub since: Moment,
    /// Until when, if it is not renewed.
    pub expires_at: Moment,
    /// Who waits for it, or for something in it; the longest first.
    pub waiting: Vec<SessionId>,
}

/// A file, a directory or a glob that is one agent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerView {
    /// The path.
    pub path: ProjectPath,
    /// The agent.
    pub agent: AgentName,
}

/// What is held and owned at a time. `waits` says when those who wait last said so.
pub fn locks(resources: &Resources, waits: &BTreeMap<SessionId, Moment>, at: Moment) -> LocksView {
    let live = |session: &SessionId| waits.get(session).is_some_and(|said| at.since(*said) <= WAIT_LASTS);
    let mut waiting: Vec<_> = resources.waits.iter().filter(|(session, _)| live(session)).collect();
    waiting.sort_by_key(|(_, wait)| wait.since);
    let held = resources.locks.iter().filter(|(_, lock)| lock.expires_at > at);
    let locks = held.map(|(path, lock)| {
        let in_line = waiting.iter().filter(|(session, wait)| {
            **session != lock.session && wait.paths.iter().any(|wanted| wanted.overlaps(path))
        });
        LockView {
            path: path.clone(),
            session: lock.session.clone(),
            agent: lock.agent.clone(),
            item: lock.item.clone(),
            since: lock.since,
            expires_at: lock.expires_at,
            waiting: in_line.map(|(session, _)| (*session).clone()).collect(),
        }
    });
    let owners = resources.owners.iter().map(|(path, agent)| OwnerView { path: path.clone(), agent: agent.clone() });
    LocksView { locks: locks.collect(), owners: owners.collect() }
}
