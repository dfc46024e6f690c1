//! Whose files are whose: the shared stream `resources`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::event::{Event, Record};
use crate::id::{AgentName, ItemId, SessionId};
use crate::moment::Moment;
use crate::path::ProjectPath;
use crate::question::words;
use crate::table::Table;

/// Locks, waits for them, and owners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Who holds what. One that has expired stays until somebody takes its place.
    pub locks: BTreeMap<ProjectPath, Lock>,
    /// Who waits for what. One whose session is gone stays until the session is heard of again.
    pub waits: BTreeMap<SessionId, Wait>,
    /// Whose what is, whoever works on it now.
    pub owners: BTreeMap<ProjectPath, AgentName>,
    /// How many events made it.
    pub version: u64,
}

/// A file, a directory or a glob in the hands of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lock {
    /// The session that holds it.
    pub session: SessionId,
    /// The agent in it.
    pub agent: AgentName,
    /// The item that the session works on.
    pub item: ItemId,
    /// Since when.
    pub since: Moment,
    /// Until when, if it is not renewed.
    pub expires_at: Moment,
}

/// A session that waits for files, all of them at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The files.
    pub paths: BTreeSet<ProjectPath>,
    /// The agent in it.
    pub agent: AgentName,
    /// The item that the session works on.
    pub item: ItemId,
    /// Since when.
    pub since: Moment,
}

words!(
    /// Why a lock is over.
    Release {
        /// Its session gave it back.
        Unlocked = "unlocked",
        /// Its session has finished.
        Finished = "finished",
        /// Its session is gone.
        Lost = "lost",
        /// Its item has ended.
        Ended = "ended",
        /// Another session comes first.
        Preempted = "preempted",
    }
);

impl Resources {
    /// The locks of other sessions that stand in the way of this one at a path.
    pub fn in_the_way<'a>(
        &'a self,
        path: &'a ProjectPath,
        session: &'a SessionId,
        at: Moment,
    ) -> impl Iterator<Item = (&'a ProjectPath, &'a Lock)> {
        let others = self.locks.iter().filter(move |(_, lock)| lock.session != *session && lock.expires_at > at);
        others.filter(move |(held, _)| held.overlaps(path))
    }

    /// The owner of a path: that of the longest path that covers some of it.
    pub fn owner(&self, path: &ProjectPath) -> Option<&AgentName> {
        let owned = self.owners.iter().filter(|(owned, _)| owned.overlaps(path));
        owned.max_by_key(|(owned, _)| owned.as_str().len()).map(|(_, agent)| agent)
    }

    /// What a session holds on an item; without a session, what all of them hold.
    pub(crate) fn held(&self, item: &ItemId, session: Option<&SessionId>) -> BTreeSet<ProjectPath> {
        let own = |lock: &Lock| lock.item == *item && session.is_none_or(|session| lock.session == *session);
        self.locks.iter().filter(|(_, lock)| own(lock)).map(|(path, _)| path.clone()).collect()
    }

    pub(crate) fn evolve(&mut self, record: &Record) {
        match &record.event {
            Event::LockGranted(it) => {
                self.waits.remove(&it.session);
                for path in &it.paths {
                    let lock = Lock {
                        session: it.session.clone(),
                        agent: it.agent.clone(),
                        item: it.item.clone(),
                        since: record.at,
                        expires_at: it.expires_at,
                    };
                    let since = self.locks.get(path).filter(|old| old.session == it.session).map(|old| old.since);
                    self.locks.insert(path.clone(), Lock { since: since.unwrap_or(record.at), ..lock });
                }
            }
            Event::LockReleased(it) => {
                for path in &it.paths {
                    self.locks.remove(path);
                }
                if !matches!(it.reason, Release::Unlocked | Release::Preempted) {
                    self.waits.remove(&it.session);
                }
            }
            Event::LockExpired(it) => {
                for path in &it.paths {
                    self.locks.remove(path);
                }
            }
            Event::LockWaited(it) => {
                let (paths, agent, item) = (it.paths.clone(), it.agent.clone(), it.item.clone());
                self.waits.insert(it.session.clone(), Wait { paths, agent, item, since: record.at });
            }
            Event::LockWaitEnded(it) => {
                self.waits.remove(&it.session);
            }
            Event::FileOwned(it) => match &it.agent {
                Some(agent) => {
                    self.owners.insert(it.path.clone(), agent.clone());
                }
                None => {
                    self.owners.remove(&it.path);
                }
            },
            _ => {}
        }
    }
}

/// Locks by where they are, so that those at a path are found without looking at all of them.
pub(crate) struct Index<'a> {
    /// Those that have not expired, by path: what is below a directory stands together.
    locks: Vec<(&'a ProjectPath, &'a Lock)>,
    /// The first place of those about a directory or file.
    at: Table<&'a str, usize>,
    /// The next place of one about the same.
    next: Vec<Option<usize>>,
    /// The directories that have something below them.
    above: Table<&'a str, ()>,
}

impl<'a> Index<'a> {
    /// Of the locks that have not expired.
    pub(crate) fn of(resources: &'a Resources, now: Moment) -> Self {
        let locks: Vec<_> = resources.locks.iter().filter(|(_, lock)| lock.expires_at > now).collect();
        let (mut at, mut above) = (Table::default(), Table::default());
        let mut next = vec![None; locks.len()];
        at.reserve(locks.len());
        let mut last = None;
        for (place, (path, _)) in locks.iter().enumerate().rev() {
            let stem = path.stem();
            next[place] = at.insert(stem, place);
            // Those of one directory come one after the other.
            let parent = stem.rsplit_once('/').map_or("", |(parent, _)| parent);
            if last != Some(parent) && !stem.is_empty() {
                above.extend(directories(stem).map(|dir| (dir, ())));
                last = Some(parent);
            }
        }
        Self { locks, at, next, above }
    }

    /// The locks that overlap a path.
    pub(crate) fn overlapping(&self, path: &ProjectPath) -> impl Iterator<Item = (&'a ProjectPath, &'a Lock)> {
        let stem = path.stem();
        let firsts = directories(stem).chain([stem]).filter_map(|stem| self.at.get(stem).copied());
        let higher = firsts.flat_map(|first| std::iter::successors(Some(first), |place| self.next[*place]));
        let higher = higher.map(|place| self.locks[place]);
        let lower = self.above.contains_key(stem).then(|| self.below(stem)).into_iter().flatten();
        let near = higher.chain(lower.copied());
        near.filter(|(held, _)| held.overlaps(path)).collect::<Vec<_>>().into_iter()
    }

    /// The locks about something that is in a directory.
    fn below(&self, dir: &str) -> impl Iterator<Item = &(&'a ProjectPath, &'a Lock)> {
        let is_in =
            move |path: &str| dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        let from = self.locks.partition_point(|(path, _)| path.as_str() < dir);
        // A name may come between a directory and what is in it: `src`, `src-old`, `src/auth.rs`.
        let near = self.locks[from..].iter().take_while(move |(path, _)| path.as_str().starts_with(dir));
        near.filter(move |(path, _)| is_in(path.as_str()) && path.stem().len() > dir.len())
    }
}

/// The directories above a place, from the root on.
fn directories(stem: &str) -> impl Iterator<Item = &str> {
    let root = (!stem.is_empty()).then_some("");
    root.into_iter().chain(stem.match_indices('/').map(|(end, _)| &stem[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_finds_what_a_look_at_every_lock_finds() {
        let at = Moment::from_millis(0);
        let paths = [".", "src", "src/a.rs", "src/*.rs", "src/auth", "src/auth/**/mod.rs", "srcs", "**/x", "docs/a"];
        let lock = Lock {
            session: "s".parse().unwrap(),
            agent: "engineer".parse().unwrap(),
            item: "42".parse().unwrap(),
            since: at,
            expires_at: at.plus(crate::Span::seconds(1)),
        };
        let locks = paths.iter().map(|path| (path.parse().unwrap(), lock.clone())).collect();
        let resources = Resources { locks, ..Resources::default() };
        let index = Index::of(&resources, at);
        let other = "t".parse().unwrap();

        for path in paths.iter().chain(&["src/auth/x/mod.rs", "src/b.ts", "x", "docs", "nowhere"]) {
            let path: ProjectPath = path.parse().unwrap();
            let found: BTreeSet<&str> = index.overlapping(&path).map(|(path, _)| path.as_str()).collect();
            let all: BTreeSet<&str> = resources.in_the_way(&path, &other, at).map(|(path, _)| path.as_str()).collect();

            assert_eq!(found, all, "{path}");
        }
    }
}
